// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each adds its options, its help and its callback to the command. A callback runs while the
// command line is parsed, and throws a Failure or a weft::Error if it cannot do its work.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::tool {

void add_info(CLI::App& command);
void add_field(CLI::App& command);
void add_ntt(CLI::App& command);
void add_encode(CLI::App& command);
void add_kernel(CLI::App& command);
void add_profile(CLI::App& command);
void add_lattice(CLI::App& command);
void add_tune(CLI::App& command);
void add_tune_kernel(CLI::App& tune);
void add_tune_ntt(CLI::App& tune);

}  // namespace weft::tool
