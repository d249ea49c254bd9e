// SPDX-License-Identifier: Apache-2.0
// The problem: a type that cannot travel should be refused where it is named, in a sentence.
// Offered: the concept `Serializable`. A type is Serializable if it is plain (plain.hpp), if a
// codec for it is included, or if it has a `serialize` that serves all archives:
//
//   void serialize(auto& ar) { ar(a, b, c); }                                  // public member
//   template <class Archive> void serialize(Archive& ar) { ar(a, b, c); }      // as for cereal
//   template <class Archive> void serialize(Archive& ar, Point& p) { ar(p.x, p.y); }   // beside it
//
// It must return void (a deduced type would be compiled while the concept is still being decided)
// and be able to fill a default-constructed object. Sizing and writing call it on a const object
// through a const_cast, so it may change the object only where `Ar::kReads`.
//
// Asking whether a type is Serializable sizes it: include sizer.hpp, which includes this.
#pragma once

#include <shoal/actors/serialize/plain.hpp>

#include <span>
#include <string_view>

namespace shoal::actors {

class Sizer;
class Writer;
class Reader;

// Pointers, references and views refer to memory that the receiver does not have. Send a value: a
// std::string for a string_view, a std::vector for a span, a std::unique_ptr<T> for a T*.
template <class T>
inline constexpr bool refers_to_other_memory =
    std::is_reference_v<T> || std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
    std::is_null_pointer_v<T> || std::is_function_v<T>;
template <class Char, class Traits>
inline constexpr bool refers_to_other_memory<std::basic_string_view<Char, Traits>> = true;
template <class T, std::size_t N>
inline constexpr bool refers_to_other_memory<std::span<T, N>> = true;

// Constants and functions rather than concepts of their own: the compiler's message is shorter.
template <class T>
inline constexpr bool owns_its_data = !refers_to_other_memory<T>;

template <class T>
concept has_a_serialize_member = requires(T& value, Sizer& sizer, Writer& writer, Reader& reader) {
  { value.serialize(sizer) } -> std::same_as<void>;
  { value.serialize(writer) } -> std::same_as<void>;
  { value.serialize(reader) } -> std::same_as<void>;
};

namespace adl {
void serialize() = delete;  // hides functions of that name in the namespaces around

template <class T>
concept has_a_free_serialize = requires(T& value, Sizer& sizer, Writer& writer, Reader& reader) {
  { serialize(sizer, value) } -> std::same_as<void>;
  { serialize(writer, value) } -> std::same_as<void>;
  { serialize(reader, value) } -> std::same_as<void>;
};

template <class Ar, class T>
void call_serialize(Ar& ar, T& value) {
  serialize(ar, value);
}
}  // namespace adl

// A std type without a codec: include its header, <shoal/actors/serialize/map.hpp> (map, set and
// their kin), unordered.hpp, sequence.hpp (deque, list), memory.hpp (unique_ptr, shared_ptr),
// variant.hpp, chrono.hpp, complex.hpp, bitset.hpp, path.hpp, or std.hpp for all of them. A
// container is Serializable if its elements are; a unique_ptr or shared_ptr if it does not point to
// a base class.
template <class T>
concept has_a_codec = bool(Codec<T>::kSupported);

// Has the compiler look into `serialize` where its class is first asked about, so that it complains
// of a field that cannot travel near the line that the user wrote, not from the depths of a send.
template <class T>
void name_fields(T& value, Sizer& sizer) {
  if constexpr (has_a_serialize_member<T>) {
    value.serialize(sizer);
  } else {
    adl::call_serialize(sizer, value);
  }
}
template <auto Function>
inline constexpr bool kIsCompiled = true;
template <class T>
inline constexpr bool kFieldsAreNamed = kIsCompiled<&name_fields<T>>;

template <class T>
consteval bool is_plain_or_has_serialize() {
  if constexpr (Plain<T> || std::is_same_v<T, bool> || has_a_codec<T>) {
    return true;
  } else if constexpr (has_a_serialize_member<T> || adl::has_a_free_serialize<T>) {
    return kFieldsAreNamed<T>;
  } else {
    return false;
  }
}

/// Values of T can be sized, written, and read into a new T.
template <class T>
concept Serializable = owns_its_data<T> &&
    is_plain_or_has_serialize<T>() && std::default_initializable<T>;

/// What `ar(field)` calls for a field that is neither plain nor a bool. `Ar` is any archive.
template <class Ar, class T>
void run_serialize(Ar& ar, T& value) {
  if constexpr (has_a_codec<T>) {
    Codec<T>::run(ar, value);
  } else if constexpr (has_a_serialize_member<T>) {
    value.serialize(ar);
  } else {
    adl::call_serialize(ar, value);
  }
}

}  // namespace shoal::actors
