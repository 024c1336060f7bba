// SPDX-License-Identifier: Apache-2.0
// The options of a lattice code, for every subcommand that has one. Their bounds are those of the library.
// They are checked here too, so that the error names the option.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>
#include <weft/ops/lattice.hpp>

namespace weft::tool {

/// --lattice, --q, and the number of levels by the names given.
std::vector<CLI::Option*> add_code(CLI::App& command, LatticeCode& code,
                                   const char* levels_names = "--levels");
CLI::Option* add_beta(CLI::App& command, LatticeCode& code);
/// --alpha, --max-retries.
void add_retries(CLI::App& command, LatticeCode& code);

}  // namespace weft::tool
