// SPDX-License-Identifier: Apache-2.0
// The programs of an encode. Each is a look-up in the pipeline cache of its owner.
#pragma once

#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "ops/encode/encode_schedule.hpp"

namespace weft::kernels {

/// The program of a step other than pass and join. Bindings of states: values, states, status, and tasks if
/// there are any; of norm_block: values, norms; of norm_row: norms, rows, status; of scale: values, rows,
/// states. Values are bound from `before` values before the first one that the step reads.
template <class Owner>
Program encode_program(Owner& owner, const EncodePlan& plan, EncodeStep step, std::uint32_t before = 0);

/// Transforms `bits` bits of the index in place. A unit of 16 bytes is an amplitude of complex128 or two of
/// complex64.
Program wht_program(const Stream& stream, const EncodePlan& plan, std::uint32_t bits);
/// Transforms the bit of the index by which two ranges differ.
Program wht_pair_program(const Stream& stream, const EncodePlan& plan);

}  // namespace weft::kernels
