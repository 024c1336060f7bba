// SPDX-License-Identifier: Apache-2.0
// Config from named texts of any source, so that tests need not change the environment of the process.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <weft/config.hpp>

namespace weft::core {

/// Value of a variable, empty where it is not set.
using VariableLookup = std::function<std::optional<std::string>(const char* name)>;

/// Errors: invalid_argument - an enum that holds none of its values.
void check_enums(const Config& config);

/// What Config::from_env does, with its errors.
Config parse_config(const VariableLookup& lookup);

}  // namespace weft::core
