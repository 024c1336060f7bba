// SPDX-License-Identifier: Apache-2.0
// Puts transforms that were checked on a CUDA stream.
#pragma once

#include <cstddef>

#include <weft/cuda/device.hpp>

#include "ops/ntt/ntt_check.hpp"

namespace weft::cuda {

void run_ntt(StreamHandle stream, const kernels::NttRequest& request, const std::byte* in, std::byte* out,
             const char* function);
void run_ntt_extend(StreamHandle stream, const kernels::NttExtension& extension, const std::byte* in,
                    std::byte* out);
void run_ntt_product(StreamHandle stream, const kernels::NttProduct& product, FieldForm form,
                     const std::byte* a, const std::byte* b, std::byte* out);

}  // namespace weft::cuda
