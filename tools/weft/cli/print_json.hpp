// SPDX-License-Identifier: Apache-2.0
// JSON on standard output: what --json prints.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace weft::tool {

using Json = nlohmann::ordered_json;

/// Names from a driver or a user may not be UTF-8. Invalid bytes become U+FFFD.
std::string json_text(const Json& json);
void print_json(const Json& json);

}  // namespace weft::tool
