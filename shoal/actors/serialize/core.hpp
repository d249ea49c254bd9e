// SPDX-License-Identifier: Apache-2.0
// The problem: most messages are made of numbers, strings, vectors and small tuples, and the header
// that every actor program includes must compile fast. Offered: the archives `Sizer`, `Writer` and
// `Reader`, and the codecs for std::string, vector, array, pair, tuple and optional and for C
// arrays. Other library types have headers of their own beside this one; std.hpp includes all.
#pragma once

#include <shoal/actors/serialize/reader.hpp>
#include <shoal/actors/serialize/writer.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace shoal::actors {

template <class... Ts>
inline constexpr bool kAllSerializable = (Serializable<Ts> && ...);

/// The size of `count` values of T, if every T has the same.
template <class T>
constexpr std::size_t fixed_size_of_many(std::size_t count) {
  return kFixedSize<T> == kVariableSize ? kVariableSize : count * kFixedSize<T>;
}

/// Sizes or writes a count and all elements of a container.
template <class Ar, class Container>
void write_elements(Ar& ar, const Container& container) {
  if (!ar.template begin_elements<typename Container::value_type>(container.size())) return;
  for (const auto& element : container) ar.element(element);
}

template <class Char, class Traits, class Allocator>
struct Codec<std::basic_string<Char, Traits, Allocator>> {
  static constexpr bool kSupported = Plain<Char>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::basic_string<Char, Traits, Allocator>& value) {
    if constexpr (Ar::kReads) {
      const auto run = ar.contiguous(sizeof(Char));
      if constexpr (sizeof(Char) == 1) {
        value.assign(reinterpret_cast<const Char*>(run.data), run.bytes);
      } else {
        value.resize(run.count);
        if (run.bytes != 0) std::memcpy(value.data(), run.data, run.bytes);
      }
    } else {
      ar.contiguous(value.data(), value.size());
    }
  }
};

template <class T, class Allocator>
struct Codec<std::vector<T, Allocator>> {
  static constexpr bool kSupported = Serializable<T>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::vector<T, Allocator>& value) {
    if constexpr (std::is_same_v<T, bool>) {
      bits(ar, value);
    } else if constexpr (!Ar::kReads && Plain<T>) {
      ar.contiguous(value.data(), value.size());
    } else if constexpr (!Ar::kReads) {
      write_elements(ar, value);
    } else if constexpr (Plain<T>) {
      copy(ar.contiguous(sizeof(T)), value);
    } else {
      value.clear();
      const std::size_t count = ar.template begin_elements<T>();
      value.reserve(ar.template worth_reserving<T>(count));
      for (std::size_t i = 0; i < count && !ar.failed(); ++i) ar.element(value.emplace_back());
    }
  }

 private:
  // Assigning a range spares the zeros that resize would write first, but needs aligned elements.
  static void copy(Reader::Run run, std::vector<T, Allocator>& value) {
    if (reinterpret_cast<std::uintptr_t>(run.data) % alignof(T) == 0) {
      const T* first = reinterpret_cast<const T*>(run.data);
      value.assign(first, first + run.count);
    } else {
      value.resize(run.count);
      if (run.bytes != 0) std::memcpy(value.data(), run.data, run.bytes);
    }
  }

  // Eight to a byte, the first in the lowest bit. Never bulk.
  template <class Ar>
  static void bits(Ar& ar, std::vector<bool, Allocator>& value) {
    std::uint64_t count = value.size();
    ar(count);
    if constexpr (Ar::kReads) {
      if (count / 8 + (count % 8 != 0) > ar.remaining()) {
        ar.fail("a vector<bool> is longer than the message", count);
        count = 0;
      }
      value.resize(count);
    }
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint8_t byte = 0;
      const std::size_t in_byte = count - i < 8 ? count - i : 8;
      if constexpr (!Ar::kReads) {
        for (std::size_t j = 0; j < in_byte; ++j) {
          if (value[i + j]) byte = static_cast<std::uint8_t>(byte | (1U << j));
        }
      }
      ar(byte);
      if constexpr (Ar::kReads) {
        for (std::size_t j = 0; j < in_byte; ++j) value[i + j] = ((byte >> j) & 1U) != 0;
      }
    }
  }
};

template <class T, std::size_t N>
struct Codec<T[N]> {
  static constexpr bool kSupported = Serializable<T>;
  static constexpr std::size_t kFixedSize = fixed_size_of_many<T>(N);
  static constexpr std::size_t kLeastSize = N * actors::kLeastSize<T>;

  template <class Ar>
  static void run(Ar& ar, T (&value)[N]) {
    for (T& element : value) ar(element);
  }
};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static constexpr bool kSupported = N == 0 || Serializable<T>;
  static constexpr std::size_t kFixedSize = N == 0 ? 0 : fixed_size_of_many<T>(N);
  static constexpr std::size_t kLeastSize = N * actors::kLeastSize<T>;

  template <class Ar>
  static void run(Ar& ar, std::array<T, N>& value) {
    for (T& element : value) ar(element);
  }
};

template <class First, class Second>
struct Codec<std::pair<First, Second>> {
  static constexpr bool kSupported = kAllSerializable<First, Second>;
  static constexpr std::size_t kFixedSize = actors::kFixedSize<First, Second>;
  static constexpr std::size_t kLeastSize = actors::kLeastSize<First, Second>;

  template <class Ar>
  static void run(Ar& ar, std::pair<First, Second>& value) {
    ar(value.first, value.second);
  }
};

template <class... Ts>
struct Codec<std::tuple<Ts...>> {
  static constexpr bool kSupported = kAllSerializable<Ts...>;
  static constexpr std::size_t kFixedSize = actors::kFixedSize<Ts...>;
  static constexpr std::size_t kLeastSize = actors::kLeastSize<Ts...>;

  template <class Ar>
  static void run(Ar& ar, std::tuple<Ts...>& value) {
    std::apply([&ar](auto&... elements) { ar(elements...); }, value);
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static constexpr bool kSupported = Serializable<T>;
  static constexpr std::size_t kLeastSize = 1;

  template <class Ar>
  static void run(Ar& ar, std::optional<T>& value) {
    bool present = value.has_value();
    ar(present);
    if constexpr (Ar::kReads) value.reset();
    if (!present) return;
    if constexpr (Ar::kReads) value.emplace();
    ar(*value);
  }
};

}  // namespace shoal::actors
