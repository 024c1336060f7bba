// SPDX-License-Identifier: Apache-2.0
// The programs behind a Gram product. Owner: Backend or const Stream.
#pragma once

#include <weft/program.hpp>

#include "ops_vulkan/gram/gram.hpp"

namespace weft::kernels {

/// Digest of all shaders that tiles are measured with.
std::uint64_t gram_programs_digest();

/// Bindings x, y, out, mirrored out, parts of sums, factors; an element is a tile, or a part of the sums of
/// one.
template <class Owner>
Program gram_tile_program(Owner& owner, const GramPlan& plan);
/// Bindings states, planes; an element is 64 rows by 16 amplitudes.
Program gram_pack_program(const Stream& stream, const GramPlan& plan);
/// Bindings parts of sums, out, mirrored out, factors; an element is a number of a tile.
template <class Owner>
Program gram_reduce_program(Owner& owner, const GramPlan& plan);

/// Errors: invalid_argument - packed rows that begin within 64, or more than the plan's; ranges that are too
/// small, factors of a scaled problem among them; a leading dimension below the columns.
void check_block(const GramPlan& plan, const GramRows& x, const GramRows& y, const GramTarget& target);

}  // namespace weft::kernels
