// SPDX-License-Identifier: Apache-2.0
// Functions of the CUDA driver library that the CUDA runtime lacks, found at run time.
#pragma once

#include <cuda.h>

#include <string>

#include "cuda/check.hpp"

namespace weft::cuda {

struct Driver {
    decltype(&::cuDevicePrimaryCtxRetain) primary_retain = nullptr;
    decltype(&::cuDevicePrimaryCtxRelease) primary_release = nullptr;
    decltype(&::cuCtxPushCurrent) push = nullptr;
    decltype(&::cuCtxPopCurrent) pop = nullptr;
    decltype(&::cuGetErrorString) error_string = nullptr;
    decltype(&::cuPointerGetAttribute) pointer_attribute = nullptr;
    decltype(&::cuMemGetAddressRange) address_range = nullptr;
    decltype(&::cuMemRetainAllocationHandle) retain_handle = nullptr;
    decltype(&::cuMemGetAllocationPropertiesFromHandle) handle_properties = nullptr;
    decltype(&::cuMemExportToShareableHandle) export_handle = nullptr;
    decltype(&::cuMemRelease) release_handle = nullptr;

    /// Errors: no_device.
    static const Driver& get(const char* function);
};

/// Throws for a failed call of the driver library. native_code() is the CUresult.
void check(CUresult result, const char* function, const char* call);

/// Makes the primary context of a device current for this thread during its lifetime. Unlike cudaSetDevice,
/// it never makes a context of the device that was current before.
class CurrentContext {
  public:
    /// Errors: driver.
    CurrentContext(CUcontext context, const char* function);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
};

}  // namespace weft::cuda
