// SPDX-License-Identifier: Apache-2.0
// Names and shapes of fields and operations.
#include <algorithm>
#include <string>

#include <weft/error.hpp>
#include <weft/ops/field.hpp>

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

const char* to_string(FieldOp op) noexcept {
    switch (op) {
        case FieldOp::add:
            return "add";
        case FieldOp::sub:
            return "sub";
        case FieldOp::neg:
            return "neg";
        case FieldOp::mul:
            return "mul";
        case FieldOp::square:
            return "square";
        case FieldOp::inverse:
            return "inverse";
        case FieldOp::to_montgomery:
            return "to-montgomery";
        case FieldOp::from_montgomery:
            return "from-montgomery";
        case FieldOp::axpy:
            return "axpy";
        case FieldOp::sum:
            return "sum";
        case FieldOp::inner_product:
            return "inner-product";
    }
    return "unknown";
}

bool takes_b(FieldOp op) noexcept {
    switch (op) {
        case FieldOp::add:
        case FieldOp::sub:
        case FieldOp::mul:
        case FieldOp::axpy:
        case FieldOp::inner_product:
            return true;
        default:
            return false;
    }
}

bool is_reduction(FieldOp op) noexcept {
    return op == FieldOp::sum || op == FieldOp::inner_product;
}

}  // namespace weft
