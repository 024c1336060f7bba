// SPDX-License-Identifier: Apache-2.0
// No half-written file survives a signal.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace weft::tool {

/// Opens the null device as each of the descriptors 0, 1 and 2 that is closed, so that no file of the command
/// gets a number that messages are written to. Called first of all.
void open_standard_descriptors();

/// Handles the signals that end a process (the temporary file is removed, then the process ends as the signal
/// says) and SIGBUS (a mapped file shrank, or its disk cannot deliver it: one line on stderr, then the end).
/// A write beyond the permitted file size becomes an error instead of a signal. Called once, before the first
/// thread.
void install_signal_handlers();

/// Replaces the XXXXXX at the end of `name` by random letters until `create`, which makes a file of that
/// name, does not fail with EEXIST. A signal from now on removes that file. One at a time. Returns what
/// `create` returned, or -1 with errno.
int make_temporary(std::string& name, const std::function<int(const char* name)>& create);
/// The file is gone or has been renamed.
void forget_temporary();

enum class Mapping { input, output };
/// Memory behind which a file lies; tells a lost input from an output that cannot be written.
void watch_mapping(Mapping kind, std::span<const std::byte> memory);
void unwatch_mapping(std::span<const std::byte> memory);

}  // namespace weft::tool
