// SPDX-License-Identifier: Apache-2.0
// The operations on lattice codes. Apart from lattice_plan.hpp, because sources of CUDA kernels need no more
// than this.
#pragma once

namespace weft::kernels {

enum class LatticeOp { encode, decode, quantize };

}  // namespace weft::kernels
