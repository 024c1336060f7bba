// SPDX-License-Identifier: Apache-2.0
#include "cuda/check.hpp"

#include <atomic>
#include <string>

#include <weft/error.hpp>

namespace weft::cuda {
namespace {

Errc code_of(cudaError_t result) {
    switch (result) {
        case cudaErrorInsufficientDriver:
        case cudaErrorNoDevice:
        case cudaErrorStubLibrary:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorSystemNotReady:
        case cudaErrorInvalidDevice:
        case cudaErrorDevicesUnavailable:
            return Errc::no_device;
        case cudaErrorMemoryAllocation:
            return Errc::out_of_memory;
        // After these CUDA refuses all further work of the process on the device,
        case cudaErrorContained:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorTensorMemoryLeak:
        case cudaErrorMpsClientTerminated:
        case cudaErrorExternalDevice:
        // the hardware is damaged,
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        // or the context is gone, and all memory and streams with it, as after cudaDeviceReset.
        case cudaErrorDeviceUninitialized:
        case cudaErrorContextIsDestroyed:
            return Errc::device_lost;
        case cudaErrorNotSupported:
        case cudaErrorNoKernelImageForDevice:
            return Errc::unsupported;
        default:
            return Errc::driver;
    }
}

}  // namespace

void check(cudaError_t result, const char* function, const char* call) {
    if (result == cudaSuccess) return;
    (void)cudaGetLastError();  // otherwise the next call would report this error again
    int driver = 0;
    // Without a driver the runtime reports an "insufficient" one, which would make users look for a newer
    // driver.
    const bool absent = result == cudaErrorInsufficientDriver &&
                        (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0);
    if (absent)
        throw Error(Errc::no_device,
                    std::string(function) + ": no NVIDIA driver (libcuda.so.1 cannot be opened)", result);
    throw Error(code_of(result),
                std::string(function) + ": " + call + " failed (got " + cudaGetErrorName(result) + ": " +
                    cudaGetErrorString(result) + ")",
                result);
}

void check_launch(int result, const char* function) {
    check(static_cast<cudaError_t>(result), function, "the launch");
}

void require_device(const char* function) {
    static std::atomic<bool> there{false};
    if (there.load(std::memory_order_relaxed)) return;
    int count = 0;
    check(cudaGetDeviceCount(&count), function, "cudaGetDeviceCount");
    if (count == 0)
        throw Error(Errc::no_device, std::string(function) + ": the CUDA driver reports no device");
    there.store(true, std::memory_order_relaxed);
}

void check_aligned(const std::string& function, const void* data, const char* name, std::uintptr_t need) {
    const std::uintptr_t rest = reinterpret_cast<std::uintptr_t>(data) % need;
    if (rest == 0) return;
    throw Error(Errc::invalid_argument, function + ": " + name + " is not aligned (got an address " +
                                            std::to_string(rest) + " bytes behind a multiple of " +
                                            std::to_string(need) + ", need a multiple)");
}

}  // namespace weft::cuda
