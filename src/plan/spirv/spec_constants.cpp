// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/spec_constants.hpp"

#include <spirv_cross/spirv.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include <weft/error.hpp>

#include "base/enums.hpp"
#include "plan/spirv/spirv_module.hpp"

namespace weft {

const char* to_string(SpecType type) noexcept {
    return core::enum_name<SpecType::other>(type, {"bool", "int", "uint", "float", "other"});
}

}  // namespace weft

namespace weft::core {
namespace {

using Words = std::span<const std::uint32_t>;

struct ScalarType {
    std::uint32_t bits = 0;
    SpecType type = SpecType::other;
};

ScalarType type_of(std::uint32_t opcode, Words w) {
    const std::uint32_t bits = w[2];
    if (bits != 32) return {bits, SpecType::other};
    if (opcode == SpvOpTypeFloat) return {bits, SpecType::float32};
    return {bits, w[3] != 0 ? SpecType::int32 : SpecType::uint32};
}

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw Error(Errc::invalid_argument, "Program '" + name + "': " + what);
}

std::string constant_text(const SpecConstant& constant) {
    return "specialization constant " + std::to_string(constant.id) + " ";
}

}  // namespace

SpecTable::SpecTable(Words words) {
    std::multimap<std::uint32_t, std::uint32_t> ids;  // result -> SpecId
    std::unordered_map<std::uint32_t, ScalarType> types;
    std::unordered_map<std::uint32_t, std::string> names;
    std::uint32_t workgroup_size = 0;
    for_each_instruction(words, [&](std::uint32_t opcode, Words w) {
        if (opcode == SpvOpName) names.emplace(w[1], literal_string(w.subspan(2)).value_or(""));
        if (opcode == SpvOpDecorate && w[2] == SpvDecorationSpecId) ids.emplace(w[1], w[3]);
        if (opcode == SpvOpDecorate && w[2] == SpvDecorationBuiltIn && w[3] == SpvBuiltInWorkgroupSize)
            workgroup_size = w[1];
        if (opcode == SpvOpTypeInt || opcode == SpvOpTypeFloat) types[w[1]] = type_of(opcode, w);
        if (opcode == SpvOpSpecConstantComposite && w[2] == workgroup_size && w.size() == 6)
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (const auto id = ids.find(w[3 + axis]); id != ids.end())
                    workgroup_size_ids_[axis] = id->second;
        const bool boolean = opcode == SpvOpSpecConstantTrue || opcode == SpvOpSpecConstantFalse;
        if (!boolean && opcode != SpvOpSpecConstant) return;
        Target target;
        target.position = static_cast<std::size_t>(w.data() - words.data());
        const ScalarType type = boolean ? ScalarType{1, SpecType::boolean} : types[w[1]];
        target.bits = type.bits;
        target.info.type = type.type;
        target.info.name = names[w[2]];
        target.info.default_bits = boolean ? (opcode == SpvOpSpecConstantTrue ? 1 : 0)
                                           : w[3] | (w.size() > 4 ? std::uint64_t{w[4]} << 32 : 0);
        const auto [first, last] = ids.equal_range(w[2]);
        for (auto id = first; id != last; ++id) {
            target.info.id = id->second;
            targets_.emplace(id->second, target);
        }
    });
}

std::vector<SpecConstantInfo> SpecTable::declared() const {
    std::vector<SpecConstantInfo> infos;
    for (const auto& [id, target] : targets_)
        if (infos.empty() || infos.back().id != id) infos.push_back(target.info);
    return infos;
}

void SpecTable::check(const SpecConstant& constant, const std::string& name) const {
    const auto [first, last] = targets_.equal_range(constant.id);
    if (first == last) {
        std::string ids;
        for (const SpecConstantInfo& info : declared())
            ids += (ids.empty() ? "" : ", ") + std::to_string(info.id);
        refuse(name, constant_text(constant) + "is not declared by the shader (it declares " +
                         (ids.empty() ? "none" : ids) + ")");
    }
    for (auto target = first; target != last; ++target)
        if (target->second.bits != 1 && target->second.bits != 32)
            refuse(name, constant_text(constant) + "is " + std::to_string(target->second.bits) +
                             " bits wide (need bool or 32 bits)");
    const auto fits = [&](const auto& target) {
        return (target.second.info.type == SpecType::float32) == constant.floating;
    };
    if (std::none_of(first, last, fits))
        refuse(name, constant_text(constant) + "is of type " + to_string(first->second.info.type) + " (got " +
                         (constant.floating ? "a float, need an integer or bool)"
                                            : "an integer or bool, need a float such as 1.0f)"));
}

std::vector<SpecConstant> SpecTable::chosen(const ProgramOptions& options, const std::string& name) const {
    std::vector<SpecConstant> chosen;
    const auto known = [&](std::uint32_t id) {
        return std::find_if(chosen.begin(), chosen.end(), [&](const SpecConstant& c) { return c.id == id; });
    };
    for (const SpecConstant& constant : options.constants) {
        if (known(constant.id) != chosen.end()) refuse(name, constant_text(constant) + "is given twice");
        check(constant, name);
        chosen.push_back(constant);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (options.local_size[axis] == 0 || !workgroup_size_ids_[axis]) continue;
        const SpecConstant constant{*workgroup_size_ids_[axis], options.local_size[axis]};
        const auto given = known(constant.id);
        // Two axes may share a constant, or the caller may have set the size in both ways.
        if (given != chosen.end() && given->bits == constant.bits) continue;
        if (given != chosen.end())
            refuse(name, constant_text(constant) + "is given twice: local_size sets it along " + "xyz"[axis] +
                             " (got " + std::to_string(given->bits) + " and " +
                             std::to_string(constant.bits) + ")");
        check(constant, name);
        chosen.push_back(constant);
    }
    return chosen;
}

void SpecTable::apply(std::span<const SpecConstant> chosen, std::vector<std::uint32_t>& words) const {
    for (const SpecConstant& constant : chosen) {
        const auto [first, last] = targets_.equal_range(constant.id);
        for (auto target = first; target != last; ++target) {
            const std::size_t at = target->second.position;
            if (target->second.bits == 1) {
                const std::uint32_t opcode =
                    constant.bits != 0 ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse;
                words[at] = (words[at] & 0xffff0000u) | opcode;
            } else {
                words[at + 3] = constant.bits;
            }
        }
    }
}

bool constants_decide(Words words, const SpirvModule& module) {
    std::set<std::uint32_t> constants, laid_out;
    bool decide = false;
    for_each_instruction(words, [&](std::uint32_t opcode, Words w) {
        switch (opcode) {
            case SpvOpSpecConstantTrue:
            case SpvOpSpecConstantFalse:
            case SpvOpSpecConstant:
            case SpvOpSpecConstantComposite:
            case SpvOpSpecConstantOp:
                constants.insert(w[2]);
                return;
            case SpvOpDecorate:
                if (w[2] == SpvDecorationArrayStride) laid_out.insert(w[1]);
                return;
            case SpvOpGroupDecorate:  // may hold strides
                decide = true;
                return;
            case SpvOpTypeArray: {
                if (!constants.contains(w[3])) return;
                constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
                const std::uint64_t length = module.value(w[3]).value_or(0);
                decide = decide || laid_out.contains(w[1]) || length == 0 || length > kMost;
                return;
            }
            default:
                break;
        }
        const bool subgroup = opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap;
        for (std::size_t i = 3; subgroup && i < w.size(); ++i) decide = decide || constants.contains(w[i]);
    });
    return decide && !constants.empty();
}

std::vector<std::uint32_t> frozen(Words words, const SpirvModule& module) {
    std::vector<std::uint32_t> out(words.begin(), words.begin() + 5);
    std::unordered_map<std::uint32_t, SpecType> scalars;  // by type; of 32 bits, or bool
    const auto emit = [&](std::uint32_t opcode, Words operands) {
        out.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | opcode);
        out.insert(out.end(), operands.begin(), operands.end());
    };
    for_each_instruction(words, [&](std::uint32_t opcode, Words w) {
        if (opcode == SpvOpTypeBool) scalars[w[1]] = SpecType::boolean;
        if ((opcode == SpvOpTypeInt || opcode == SpvOpTypeFloat) && w[2] == 32)
            scalars[w[1]] = type_of(opcode, w).type;
        switch (opcode) {
            case SpvOpDecorate:
                if (w[2] != SpvDecorationSpecId) emit(opcode, w.subspan(1));
                return;
            case SpvOpSpecConstantTrue:
                return emit(SpvOpConstantTrue, w.subspan(1));
            case SpvOpSpecConstantFalse:
                return emit(SpvOpConstantFalse, w.subspan(1));
            case SpvOpSpecConstant:
                return emit(SpvOpConstant, w.subspan(1));
            case SpvOpSpecConstantOp: {
                const auto type = scalars.find(w[1]);
                const auto value = type == scalars.end() ? std::nullopt : module.value(w[2]);
                if (!value) return emit(opcode, w.subspan(1));
                if (type->second == SpecType::boolean)
                    return emit(*value != 0 ? SpvOpConstantTrue : SpvOpConstantFalse, w.subspan(1, 2));
                const std::array<std::uint32_t, 3> constant{w[1], w[2], static_cast<std::uint32_t>(*value)};
                return emit(SpvOpConstant, constant);
            }
            default:
                emit(opcode, w.subspan(1));
        }
    });
    return out;
}

void check_local_size(const ProgramOptions& options, const std::array<std::uint32_t, 3>& actual,
                      const std::string& name) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const char letter = "xyz"[axis];
        if (options.local_size[axis] != 0 && options.local_size[axis] != actual[axis])
            refuse(name, std::string("ProgramOptions::local_size along ") + letter +
                             ", which the shader fixes (got " + std::to_string(options.local_size[axis]) +
                             ", need " + std::to_string(actual[axis]) + ", or local_size_" + letter +
                             "_id in the shader)");
    }
}

}  // namespace weft::core
