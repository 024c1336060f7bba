// SPDX-License-Identifier: Apache-2.0
// The stream of a launch. Sources of kernels include this and not the public header, which takes most of the
// time of their compilation.
#pragma once

struct CUstream_st;  // of CUDA

namespace weft::cuda {

using StreamHandle = ::CUstream_st*;  ///< as <weft/cuda/device.hpp> has it

}  // namespace weft::cuda
