// SPDX-License-Identifier: Apache-2.0
// The problem: a send must be checked against the member function it names, and its arguments kept
// until the function runs. Offered: what a pointer to a member function says, what each parameter
// is kept as, and the concepts whose names are the sentences that a user reads when a call does not
// fit.
#pragma once

#include <shoal/actors/serialize/sizer.hpp>
#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/task.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace shoal::actors {

using runtime::Fiber;
using runtime::Task;

template <class... Ts>
struct TypeList {
  static constexpr std::size_t kSize = sizeof...(Ts);
};

namespace detail {
template <class C, class R, class... P>
struct MethodParts {
  using Class = C;
  using Return = R;
  using Parameters = TypeList<P...>;
  static constexpr bool kIsFiber = false;
};
template <class C, class R, class... P>
struct MethodParts<C, R, Fiber&, P...> {
  using Class = C;
  using Return = R;
  using Parameters = TypeList<P...>;
  static constexpr bool kIsFiber = true;
};
template <class M>
struct Parts;
template <class C, class R, class... P>
struct Parts<R (C::*)(P...)> : MethodParts<C, R, P...> {};
template <class C, class R, class... P>
struct Parts<R (C::*)(P...) const> : MethodParts<C, R, P...> {};
template <class C, class R, class... P>
struct Parts<R (C::*)(P...) noexcept> : MethodParts<C, R, P...> {};
template <class C, class R, class... P>
struct Parts<R (C::*)(P...) const noexcept> : MethodParts<C, R, P...> {};

template <class R>
struct ResultOf {
  using Type = std::remove_cvref_t<R>;
};
template <class R>
struct ResultOf<Task<R>> {
  using Type = R;
};

template <class List>
struct StoredTuple;
template <class... P>
struct StoredTuple<TypeList<P...>> {
  using Type = std::tuple<std::remove_cvref_t<P>...>;
};
}  // namespace detail

/// The public member function that M points to, as an entry method.
template <auto M>
struct Signature : detail::Parts<decltype(M)> {
  using Base = detail::Parts<decltype(M)>;
  /// What a call's future holds.
  using Result = typename detail::ResultOf<typename Base::Return>::Type;
  /// The arguments as they are kept: a parameter `const T&` is kept as T.
  using Stored = typename detail::StoredTuple<typename Base::Parameters>::Type;
  static constexpr bool kIsTask = runtime::kIsTask<typename Base::Return>;
};

/// Whether the compiler's name of T shows an unnamed namespace. Two source files may each have such
/// a class of one name, and messages could not tell them apart.
template <class T>
consteval bool has_a_name_everywhere() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("{anonymous}") == std::string_view::npos &&
         name.find("(anonymous") == std::string_view::npos &&
         name.find("<unnamed>") == std::string_view::npos;
}

// The sentences. Each says what must hold; the first that does not is what the compiler shows.

template <auto M>
concept is_a_member_function = std::is_member_function_pointer_v<decltype(M)>;

/// Classes in unnamed namespaces cannot be actors: give the namespace a name.
template <class T>
concept is_not_in_an_unnamed_namespace = has_a_name_everywhere<T>();

template <auto M, class T>
concept is_an_entry_of =
    is_a_member_function<M> && std::is_base_of_v<typename detail::Parts<decltype(M)>::Class, T>;

namespace detail {
template <class P>
inline constexpr bool kIsValueOrConstReference =
    !std::is_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>;
template <class List>
inline constexpr bool kAllValuesOrConst = false;
template <class... P>
inline constexpr bool kAllValuesOrConst<TypeList<P...>> = (kIsValueOrConstReference<P> && ...);
template <class List>
inline constexpr bool kAllValues = false;
template <class... P>
inline constexpr bool kAllValues<TypeList<P...>> = (!std::is_reference_v<P> && ...);
}  // namespace detail

/// The caller's objects are not there when the entry runs: take T or const T&, not T&.
template <auto M>
concept takes_values_or_const_references =
    detail::kAllValuesOrConst<typename Signature<M>::Parameters>;

/// A task goes on after its message is gone: its parameters must be values.
template <auto M>
concept task_takes_its_parameters_by_value =
    !Signature<M>::kIsTask || detail::kAllValues<typename Signature<M>::Parameters>;

namespace detail {
// The first type that cannot travel, so that the compiler's message names it; int if all can.
template <class S>
struct Unfit {
  using Type = S;
};
template <class... S>
struct FirstUnfit : Unfit<int> {};
template <class S, class... More>
struct FirstUnfit<S, More...> : std::conditional_t<Serializable<S>, FirstUnfit<More...>, Unfit<S>> {
};
template <class Tuple>
struct FirstUnfitOf;
template <class... S>
struct FirstUnfitOf<std::tuple<S...>> : FirstUnfit<S...> {};
// Whether lent memory of type Lent (bulk.hpp) fits a parameter kept as S.
template <class S, class Lent>
inline constexpr bool kBorrows = false;

template <class Tuple, class... A>
inline constexpr bool kConvertible = false;
template <class... S, class... A>
requires(sizeof...(S) == sizeof...(A)) inline constexpr bool kConvertible<std::tuple<S...>, A...> =
    ((std::is_convertible_v<A, S> || kBorrows<S, std::remove_cvref_t<A>>)&&...);
}  // namespace detail

template <auto M>
concept its_parameters_are_serializable =
    Serializable<typename detail::FirstUnfitOf<typename Signature<M>::Stored>::Type>;

template <auto M, class... A>
concept right_number_of_arguments = Signature<M>::Parameters::kSize == sizeof...(A);

template <auto M, class... A>
concept arguments_match_the_entry = detail::kConvertible<typename Signature<M>::Stored, A...>;

template <auto M>
concept returns_a_result = !std::is_void_v<typename Signature<M>::Return>;

template <auto M>
concept its_result_is_serializable =
    std::is_void_v<typename Signature<M>::Result> || Serializable<typename Signature<M>::Result>;

/// M can be sent to a T with these arguments.
template <auto M, class T, class... A>
concept Sendable = is_an_entry_of<M, T> && is_not_in_an_unnamed_namespace<T> &&
    takes_values_or_const_references<M> && task_takes_its_parameters_by_value<M> &&
    right_number_of_arguments<M, A...> && arguments_match_the_entry<M, A...> &&
    its_parameters_are_serializable<M>;

/// M can be called on a T with these arguments: its result comes back in a future.
template <auto M, class T, class... A>
concept Callable = Sendable<M, T, A...> && returns_a_result<M> && its_result_is_serializable<M>;

}  // namespace shoal::actors
