// SPDX-License-Identifier: Apache-2.0
#include "arrays/npy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/failure.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
NpyOutput::NpyOutput(const std::string& path, ElementType type, const Shape& shape) : output_(path) {
    const std::string header = npy_header(npy_descr(type), shape);
    data_offset_ = header.size();
    std::size_t bytes = type.bytes();
    for (const std::uint64_t length : shape) bytes *= length;
    bytes += header.size();
    // Some file systems reserve space by writing, and would fill the disk before they report that it is too
    // small.
    if (const std::uint64_t room = room_for(path); bytes > room)
        throw Failure(Exit::failed, path + ": cannot be written: no room on the disk (got " +
                                        std::to_string(room) + " bytes, need " + std::to_string(bytes) + ")");
    // Reserving the blocks now ensures that a full disk cannot raise a signal on a later write to the
    // mapping.
    const int file = output_.descriptor();
    if (const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes)); error != 0)
        output_.fail("cannot be written", error);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) output_.fail("cannot be written", errno);
    memory_ = {static_cast<std::byte*>(memory), bytes};
    watch_mapping(Mapping::output, memory_);
    std::memcpy(memory_.data(), header.data(), header.size());
}

NpyOutput::~NpyOutput() {
    unmap_output();
}

void NpyOutput::commit() {
    if (!unmap_output()) output_.fail("cannot be written", errno);
    output_.commit();
}

bool NpyOutput::unmap_output() noexcept {
    if (memory_.empty()) return true;
    unwatch_mapping(memory_);
    const bool unmapped = munmap(memory_.data(), memory_.size()) == 0;
    memory_ = {};
    return unmapped;
}

}  // namespace weft::tool
