// SPDX-License-Identifier: Apache-2.0
#include "arrays/mapped_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/failure.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
namespace {

std::span<const std::byte> map_file(const Descriptor& file, const std::string& name) {
    const auto refuse = [&](const std::string& what) {
        return Failure(Exit::usage, name + ": cannot be read: " + what);
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

}  // namespace

MappedFile::MappedFile(const std::string& file, std::string name)
    : name_(std::move(name)),
      descriptor_(file),
      watch_(descriptor_.get()),
      bytes_(map_file(descriptor_, name_)) {
    watch_mapping(Mapping::input, bytes_);
}

MappedFile::~MappedFile() {
    unwatch_mapping(bytes_);
    munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::require_unchanged() const {
    if (const std::string change = watch_.change(); !change.empty())
        throw Failure(Exit::usage, name_ + ": " + change);
}

}  // namespace weft::tool
