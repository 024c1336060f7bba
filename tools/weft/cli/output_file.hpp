// SPDX-License-Identifier: Apache-2.0
// Files that the command writes: either complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace weft::tool {

/// Checks, before the work begins, whether a file can be written later: the folder exists and takes files, no
/// folder or device has that name, and the permissions suffice. An empty path means that no file is wanted.
/// Errors: Failure with Exit::failed.
void require_writable(const std::string& path);

/// Bytes that a file at `path` may take on its disk; the largest number if the system does not report the
/// free space.
std::uint64_t room_for(const std::string& path);

/// A file that replaces `path` in commit(). Until then, and after any failure or signal, `path` is unchanged.
/// A symbolic link stays, and the file that it names is replaced. The new file has the owner and the
/// permissions of the old one, as far as the process may set them.
///
/// If the file system allows it, the file has no name until it is complete, so nothing remains if the process
/// is killed. Otherwise its name is `.weft-` and six letters in the folder of the target, and
/// install_signal_handlers() removes it.
class OutputFile {
  public:
    /// Errors: those of require_writable().
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Open for reading and writing.
    int descriptor() const noexcept { return descriptor_; }
    void commit();
    /// Ends the command: "PATH: what: the text of `error`". Always Exit::failed.
    [[noreturn]] void fail(const char* what, int error) const;

  private:
    void open(const std::filesystem::path& folder);

    std::string path_;              // as the user wrote it
    std::filesystem::path target_;  // with symbolic links followed
    std::string name_;              // of the file, if it has one before it is complete
    int descriptor_ = -1;
};

/// Errors: Failure with Exit::failed.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace weft::tool
