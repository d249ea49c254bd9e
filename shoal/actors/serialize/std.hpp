// SPDX-License-Identifier: Apache-2.0
// All codecs for types of the standard library. Include single headers where compile time counts.
#pragma once

#include <shoal/actors/serialize/bitset.hpp>
#include <shoal/actors/serialize/chrono.hpp>
#include <shoal/actors/serialize/complex.hpp>
#include <shoal/actors/serialize/core.hpp>
#include <shoal/actors/serialize/map.hpp>
#include <shoal/actors/serialize/memory.hpp>
#include <shoal/actors/serialize/path.hpp>
#include <shoal/actors/serialize/sequence.hpp>
#include <shoal/actors/serialize/unordered.hpp>
#include <shoal/actors/serialize/variant.hpp>
