// SPDX-License-Identifier: Apache-2.0
// Options that say which lattice code is meant, for every subcommand that has one. Bounds are the library's;
// told here, the answer names the option.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>
#include <weft/ops/lattice.hpp>

namespace weft::tool {

/// --lattice, --q, --levels.
std::vector<CLI::Option*> add_code(CLI::App& command, LatticeCode& code);
CLI::Option* add_beta(CLI::App& command, LatticeCode& code);
/// --alpha, --max-retries.
void add_retries(CLI::App& command, LatticeCode& code);

}  // namespace weft::tool
