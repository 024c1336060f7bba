// SPDX-License-Identifier: Apache-2.0
// The files of one command: an output must not be any other file that the command names.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace weft::tool {

/// A file as the user named it; an empty path means that it was not given.
struct NamedFile {
    const char* role;  ///< "output", "--scales"
    std::string path;
};

/// Where the file of that name is or would be created. Links are followed, also dangling ones. Errors:
/// Failure with Exit::failed - a link of another user in a folder that all users may write to.
std::filesystem::path destination(std::filesystem::path path);

/// Whether both paths lead to the same file. Existing files are compared by device and number, others by
/// their path with symbolic links followed, also dangling ones. Never true of an empty path.
bool same_file(const std::string& a, const std::string& b);

/// Call it before anything is written: no output may be another output or an input. Errors: Failure with
/// Exit::usage.
void require_apart(std::initializer_list<NamedFile> outputs, const std::vector<NamedFile>& inputs = {});

}  // namespace weft::tool
