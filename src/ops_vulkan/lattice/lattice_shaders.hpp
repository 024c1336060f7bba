// SPDX-License-Identifier: Apache-2.0
// The SPIR-V of the lattice kernels.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

std::span<const std::uint32_t> lattice_words(LatticeOp op, Lattice lattice, bool ragged);

}  // namespace weft::kernels
