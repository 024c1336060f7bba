// SPDX-License-Identifier: Apache-2.0
// Whole files, read and written so that nothing a path leads to can block the process, end it or fool it.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace weft::core {

/// Closes its file descriptor.
class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const noexcept { return fd_; }
    /// Releases ownership to the caller.
    int release() noexcept { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

/// Keeps the signals that a write can cause (a pipe without a reader, the limit on file sizes) from this
/// thread's process.
class NoWriteSignals {
  public:
    NoWriteSignals();
    ~NoWriteSignals();
    NoWriteSignals(const NoWriteSignals&) = delete;
    NoWriteSignals& operator=(const NoWriteSignals&) = delete;

  private:
    sigset_t signals_, before_;
    bool blocked_ = false;
};

/// Locks a file that was opened as `path`, for this object of this process alone. Never blocks. Returns 0, or
/// errno: EWOULDBLOCK - another has it; ESTALE - `path` names another file by now, which is to be opened.
int try_lock(const FileDescriptor& file, const std::filesystem::path& path);

struct FileRead {
    std::string bytes;
    std::string refused;   ///< empty: read
    int error = 0;         ///< errno, where the system refused
    bool trusted = false;  ///< only this user or root can have written it

    bool absent() const;
};

/// Never blocks: pipes and devices are refused. Errors are in the result.
FileRead read_file(const std::filesystem::path& file, std::uint64_t max_bytes);

/// Letters behind "TARGET." in the name of a new file that is not whole yet.
inline constexpr std::size_t kRandomLetters = 6;

/// A file that takes the place of `target` in replace(). It has no name until then where the file system
/// allows that, so that a process that is killed leaves nothing behind; elsewhere it has a random name beside
/// the target. Symbolic links stay, and the file that they name is replaced. Signals that a
/// write can cause (a pipe without a reader, the limit on file sizes) do not reach the process: they are
/// errors.
class NewFile {
  public:
    /// `mode` is the file's, before the process's mask. With `into_special` a pipe or a device at `target` is
    /// written to and stays; without, the file takes its place. Never blocks.
    NewFile(const std::filesystem::path& target, unsigned mode, bool into_special = false);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(std::string_view text);
    /// A second descriptor of the file, which it keeps beyond replace(), with a lock that no other can have
    /// before the file has its name.
    FileDescriptor locked() const;
    /// Returns why this or a step before it failed; empty: the file is there.
    std::string replace();
    /// errno of the step that failed; 0: none.
    int error() const noexcept { return error_; }

  private:
    void open_special();
    void open_new(unsigned mode);
    void fail(const char* what, int error);

    std::filesystem::path target_;
    std::string name_;  // of the file, where it has one before it is whole
    FileDescriptor file_;
    std::string failure_;
    int error_ = 0;
    bool special_ = false;
};

}  // namespace weft::core
