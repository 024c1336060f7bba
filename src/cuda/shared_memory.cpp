// SPDX-License-Identifier: Apache-2.0
// Completes weft/cuda/interop.hpp: the memory of SharedBuffer, allocated or imported.
#include <limits>
#include <optional>
#include <string>

#include "cuda/device_state.hpp"

namespace weft::cuda::detail {

/// Memory that both sides see. The view of CUDA is destroyed first, then that of weft, then the context.
class SharedMemory {
  public:
    SharedMemory(std::shared_ptr<DeviceState> state, std::shared_ptr<core::BufferObject> object)
        : state_(std::move(state)), object_(std::move(object)) {}
    ~SharedMemory() {
        if (external_ == nullptr) return;
        try {
            const CurrentContext current(state_->context(), "SharedBuffer");
            if (mapped_ != nullptr) (void)cudaFree(mapped_);
            (void)cudaDestroyExternalMemory(external_);
        } catch (...) {
            // The context is gone, and so are its mappings.
        }
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    void map(core::ExportedMemory memory, std::uint64_t bytes) {
        constexpr const char* kFunction = "SharedBuffer";
        const CurrentContext current(state_->context(), kFunction);
        cudaExternalMemoryHandleDesc description{};
        description.type = cudaExternalMemoryHandleTypeOpaqueFd;
        description.handle.fd = memory.fd.get();
        description.size = memory.bytes;
        description.flags = cudaExternalMemoryDedicated;
        check(cudaImportExternalMemory(&external_, &description), kFunction, "cudaImportExternalMemory");
        memory.fd.release();  // CUDA owns it now
        cudaExternalMemoryBufferDesc range{};
        range.size = bytes;
        check(cudaExternalMemoryGetMappedBuffer(&mapped_, external_, &range), kFunction,
              "cudaExternalMemoryGetMappedBuffer");
        pointer_ = mapped_;
    }
    void keep(void* pointer) { pointer_ = pointer; }

    void* pointer() const { return pointer_; }
    const std::shared_ptr<core::BufferObject>& object() const { return object_; }

  private:
    std::shared_ptr<DeviceState> state_;
    std::shared_ptr<core::BufferObject> object_;
    cudaExternalMemory_t external_ = nullptr;
    void* mapped_ = nullptr;   // of external_
    void* pointer_ = nullptr;  // mapped_, or memory that CUDA allocated
};

namespace {

std::uint64_t checked_bytes(std::size_t count, std::size_t element_bytes, const char* function) {
    if (count > std::numeric_limits<std::uint64_t>::max() / element_bytes / 2)
        throw Error(Errc::invalid_argument, std::string(function) + ": too many elements (got " +
                                                std::to_string(count) + " of " +
                                                std::to_string(element_bytes) + " bytes)");
    return std::uint64_t{count} * element_bytes;
}

std::string name_or(std::string_view name, const char* other) {
    return name.empty() ? other : std::string(name);
}

/// Holds the allocation that a pointer lies in.
class Allocation {
  public:
    Allocation(const Driver& driver, void* pointer) : driver_(driver) {
        found_ = driver.retain_handle(&handle_, pointer) == CUDA_SUCCESS;
    }
    ~Allocation() {
        if (found_) (void)driver_.release_handle(handle_);
    }
    Allocation(const Allocation&) = delete;
    Allocation& operator=(const Allocation&) = delete;

    /// Whether an address lies in the same allocation.
    bool holds(CUdeviceptr address) const {
        const Allocation other(driver_, reinterpret_cast<void*>(address));
        return found_ && other.found_ && other.handle_ == handle_;
    }
    bool exportable() const {
        CUmemAllocationProp properties{};
        return found_ && driver_.handle_properties(&properties, handle_) == CUDA_SUCCESS &&
               (properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
    }
    core::FileDescriptor export_fd(const char* function) const {
        int fd = -1;
        check(driver_.export_handle(&fd, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), function,
              "cuMemExportToShareableHandle");
        return core::FileDescriptor(fd);
    }

  private:
    const Driver& driver_;
    CUmemGenericAllocationHandle handle_ = 0;
    bool found_ = false;
};

struct Range {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
};

/// The mapped range that device memory of this device lies in. Errors: invalid_argument.
Range range_around(const Driver& driver, const DeviceState& state, const void* pointer, std::size_t bytes) {
    const auto refuse = [](const std::string& what) {
        throw Error(Errc::invalid_argument, "SharedBuffer: " + what);
    };
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    int ordinal = -1;
    if (pointer == nullptr ||
        driver.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) != CUDA_SUCCESS)
        refuse("no CUDA memory (got an address that CUDA does not know)");
    if (ordinal != state.info().ordinal)
        refuse("memory of another device (got CUDA device " + std::to_string(ordinal) + ", need " +
               std::to_string(state.info().ordinal) + ")");
    Range range;
    check(driver.address_range(&range.base, &range.bytes, address), "SharedBuffer", "cuMemGetAddressRange");
    if (bytes > range.bytes - (address - range.base))
        refuse("range beyond its allocation (got " + std::to_string(bytes) + " bytes, need at most " +
               std::to_string(range.bytes - (address - range.base)) + ")");
    return range;
}

}  // namespace

std::shared_ptr<SharedMemory> allocate_shared(const Device& device, std::size_t count,
                                              std::size_t element_bytes, std::string_view name) {
    const std::uint64_t bytes = checked_bytes(count, element_bytes, "SharedBuffer");
    const DeviceState& state = *weft::detail::Access::state(device);
    core::require_external(state.backend_state(), "SharedBuffer");
    auto memory = std::make_shared<SharedMemory>(
        weft::detail::Access::state(device),
        core::make_exportable_buffer(state.backend_state(), bytes, name_or(name, "shared buffer")));
    core::ExportedMemory exported = core::export_memory(*memory->object());
    const std::uint64_t mapped = bytes == 0 ? exported.bytes : bytes;
    memory->map(std::move(exported), mapped);
    return memory;
}

std::shared_ptr<SharedMemory> import_shared(const Device& device, const void* pointer, std::size_t bytes,
                                            std::string_view name) {
    constexpr const char* kFunction = "SharedBuffer";
    const DeviceState& state = *weft::detail::Access::state(device);
    core::require_external(state.backend_state(), kFunction);
    const Driver& driver = Driver::get(kFunction);
    const CurrentContext current(state.context(), kFunction);
    const Range range = range_around(driver, state, pointer, bytes);
    void* const address = const_cast<void*>(pointer);  // the API takes no pointer to const
    const Allocation allocation(driver, address);
    if (!allocation.exportable())
        throw Error(Errc::unsupported,
                    "SharedBuffer: this memory cannot be shared (need it from cuMemCreate with "
                    "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)");
    // Neighbouring allocations may lie in one reserved range.
    if (!allocation.holds(range.base) || !allocation.holds(range.base + range.bytes - 1))
        throw Error(Errc::unsupported,
                    "SharedBuffer: the range is not one allocation (need memory of one cuMemCreate)");
    core::FileDescriptor fd = allocation.export_fd(kFunction);
    auto object = core::import_buffer(
        state.backend_state(),
        {fd.get(), range.bytes, reinterpret_cast<CUdeviceptr>(pointer) - range.base, bytes},
        name_or(name, "imported buffer"));
    fd.release();
    auto memory = std::make_shared<SharedMemory>(weft::detail::Access::state(device), std::move(object));
    memory->keep(address);
    return memory;
}

std::shared_ptr<core::BufferObject> import_fd(const Device& device, int fd, std::size_t allocation_bytes,
                                              std::size_t first_byte, std::size_t count,
                                              std::size_t element_bytes, std::string_view name) {
    constexpr const char* kFunction = "cuda::import_fd";
    const core::BackendState& runtime = weft::detail::Access::state(device)->backend_state();
    core::require_external(runtime, kFunction);
    return core::import_buffer(
        runtime, {fd, allocation_bytes, first_byte, checked_bytes(count, element_bytes, kFunction)},
        name_or(name, "imported buffer"));
}

void* pointer_of(const SharedMemory& memory) noexcept {
    return memory.pointer();
}

const std::shared_ptr<core::BufferObject>& object_of(const SharedMemory& memory) noexcept {
    return memory.object();
}

}  // namespace weft::cuda::detail
