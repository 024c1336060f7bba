// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/cuda_pinned_source.hpp"

#include "base/file_io.hpp"
#include "vulkan/memory/round_trip.hpp"

namespace weft::core {

void CudaHostSource::prepare() noexcept {
    try {
        memory_ = CudaHostMemory::open(device_.snapshot().uuid, why_);
        if (!memory_) return;
        MemoryBlock block = take(memory_->granularity());
        std::string wrong;
        try {
            wrong = check_round_trip(device_, block);
        } catch (const std::exception& e) {
            wrong = e.what();
        }
        give_back(block);
        if (wrong.empty())
            usable_ = true;
        else
            why_ = "a round trip of imported memory failed: " + wrong;
    } catch (const std::exception& e) {
        why_ = e.what();
    }
}

bool CudaHostSource::ready() {
    const std::lock_guard lock(mutex_);
    if (!asked_) prepare();
    asked_ = true;
    return usable_;
}

std::string CudaHostSource::why() const {
    const std::lock_guard lock(mutex_);
    return why_;
}

MemoryBlock CudaHostSource::take(std::uint64_t bytes) {
    const std::uint64_t step = memory_->granularity();
    MemoryBlock block;
    block.bytes = (bytes + step - 1) / step * step;
    const int fd = memory_->allocate(block.bytes);
    if (fd < 0)
        throw Error(Errc::out_of_memory, "MemoryPool: the CUDA driver has no more page-locked memory (need " +
                                             std::to_string(block.bytes) + " bytes)");
    FileDescriptor descriptor(fd);
    const VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr,
                                         VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, fd};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, block.bytes, type_};
    block.memory = allocate_memory(device_, info, "weft block");
    descriptor.release();  // a successful import owns it
    map(block);
    return block;
}

}  // namespace weft::core
