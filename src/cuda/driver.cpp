// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.hpp"

#include <weft/error.hpp>

namespace weft::cuda {
namespace {

template <class Function>
void find(Function& to, const char* name, const char* function) {
    constexpr unsigned kVersion = 12000;
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
    check(cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &status), function,
          "cudaGetDriverEntryPointByVersion");
    if (status != cudaDriverEntryPointSuccess || found == nullptr)
        throw Error(Errc::unsupported, std::string(function) + ": the NVIDIA driver has no " + name);
    to = reinterpret_cast<Function>(found);
}

Driver load(const char* function) {
    require_device(function);
    Driver d;
    find(d.primary_retain, "cuDevicePrimaryCtxRetain", function);
    find(d.primary_release, "cuDevicePrimaryCtxRelease", function);
    find(d.push, "cuCtxPushCurrent", function);
    find(d.pop, "cuCtxPopCurrent", function);
    find(d.error_string, "cuGetErrorString", function);
    find(d.pointer_attribute, "cuPointerGetAttribute", function);
    find(d.address_range, "cuMemGetAddressRange", function);
    find(d.retain_handle, "cuMemRetainAllocationHandle", function);
    find(d.handle_properties, "cuMemGetAllocationPropertiesFromHandle", function);
    find(d.export_handle, "cuMemExportToShareableHandle", function);
    find(d.release_handle, "cuMemRelease", function);
    return d;
}

}  // namespace

const Driver& Driver::get(const char* function) {
    static const Driver driver = load(function);  // after an error the next call tries again
    return driver;
}

void check(CUresult result, const char* function, const char* call) {
    if (result == CUDA_SUCCESS) return;
    const char* text = nullptr;
    const Driver& driver = Driver::get(function);
    if (driver.error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
    const Errc code = result == CUDA_ERROR_OUT_OF_MEMORY ? Errc::out_of_memory : Errc::driver;
    throw Error(code,
                std::string(function) + ": " + call + " failed (got " +
                    std::to_string(static_cast<int>(result)) + ": " + text + ")",
                static_cast<int>(result));
}

CurrentContext::CurrentContext(CUcontext context, const char* function) {
    check(Driver::get(function).push(context), function, "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
    CUcontext ours = nullptr;
    (void)Driver::get("cuda").pop(&ours);  // the constructor has found the driver
}

}  // namespace weft::cuda
