// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/field_info.hpp>

#include <string>

#include <weft/error.hpp>

#include "shaders/field/field_table.h"

namespace weft {
namespace {

constexpr std::size_t kCount = shared::kFieldTable.size();
static_assert(kCount == static_cast<std::size_t>(Field::mersenne31) + 1);

constexpr std::array<FieldInfo, kCount> make_infos() {
    std::array<FieldInfo, kCount> infos{};
    for (std::size_t i = 0; i < kCount; ++i) {
        const shared::FieldConstants& constants = shared::kFieldTable[i];
        FieldInfo& info = infos[i];
        const bool narrow = constants.words == 1;
        info.field = static_cast<Field>(i);
        info.name = constants.name;
        info.bits = constants.bits;
        info.limbs = narrow ? 1 : constants.words / 2;
        info.limb_bytes = narrow ? 4 : 8;
        info.element_bytes = 4 * constants.words;
        info.dtype = narrow ? "<u4" : "<u8";
        for (std::size_t word = 0; word < 12; ++word)
            info.modulus[word / 2] |= std::uint64_t{constants.p.word[word]} << (word % 2 * 32);
    }
    return infos;
}

constexpr std::array<FieldInfo, kCount> kInfos = make_infos();

}  // namespace

std::span<const FieldInfo> fields() noexcept {
    return kInfos;
}

const FieldInfo& field_info(Field field) {
    const auto index = static_cast<std::size_t>(field);
    if (index >= kCount)
        throw Error(Errc::invalid_argument, "field_info: no such field (got " +
                                                std::to_string(static_cast<int>(field)) + ", need below " +
                                                std::to_string(kCount) + ")");
    return kInfos[index];
}

std::optional<Field> find_field(std::string_view name) noexcept {
    for (const FieldInfo& info : kInfos)
        if (info.name == name) return info.field;
    return std::nullopt;
}

const char* to_string(Field field) noexcept {
    const auto index = static_cast<std::size_t>(field);
    return index < kCount ? kInfos[index].name.data() : "unknown";  // literals: they end with a zero
}

}  // namespace weft
