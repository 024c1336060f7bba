// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>

#include "trace/trace_json.hpp"

namespace weft::core {
namespace {

namespace fs = std::filesystem;

/// A descriptor that remembers its first failure.
class Output {
  public:
    Output(const std::string& path, int flags)
        : file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
        if (file_ < 0) error_ = errno;
    }
    ~Output() { close(); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string_view text) {
        while (!text.empty() && error_ == 0) {
            const ssize_t written = ::write(file_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0)
                error_ = errno;
            else
                text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void close() {
        if (file_ >= 0 && ::close(file_) != 0 && error_ == 0) error_ = errno;
        file_ = -1;
    }
    int error() const { return error_; }

  private:
    int file_, error_ = 0;
};

std::string reason(const char* what, const std::string& path, int error) {
    return std::string(what) + " " + path + " (" + std::generic_category().message(error) + ")";
}

/// No two threads or processes write the same temporary file.
std::string temporary_name(const fs::path& target) {
    static std::atomic<std::uint64_t> count{0};
    return target.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".tmp";
}

/// Symbolic links stay; the file that they name is replaced.
fs::path resolved(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real;
}

}  // namespace

std::string write_trace_file(const TraceData& data, const fs::path& path) {
    const fs::path target = resolved(path);
    std::error_code ignored;
    // A pipe or a device is written to, not replaced.
    const bool special = fs::exists(target, ignored) && !fs::is_regular_file(target, ignored);
    if (special && fs::is_directory(target, ignored)) return reason("cannot write", path.string(), EISDIR);
    const std::string name = special ? target.string() : temporary_name(target);
    Output output(name, special ? 0 : O_CREAT | O_EXCL);
    if (output.error() != 0) return reason("cannot create", name, output.error());
    try {
        write_trace_json(data, ::getpid(), [&](std::string_view text) { output.write(text); });
    } catch (...) {
        if (!special) ::unlink(name.c_str());
        throw;
    }
    output.close();
    if (output.error() != 0) {
        if (!special) ::unlink(name.c_str());
        return reason("cannot write", name, output.error());
    }
    if (special || std::rename(name.c_str(), target.c_str()) == 0) return {};
    const int error = errno;
    ::unlink(name.c_str());
    return reason("cannot rename to", target.string(), error);
}

fs::path numbered_trace_path(const fs::path& asked, std::uint64_t ordinal) {
    if (ordinal <= 1) return asked;
    fs::path numbered = asked;
    numbered.replace_extension("." + std::to_string(ordinal) + asked.extension().string());
    return numbered;
}

fs::path claim_trace_path(const fs::path& asked) {
    static std::mutex mutex;
    // Never destroyed: a backend may be made while the process ends.
    static auto& claims = *new std::map<fs::path, std::uint64_t>;
    std::error_code error;
    const fs::path absolute = fs::absolute(asked, error);
    const std::lock_guard lock(mutex);
    return numbered_trace_path(absolute, ++claims[absolute.lexically_normal()]);
}

}  // namespace weft::core
