// SPDX-License-Identifier: Apache-2.0
// The programs behind an encode. Nothing is cached here: the owner's pipeline cache makes each a look-up.
#pragma once

#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "ops/encode/encode_schedule.hpp"

namespace weft::kernels {

/// The program of a step but pass and join. Bindings: values, states, status (and tasks) of states; values,
/// norms of norm_block; norms, rows, status of norm_row; values, rows, states of scale.
template <class Owner>
Program encode_program(Owner& owner, const EncodePlan& plan, EncodeStep step);

/// `bits` of the index in place; a unit of 16 bytes is an amplitude of complex128 or two of complex64.
Program wht_program(const Stream& stream, const EncodePlan& plan, std::uint32_t bits);
/// Between two ranges.
Program wht_pair_program(const Stream& stream, const EncodePlan& plan);

}  // namespace weft::kernels
