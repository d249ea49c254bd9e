// SPDX-License-Identifier: Apache-2.0
// Codecs for std::variant (the index of the alternative, then its value) and std::monostate
// (nothing). A variant that is valueless after an exception cannot travel: sizing it ends the job.
#pragma once

#include <shoal/actors/serialize/core.hpp>

#include <variant>

namespace shoal::actors {

template <>
struct Codec<std::monostate> {
  static constexpr bool kSupported = true;
  static constexpr std::size_t kFixedSize = 0;

  template <class Ar>
  static void run(Ar&, std::monostate&) {}
};

template <class... Ts>
struct Codec<std::variant<Ts...>> {
  static constexpr bool kSupported = kAllSerializable<Ts...>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint32_t);

  template <class Ar>
  static void run(Ar& ar, std::variant<Ts...>& value) {
    if constexpr (!Ar::kReads) {
      if (value.valueless_by_exception()) report_not_serializable_value("a valueless std::variant");
    }
    auto index = static_cast<std::uint32_t>(value.index());
    ar(index);
    if constexpr (Ar::kReads) {
      if (index >= sizeof...(Ts)) {
        ar.fail("a variant has no such alternative", index);
        index = 0;
      }
    }
    alternative(ar, value, index, std::index_sequence_for<Ts...>{});
  }

 private:
  template <class Ar, std::size_t... Is>
  static void alternative(Ar& ar, std::variant<Ts...>& value, std::size_t index,
                          std::index_sequence<Is...>) {
    const auto run_if = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (index != I) return false;
      if constexpr (Ar::kReads) {
        ar(value.template emplace<I>());
      } else {
        ar(*std::get_if<I>(&value));
      }
      return true;
    };
    (run_if(std::integral_constant<std::size_t, Is>{}) || ...);
  }
};

}  // namespace shoal::actors
