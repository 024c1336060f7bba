// SPDX-License-Identifier: Apache-2.0
// weft tune kernel: a subcommand of tune.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::tool {

void add_tune_kernel(CLI::App& tune);

}  // namespace weft::tool
