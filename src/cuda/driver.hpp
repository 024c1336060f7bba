// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's driver library that its runtime has no form of, found at run time.
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

/// The primary context of a device, current for this thread as long as this lives; then the caller's again.
/// Unlike cudaSetDevice it never makes a context of the device that happened to be current before.
class CurrentContext {
  public:
    /// Errors: driver.
    CurrentContext(CUcontext context, const char* function);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
};

}  // namespace weft::cuda
