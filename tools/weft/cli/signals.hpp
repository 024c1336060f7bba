// SPDX-License-Identifier: Apache-2.0
// No half-written file survives a signal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::tool {

/// Handles SIGINT, SIGTERM and SIGHUP (remove the temporary file, then end as the signal says) and SIGBUS (a
/// mapped file that shrank or that its disk cannot deliver: one line on stderr, then end). A write beyond the
/// permitted file size becomes an error instead of a signal. Called once, before the first thread.
void install_signal_handlers();

/// Creates an empty file from a template that ends in XXXXXX, which becomes its name; a signal from now on
/// removes it. One at a time. Returns the descriptor, or -1 with errno.
int make_temporary(std::string& name);
/// The file is gone or has been renamed.
void forget_temporary();

enum class Mapping { input, output };
/// Memory behind which a file lies; tells a lost input from an output that cannot be written.
void watch_mapping(Mapping kind, std::span<const std::byte> memory);
void unwatch_mapping(std::span<const std::byte> memory);

}  // namespace weft::tool
