// SPDX-License-Identifier: Apache-2.0
#include "cli/print_json.hpp"

#include <cstdio>

namespace weft::tool {

std::string json_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_json(const Json& json) {
    std::fputs(json_text(json).c_str(), stdout);
}

}  // namespace weft::tool
