// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "cli/failure.hpp"
#include "cli/file_paths.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_at(const std::string& path, const char* what, int error) {
    throw Failure(Exit::failed, path + ": " + what + ": " + std::strerror(error));
}

/// The permissions of a file that open() creates; a temporary file has fewer.
mode_t permitted_mode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/// The path that the file will have and, in `status`, what exists there now; st_nlink is 0 if nothing does.
fs::path find_target(const std::string& path, struct stat& status) {
    if (path.empty()) throw Failure(Exit::usage, "output: no file name (got an empty one)");
    const fs::path target = fs::absolute(destination(path));
    std::error_code error;
    if (fs::is_symlink(target, error)) fail_at(path, "cannot be written", ELOOP);
    status = {};
    if (stat(target.c_str(), &status) != 0) {
        status = {};
    } else {
        if (S_ISDIR(status.st_mode)) fail_at(path, "cannot be written", EISDIR);
        // A device or a pipe must not be replaced by a file, because all other programs would lose it.
        if (!S_ISREG(status.st_mode))
            throw Failure(Exit::failed, path + ": cannot be written: not a regular file");
        if (access(target.c_str(), W_OK) != 0) fail_at(path, "cannot be written", errno);
    }
    struct stat folder {};
    if (stat(target.parent_path().c_str(), &folder) != 0) fail_at(path, "cannot be written", errno);
    if (!S_ISDIR(folder.st_mode)) fail_at(path, "cannot be written", ENOTDIR);
    if (access(target.parent_path().c_str(), W_OK | X_OK) != 0) fail_at(path, "cannot be written", errno);
    return target;
}

/// The name by which the kernel refers to an open file.
std::string link_of(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

void require_writable(const std::string& path) {
    struct stat status {};
    if (!path.empty()) find_target(path, status);
}

std::uint64_t room_for(const std::string& path) {
    struct statvfs disk {};
    if (statvfs(destination(path).parent_path().c_str(), &disk) != 0 || disk.f_blocks == 0)
        return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{geteuid() == 0 ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
    struct stat old {};
    target_ = find_target(path, old);
    open(target_.parent_path());
    // File systems without owners or permissions refuse, which does no harm. The owner is set first, because
    // changing it removes permissions.
    const bool exists = old.st_nlink != 0;
    if (exists) static_cast<void>(fchown(descriptor_, old.st_uid, old.st_gid) == 0);
    static_cast<void>(fchmod(descriptor_, exists ? old.st_mode & 0777 : permitted_mode()));
}

void OutputFile::open(const fs::path& folder) {
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    // Without /proc, a file without a name could not be given one later.
    if (descriptor_ >= 0 && access(link_of(descriptor_).c_str(), F_OK) == 0) return;
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    name_ = (folder / ".weft-XXXXXX").string();
    descriptor_ = make_temporary(
        name_, [](const char* name) { return ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); });
    if (descriptor_ >= 0) return;
    name_.clear();
    fail("cannot be written", errno);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (name_.empty()) return;
    unlink(name_.c_str());
    forget_temporary();
}

void OutputFile::commit() {
    if (name_.empty()) {  // rename() replaces an existing file, linkat() does not
        name_ = (target_.parent_path() / ".weft-XXXXXX").string();
        const std::string link = link_of(descriptor_);
        const int linked = make_temporary(name_, [&](const char* name) {
            return linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
        });
        if (linked < 0) {
            name_.clear();
            fail("cannot be replaced", errno);
        }
    }
    // Network file systems report failed writes only here.
    if (close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written", errno);
    if (std::rename(name_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", errno);
    forget_temporary();
    name_.clear();
}

void OutputFile::fail(const char* what, int error) const {
    fail_at(path_, what, error);
}

void write_text_file(const std::string& path, std::string_view text) {
    OutputFile file(path);
    if (const int error = write_all(file.descriptor(), text); error != 0)
        file.fail("cannot be written", error);
    file.commit();
}

}  // namespace weft::tool
