// SPDX-License-Identifier: Apache-2.0
#include "cli/file_paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

void require_different(const NamedFile& output, const NamedFile& other) {
    if (same_file(output.path, other.path))
        throw Failure(Exit::usage,
                      output.path + ": " + output.role + " and " + other.role + " are the same file");
}

// The kernel does the same if fs.protected_symlinks is set. In a folder that all users may write to, a link
// of another user may lead to a file that only this user may write to.
bool trusted(const fs::path& link) {
    struct stat folder {
    }, own{};
    const fs::path parent = link.has_parent_path() ? link.parent_path() : fs::path(".");
    if (stat(parent.c_str(), &folder) != 0 || lstat(link.c_str(), &own) != 0) return true;
    const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    return !shared || own.st_uid == geteuid() || own.st_uid == folder.st_uid;
}

}  // namespace

// weakly_canonical() alone treats a dangling link as a file.
fs::path destination(fs::path path) {
    constexpr int kMostLinks = 40;  // the limit of the Linux kernel
    std::error_code error;
    for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
        if (!trusted(path))
            throw Failure(Exit::failed, path.string() + ": a link of another user in a folder that all may " +
                                            "write to is not followed (name the file itself)");
        const fs::path target = fs::read_symlink(path, error);
        if (error) break;
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : real;
}

bool same_file(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return false;
    struct stat one {
    }, other{};
    const bool one_there = ::stat(a.c_str(), &one) == 0, other_there = ::stat(b.c_str(), &other) == 0;
    if (one_there && other_there) return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    return one_there == other_there && destination(a) == destination(b);
}

void require_apart(std::initializer_list<NamedFile> outputs, const std::vector<NamedFile>& inputs) {
    for (const NamedFile* output = outputs.begin(); output != outputs.end(); ++output) {
        for (const NamedFile* other = output + 1; other != outputs.end(); ++other)
            require_different(*output, *other);
        for (const NamedFile& input : inputs) require_different(*output, input);
    }
}

}  // namespace weft::tool
