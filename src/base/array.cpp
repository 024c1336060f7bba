// SPDX-License-Identifier: Apache-2.0
#include <weft/array.hpp>

#include <cstddef>

namespace weft {

std::string to_string(ElementType type) {
    const char* const names[] = {"int", "uint", "float", "complex"};
    const auto kind = static_cast<std::size_t>(type.kind);
    return (kind < std::size(names) ? names[kind] : "unknown") + std::to_string(type.bits);
}

}  // namespace weft
