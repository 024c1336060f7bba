// SPDX-License-Identifier: Apache-2.0
#include "arrays/npy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "cli/descriptor.hpp"
#include "cli/failure.hpp"
#include "cli/file_paths.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
namespace {

std::span<const std::byte> map_file(const std::string& path) {
    const auto refuse = [&](const std::string& what) {
        return Failure(Exit::usage, path + ": cannot be read: " + what);
    };
    const Descriptor file(path);
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

[[noreturn]] void fail_at(const std::string& path, const char* what, int error) {
    throw Failure(Exit::failed, path + ": " + what + ": " + std::strerror(error));
}

struct Destination {
    std::filesystem::path target;
    bool exists = false;
    mode_t mode = 0;  ///< of a target that exists
};

// The file that a symbolic link names is replaced, not the link; devices and pipes must never be.
Destination find_destination(const std::string& path) {
    if (path.empty()) throw Failure(Exit::usage, "output: no file name (got an empty one)");
    Destination found;
    found.target = destination(path);
    if (std::error_code error; std::filesystem::is_symlink(found.target, error))
        fail_at(path, "cannot be written", ELOOP);
    struct stat status {};
    found.exists = stat(found.target.c_str(), &status) == 0;
    found.mode = status.st_mode;
    if (found.exists && S_ISDIR(status.st_mode)) fail_at(path, "cannot be written", EISDIR);
    if (found.exists && !S_ISREG(status.st_mode))
        throw Failure(Exit::failed, path + ": cannot be written: not a regular file");
    if (found.exists && access(found.target.c_str(), W_OK) != 0) fail_at(path, "cannot be written", errno);
    return found;
}

mode_t permitted_mode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

}  // namespace

NpyInput::NpyInput(std::string path, bool any_order) : path_(std::move(path)), file_(map_file(path_)) {
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

void require_output(const std::string& path) {
    const std::filesystem::path folder =
        std::filesystem::absolute(find_destination(path).target).parent_path();
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) fail_at(path, "cannot be written", errno);
    if (!S_ISDIR(status.st_mode)) fail_at(path, "cannot be written", ENOTDIR);
    if (access(folder.c_str(), W_OK | X_OK) != 0) fail_at(path, "cannot be written", errno);
}

std::uint64_t room_for(const std::string& path) {
    const std::filesystem::path folder = destination(path).parent_path();
    struct statvfs disk {};
    if (statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0)
        return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{geteuid() == 0 ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
}

NpyOutput::NpyOutput(const std::string& path, std::string_view descr, const Shape& shape,
                     std::size_t data_bytes)
    : path_(path) {
    const std::string header = npy_header(descr, shape);
    data_offset_ = header.size();
    try {
        create();
        fill(header, header.size() + data_bytes);
    } catch (...) {
        discard();
        throw;
    }
}

NpyOutput::~NpyOutput() {
    discard();
}

void NpyOutput::create() {
    const Destination found = find_destination(path_);
    target_ = found.target;
    std::string name = (target_.parent_path() / ".weft-XXXXXX").string();
    descriptor_ = make_temporary(name);
    if (descriptor_ < 0) fail("cannot be written", errno);
    temporary_ = std::move(name);
    // File systems without permissions refuse; the file is as good there.
    static_cast<void>(fchmod(descriptor_, found.exists ? found.mode & 0777 : permitted_mode()));
}

void NpyOutput::fill(const std::string& header, std::size_t bytes) {
    // Some file systems reserve by writing, and would take all that is left first.
    if (const std::uint64_t room = room_for(path_); bytes > room)
        throw Failure(Exit::failed, path_ + ": cannot be written: no room on the disk (got " +
                                        std::to_string(room) + " bytes, need " + std::to_string(bytes) + ")");
    // With its blocks reserved the mapping cannot run into a full disk later, where it would be a signal.
    if (const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); error != 0)
        fail("cannot be written", error);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) fail("cannot be written", errno);
    file_ = {static_cast<std::byte*>(memory), bytes};
    watch_mapping(Mapping::output, file_);
    std::memcpy(file_.data(), header.data(), header.size());
}

void NpyOutput::commit() {
    unwatch_mapping(file_);
    const bool unmapped = munmap(file_.data(), file_.size()) == 0;
    file_ = {};
    if (!unmapped) fail("cannot be written", errno);
    // Network file systems report what they could not store here and only here.
    if (close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written", errno);
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", errno);
    forget_temporary();
    temporary_.clear();
}

void NpyOutput::discard() noexcept {
    if (!file_.empty()) {
        unwatch_mapping(file_);
        munmap(file_.data(), file_.size());
        file_ = {};
    }
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    if (temporary_.empty()) return;
    unlink(temporary_.c_str());
    forget_temporary();
    temporary_.clear();
}

void NpyOutput::fail(const char* what, int error) {
    fail_at(path_, what, error);
}

}  // namespace weft::tool
