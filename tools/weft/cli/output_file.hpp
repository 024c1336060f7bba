// SPDX-License-Identifier: Apache-2.0
// Files that the command writes: whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace weft::tool {

/// Checks, before the work begins, whether a file can be written later: the folder exists and takes files, no
/// folder or device has that name, and the permissions suffice. An empty path means that no file is wanted. Errors: Failure
/// with Exit::failed.
void require_writable(const std::string& path);

/// Bytes that a file at `path` may take of its disk; the largest number where the disk does not say.
std::uint64_t room_for(const std::string& path);

/// A file that takes the place of `path` in commit(). Until then, and after any failure or signal, `path` is
/// what it was. A symbolic link stays, and the file that it names is replaced; the new file has the owner and
/// the permissions of the old one, as far as the process may give them.
///
/// Where the file system allows, the file has no name until it is whole, so nothing remains of a process that
/// is killed. Elsewhere it is `.weft-` and six letters beside the target, and install_signal_handlers()
/// removes it.
class OutputFile {
  public:
    /// Errors: those of require_writable().
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Open to read and to write.
    int descriptor() const noexcept { return descriptor_; }
    void commit();
    /// Ends the command: "PATH: what: the text of `error`". Always Exit::failed.
    [[noreturn]] void fail(const char* what, int error) const;

  private:
    void open(const std::filesystem::path& folder);

    std::string path_;              // as the user wrote it
    std::filesystem::path target_;  // with symbolic links followed
    std::string name_;              // of the file, where it has one before it is whole
    int descriptor_ = -1;
};

/// Errors: Failure with Exit::failed.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace weft::tool
