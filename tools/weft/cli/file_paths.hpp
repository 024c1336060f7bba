// SPDX-License-Identifier: Apache-2.0
// The files of one command: what is written must be nothing else that was named.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace weft::tool {

/// A file as the user named it; no path: it was not given.
struct NamedFile {
    const char* role;  ///< "output", "--scales"
    std::string path;
};

/// Where a file of that name is, or would come to be: links are followed, dangling ones too. Errors: Failure
/// with Exit::failed - a link of another user in a folder that all may write to.
std::filesystem::path destination(std::filesystem::path path);

/// Whether both lead to one file: the same one by device and number, or, of files that are yet to be, the
/// same place with symbolic links followed, dangling ones too. Never true of an empty path.
bool same_file(const std::string& a, const std::string& b);

/// Before anything is written: no output may be another output or an input. Errors: Failure with Exit::usage.
void require_apart(std::initializer_list<NamedFile> outputs, const std::vector<NamedFile>& inputs = {});

}  // namespace weft::tool
