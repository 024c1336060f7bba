// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/cuda_pinned_memory.hpp"

#include <dlfcn.h>

#include <cstring>

namespace weft::core {
namespace {

// The declarations of the CUDA driver API that are used, as in its documentation, so that its header need not
// be installed.
using Result = int;
using CudaDevice = int;
using Handle = unsigned long long;
struct CudaUuid {
    unsigned char bytes[16];
};
struct Location {
    int type;
    int id;
};
struct AllocationProperties {
    int type;
    int handle_types;
    Location location;
    void* win32_metadata;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
static_assert(sizeof(AllocationProperties) == 32);

constexpr int kPinned = 1, kPosixFd = 1, kHostNuma = 3;
constexpr int kAttributeMemoryManagement = 102, kAttributePosixFd = 103, kAttributeHostNode = 134,
              kAttributeHostMemoryManagement = 141;

AllocationProperties properties(int node) {
    AllocationProperties p{};
    p.type = kPinned;
    p.handle_types = kPosixFd;
    p.location = {kHostNuma, node};
    return p;
}

}  // namespace

struct CudaHostMemory::Functions {
    void* library = nullptr;
    Result (*init)(unsigned) = nullptr;
    Result (*device_count)(int*) = nullptr;
    Result (*device_get)(CudaDevice*, int) = nullptr;
    Result (*device_uuid)(CudaUuid*, CudaDevice) = nullptr;
    Result (*device_attribute)(int*, int, CudaDevice) = nullptr;
    Result (*granularity)(std::size_t*, const AllocationProperties*, int) = nullptr;
    Result (*create)(Handle*, std::size_t, const AllocationProperties*, unsigned long long) = nullptr;
    Result (*export_handle)(void*, Handle, int, unsigned long long) = nullptr;
    Result (*release)(Handle) = nullptr;

    template <class Function>
    bool find(Function& function, const char* name, std::string& why) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (function == nullptr) why = std::string("the CUDA driver library has no ") + name;
        return function != nullptr;
    }
    bool load(std::string& why) {
        constexpr const char* file = "libcuda.so.1";
        // Never unloaded: the library keeps threads of its own.
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) {
            const char* const reason = dlerror();
            why = std::string(file) + " cannot be opened" +
                  (reason == nullptr ? "" : std::string(" (") + reason + ")");
            return false;
        }
        return find(init, "cuInit", why) && find(device_count, "cuDeviceGetCount", why) &&
               find(device_get, "cuDeviceGet", why) && find(device_uuid, "cuDeviceGetUuid_v2", why) &&
               find(device_attribute, "cuDeviceGetAttribute", why) &&
               find(granularity, "cuMemGetAllocationGranularity", why) && find(create, "cuMemCreate", why) &&
               find(export_handle, "cuMemExportToShareableHandle", why) && find(release, "cuMemRelease", why);
    }
};

CudaHostMemory::CudaHostMemory() : functions_(std::make_unique<Functions>()) {}

CudaHostMemory::~CudaHostMemory() {
    if (functions_->library != nullptr) dlclose(functions_->library);
}

std::unique_ptr<CudaHostMemory> CudaHostMemory::open(const std::array<std::uint8_t, 16>& device_uuid,
                                                     std::string& why) {
    std::unique_ptr<CudaHostMemory> memory(new CudaHostMemory);
    const Functions& cuda = *memory->functions_;
    if (!memory->functions_->load(why)) return nullptr;
    if (const Result result = cuda.init(0); result != 0) {
        why = "cuInit failed (got " + std::to_string(result) + ", need 0)";
        return nullptr;
    }
    if (!memory->find_device(device_uuid, why)) return nullptr;
    for (const auto& [attribute, name] : {std::pair{kAttributeMemoryManagement, "virtual memory management"},
                                          std::pair{kAttributePosixFd, "memory in file descriptors"},
                                          std::pair{kAttributeHostMemoryManagement, "host memory by node"}}) {
        int value = 0;
        if (cuda.device_attribute(&value, attribute, memory->device_) == 0 && value != 0) continue;
        why = std::string("the GPU's CUDA driver lacks ") + name;
        return nullptr;
    }
    if (cuda.device_attribute(&memory->node_, kAttributeHostNode, memory->device_) != 0 ||
        memory->node_ < 0) {
        why = "the CUDA driver names no host memory node near the GPU";
        return nullptr;
    }
    const AllocationProperties p = properties(memory->node_);
    std::size_t granularity = 0;
    if (cuda.granularity(&granularity, &p, 0) != 0 || granularity == 0) {
        why = "the CUDA driver grants no page-locked host memory";
        return nullptr;
    }
    memory->granularity_ = granularity;
    return memory;
}

bool CudaHostMemory::find_device(const std::array<std::uint8_t, 16>& uuid, std::string& why) {
    const Functions& cuda = *functions_;
    int count = 0;
    if (cuda.device_count(&count) != 0) count = 0;
    for (int i = 0; i < count; ++i) {
        CudaDevice device = 0;
        CudaUuid found{};
        if (cuda.device_get(&device, i) != 0 || cuda.device_uuid(&found, device) != 0) continue;
        if (std::memcmp(found.bytes, uuid.data(), uuid.size()) != 0) continue;
        device_ = device;
        return true;
    }
    why = "none of the " + std::to_string(count) + " CUDA devices has the UUID of the Vulkan device";
    return false;
}

int CudaHostMemory::allocate(std::uint64_t bytes) const {
    const AllocationProperties p = properties(node_);
    Handle handle = 0;
    if (functions_->create(&handle, bytes, &p, 0) != 0) return -1;
    int fd = -1;
    if (functions_->export_handle(&fd, handle, kPosixFd, 0) != 0) fd = -1;
    functions_->release(handle);  // the descriptor holds the memory from here on
    return fd;
}

}  // namespace weft::core
