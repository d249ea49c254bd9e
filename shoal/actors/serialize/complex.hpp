// SPDX-License-Identifier: Apache-2.0
// std::complex is plain: the real part, then the imaginary one.
#pragma once

#include <shoal/actors/serialize/plain.hpp>

#include <complex>

namespace shoal::actors {

template <class T>
inline constexpr bool is_plain_bytes<std::complex<T>> = std::is_floating_point_v<T>;

}  // namespace shoal::actors
