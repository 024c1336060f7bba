// SPDX-License-Identifier: Apache-2.0
#include "glsl/file_read.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_descriptor.hpp"

namespace weft::glsl {

namespace {

FileRead system_error(int error) {
    return {{}, std::generic_category().message(error), error, false};
}

std::string too_large(std::uint64_t bytes, std::uint64_t max_bytes) {
    return "too large (got " + std::to_string(bytes) + " bytes, need at most " + std::to_string(max_bytes) +
           ")";
}

}  // namespace

bool FileRead::absent() const {
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

FileRead read_file(const std::filesystem::path& file, std::uint64_t max_bytes) {
    const core::FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (in.get() < 0) return system_error(errno);
    struct stat status {};
    if (::fstat(in.get(), &status) != 0) return system_error(errno);
    if (S_ISDIR(status.st_mode)) return {{}, "a folder, not a file", EISDIR, false};
    if (!S_ISREG(status.st_mode)) return {{}, "not an ordinary file", EINVAL, false};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_bytes) return {{}, too_large(size, max_bytes), 0, false};
    FileRead result;
    result.trusted = (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & 022) == 0;
    // One byte more than the size, so that a file that grows meanwhile is noticed.
    result.bytes.resize(static_cast<std::size_t>(size) + 1);
    std::size_t filled = 0;
    while (filled < result.bytes.size()) {
        const ssize_t got = ::read(in.get(), result.bytes.data() + filled, result.bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    if (filled > size) return {{}, "changed while it was read", EAGAIN, false};
    result.bytes.resize(filled);
    return result;
}

FileRead read_source(const std::filesystem::path& file) {
    FileRead result = read_file(file, kMaxSourceBytes);
    if (result.refused.empty()) result.refused = refuse_text(result.bytes);
    return result;
}

std::string refuse_text(std::string& text) {
    if (text.size() > kMaxSourceBytes) return too_large(text.size(), kMaxSourceBytes);
    if (text.starts_with("\x03\x02\x23\x07") || text.starts_with("\x07\x23\x02\x03"))
        return "SPIR-V already, which Program takes as it is";
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return "not UTF-8 but UTF-16, which GLSL compilers do not read";
    if (const std::size_t at = text.find('\0'); at != std::string::npos)
        return "not text (byte " + std::to_string(at) + " is 0)";
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    return {};
}

}  // namespace weft::glsl
