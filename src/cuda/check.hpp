// SPDX-License-Identifier: Apache-2.0
// Results of CUDA calls as errors of weft.
#pragma once

#include <cuda_runtime_api.h>

namespace weft::cuda {

/// Throws unless `result` is cudaSuccess. `function` is the one the user called, `call` the one that failed.
/// Errors: no_device - no driver, one too old, or no device; out_of_memory; device_lost - a kernel failed and
/// the context is gone; driver. native_code() is the cudaError_t.
void check(cudaError_t result, const char* function, const char* call);

/// Errors: no_device. Cheap after the first success; for the start of every function that needs a device.
void require_device(const char* function);

}  // namespace weft::cuda
