// SPDX-License-Identifier: Apache-2.0
#include "arrays/npy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/failure.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
namespace {

std::span<const std::byte> map_file(const Descriptor& file, const std::string& path) {
    const auto refuse = [&](const std::string& what) {
        return Failure(Exit::usage, path + ": cannot be read: " + what);
    };
    if (file.get() < 0) throw refuse(std::strerror(errno));
    struct stat status {};
    if (fstat(file.get(), &status) != 0) throw refuse(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw refuse(std::strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) throw refuse("not a regular file (pipes and devices cannot be mapped)");
    if (status.st_size == 0) throw refuse("the file is empty");
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw refuse(std::strerror(errno));
    return {static_cast<const std::byte*>(memory), bytes};
}

void unmap(std::span<const std::byte> memory) {
    munmap(const_cast<std::byte*>(memory.data()), memory.size());
}

}  // namespace

NpyInput::NpyInput(std::string path, bool any_order)
    : path_(std::move(path)),
      descriptor_(path_),
      watch_(descriptor_.get()),
      file_(map_file(descriptor_, path_)) {
    watch_mapping(Mapping::input, file_);
    try {
        header_ = parse_npy(file_, path_, any_order);
    } catch (...) {
        unwatch_mapping(file_);
        unmap(file_);
        throw;
    }
}

NpyInput::~NpyInput() {
    unwatch_mapping(file_);
    unmap(file_);
}

void NpyInput::refuse(const std::string& what) const {
    throw Failure(Exit::usage, path_ + ": " + what);
}

void NpyInput::require_unchanged() const {
    if (const std::string change = watch_.change(); !change.empty()) refuse(change);
}

void NpyInput::require_descr(std::string_view descr) const {
    if (header_.descr != descr)
        refuse("wrong dtype (got '" + header_.descr + "', need '" + std::string(descr) + "')");
}

const void* NpyInput::aligned_data(std::size_t alignment) {
    const std::span<const std::byte> data = file_.subspan(header_.data_offset, header_.data_bytes);
    if (reinterpret_cast<std::uintptr_t>(data.data()) % alignment == 0) return data.data();
    aligned_copy_.resize((data.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    if (!data.empty()) std::memcpy(aligned_copy_.data(), data.data(), data.size());
    return aligned_copy_.data();
}

NpyOutput::NpyOutput(const std::string& path, std::string_view descr, const Shape& shape,
                     std::size_t data_bytes)
    : output_(path) {
    const std::string header = npy_header(descr, shape);
    data_offset_ = header.size();
    const std::size_t bytes = header.size() + data_bytes;
    // Some file systems reserve by writing, and would take all that is left first.
    if (const std::uint64_t room = room_for(path); bytes > room)
        throw Failure(Exit::failed, path + ": cannot be written: no room on the disk (got " +
                                        std::to_string(room) + " bytes, need " + std::to_string(bytes) + ")");
    // With its blocks reserved the mapping cannot run into a full disk later, where it would be a signal.
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
