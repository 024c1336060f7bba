// SPDX-License-Identifier: Apache-2.0
#include "arrays/array_input.hpp"

#include <algorithm>

namespace weft::tool {

ConstHostArray ArrayInput::array() {
    const std::byte* mapped = source_->mapped();
    const std::uint64_t bytes = source_->values() * type().bytes();
    const std::size_t alignment = std::min<std::size_t>(type().bytes(), alignof(std::uint64_t));
    if (mapped != nullptr && reinterpret_cast<std::uintptr_t>(mapped) % alignment == 0)
        return {mapped, source_->values(), type()};
    if (copy_.empty() && bytes != 0) {
        copy_.resize((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        source_->read(0, source_->rows(), reinterpret_cast<std::byte*>(copy_.data()));
    }
    return {copy_.data(), source_->values(), type()};
}

}  // namespace weft::tool
