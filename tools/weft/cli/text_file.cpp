// SPDX-License-Identifier: Apache-2.0
#include "cli/text_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/signals.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
    throw Failure(Exit::failed, path + ": " + what + " (" + std::generic_category().message(error) + ")");
}

/// Symbolic links stay; what they name is replaced.
fs::path target_of(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? fs::path(path) : real;
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
    if (path.empty()) return;
    const fs::path target = target_of(path);
    std::error_code error;
    if (fs::is_directory(target, error)) fail(path, "cannot be written", EISDIR);
    // Replacing a device or a pipe by a file would take it from everybody.
    if (fs::exists(target, error) && !fs::is_regular_file(target, error))
        throw Failure(Exit::failed, path + ": cannot be written: not a regular file");
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, error)) fail(path, "cannot be written", ENOENT);
    if (::access(folder.c_str(), W_OK) != 0) fail(path, "cannot be written", errno);
}

void write_text_file(const std::string& path, std::string_view text) {
    require_writable(path);  // once more: the work in between may have been long
    const fs::path target = target_of(path);
    std::string temporary = target.string() + ".XXXXXX";
    const int file = make_temporary(temporary);
    if (file < 0) fail(path, "cannot be written", errno);
    int error = write_all(file, text);
    // What a program creates with open() has these permissions; a temporary file has fewer.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (error == 0 && ::fchmod(file, 0666 & ~mask) != 0) error = errno;
    if (::close(file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(temporary.c_str());
    forget_temporary();
    if (error != 0) fail(path, "cannot be written", error);
}

}  // namespace weft::tool
