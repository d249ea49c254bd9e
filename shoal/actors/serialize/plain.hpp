// SPDX-License-Identifier: Apache-2.0
// The problem: which objects may travel as the bytes they are made of? `is_trivially_copyable` says
// yes to a struct of pointers. So raw copying is opt-in: numbers, enums and arrays of them are
// plain, and a class says so itself, with a tag that names the class (so that a derived class,
// which may add a pointer, does not inherit the promise), or through a specialisation of
// `is_plain_bytes`:
//
//   struct Cell { double x, y; using plain_bytes = Cell; };
//   template <> inline constexpr bool shoal::actors::is_plain_bytes<other::Cell> = true;
//
// The bytes travel as they lie in memory. Padding travels too, unset: give such a class none, or
// initialise it whole. Whoever promises plain bytes also promises that any bytes are a valid value
// (a bool member makes that untrue: read it only if you trust the sender).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace shoal::actors {

/// To be specialised as true for classes that cannot carry the tag. Must be trivially copyable.
template <class T>
inline constexpr bool is_plain_bytes = false;

template <class T>
concept has_the_plain_bytes_tag = std::same_as<typename T::plain_bytes, T>;

// bool is not plain, because only two of its 256 byte values may be read.
template <class T>
inline constexpr bool is_plain =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T> ||
    ((is_plain_bytes<T> || has_the_plain_bytes_tag<T>)&&std::is_trivially_copyable_v<T>);
template <class T, std::size_t N>
inline constexpr bool is_plain<T[N]> = is_plain<T>;
template <class T, std::size_t N>
inline constexpr bool is_plain<std::array<T, N>> = is_plain<T>&& N != 0;

/// Objects that are copied as bytes, in both directions.
template <class T>
concept Plain = is_plain<std::remove_cv_t<T>>;

/// How a type that is neither plain nor has a `serialize` travels: one specialisation per library
/// type. Members of a specialisation:
///   static constexpr bool kSupported    whether the element types are Serializable
///   static constexpr std::size_t kFixedSize   (optional) the size in bytes of every value
///   static constexpr std::size_t kLeastSize   (optional) no value is smaller than so many bytes
///   template <class Ar> static void run(Ar& ar, T& value)   must not change `value` unless
///                                                           Ar::kReads
template <class T>
struct Codec {
  static constexpr bool kSupported = false;
};

inline constexpr std::size_t kVariableSize = std::numeric_limits<std::size_t>::max();

/// The bytes that every T takes inline, or kVariableSize where values differ or nobody knows.
template <class T>
constexpr std::size_t fixed_size_of() {
  if constexpr (Plain<T>) {
    return sizeof(T);
  } else if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else if constexpr (requires { Codec<T>::kFixedSize; }) {
    return Codec<T>::kFixedSize;
  } else {
    return kVariableSize;
  }
}

/// The bytes that all of Ts take together, or kVariableSize.
template <class... Ts>
inline constexpr std::size_t kFixedSize =
    ((fixed_size_of<std::remove_cv_t<Ts>>() == kVariableSize) || ...)
        ? kVariableSize
        : (std::size_t{0} + ... + fixed_size_of<std::remove_cv_t<Ts>>());

template <class... Ts>
concept has_fixed_size = kFixedSize<Ts...>
!= kVariableSize;

/// No value of T takes fewer bytes. 0 for classes with a `serialize`: nobody knows.
template <class T>
constexpr std::size_t least_size_of() {
  if constexpr (has_fixed_size<T>) {
    return kFixedSize<T>;
  } else if constexpr (requires { Codec<T>::kLeastSize; }) {
    return Codec<T>::kLeastSize;
  } else {
    return 0;
  }
}

template <class... Ts>
inline constexpr std::size_t kLeastSize = (std::size_t{0} + ... + least_size_of<Ts>());

}  // namespace shoal::actors
