// SPDX-License-Identifier: Apache-2.0
// No incomplete file remains after a signal.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace weft::tool {

/// Opens the null device as each of the descriptors 0, 1 and 2 that is closed, so that no file of the command
/// gets a number that messages are written to. Must be the first call of the process.
void open_standard_descriptors();

/// Handles the signals that end a process: the temporary file is removed, then the process ends with that
/// signal. Handles SIGBUS too (a mapped file shrank, or its disk cannot be read): one line on stderr, then
/// the process ends. A write beyond the permitted file size becomes an error instead of a signal. Call it
/// once, before the first thread starts.
void install_signal_handlers();

/// Replaces the XXXXXX at the end of `name` with random letters until `create`, which makes a file of that
/// name, does not fail with EEXIST. From then on a signal removes that file. Only one such file at a time.
/// Returns what `create` returned, or -1 with errno.
int make_temporary(std::string& name, const std::function<int(const char* name)>& create);
/// Call it when the file has been removed or renamed.
void forget_temporary();

enum class Mapping { input, output };
/// Memory that is mapped to a file. The kind distinguishes a lost input from an output that cannot be
/// written.
void watch_mapping(Mapping kind, std::span<const std::byte> memory);
void unwatch_mapping(std::span<const std::byte> memory);

}  // namespace weft::tool
