// SPDX-License-Identifier: Apache-2.0
// Results of CUDA calls, and memory that is not aligned, as errors of weft.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace weft::cuda {

/// Throws unless `result` is cudaSuccess. The user called `function`, and `call` is what returned the result.
/// Errors: no_device - no driver, one too old, or no device that is free; out_of_memory; device_lost - a
/// kernel or the hardware failed, or the context is gone, so that nothing more runs on the device in this
/// process; unsupported; driver. native_code() is the cudaError_t.
void check(cudaError_t result, const char* function, const char* call);

/// The same for what a launch of a kernel returned.
void check_launch(int result, const char* function);

/// Errors: no_device. Cheap after the first success; every function that needs a device begins with it.
void require_device(const char* function);

/// Errors: invalid_argument - the address of `data` is no multiple of `need` bytes.
void check_aligned(const std::string& function, const void* data, const char* name, std::uintptr_t need = 16);

}  // namespace weft::cuda
