// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/spirv_module.hpp"

#include <spirv_cross/spirv.h>

#include <algorithm>
#include <limits>

#include <weft/error.hpp>

namespace weft::core {

namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return a != 0 && b > kMost / a ? kMost : a * b;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    return a + b < a ? ~std::uint64_t{0} : a + b;
}

std::optional<std::uint64_t> divide(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
    if (b == 0) return std::nullopt;
    const std::int64_t signed_a = static_cast<std::int32_t>(a), signed_b = static_cast<std::int32_t>(b);
    switch (opcode) {
        case SpvOpUDiv:
            return a / b;
        case SpvOpUMod:
            return a % b;
        case SpvOpSDiv:
            return static_cast<std::uint32_t>(signed_a / signed_b);
        case SpvOpSRem:
            return static_cast<std::uint32_t>(signed_a % signed_b);
        default:
            return static_cast<std::uint32_t>((signed_a % signed_b + signed_b) % signed_b);  // SMod
    }
}

std::optional<std::uint64_t> compare(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
    const auto signed_a = static_cast<std::int32_t>(a), signed_b = static_cast<std::int32_t>(b);
    switch (opcode) {
        case SpvOpIEqual:
            return a == b;
        case SpvOpINotEqual:
            return a != b;
        case SpvOpULessThan:
            return a < b;
        case SpvOpULessThanEqual:
            return a <= b;
        case SpvOpUGreaterThan:
            return a > b;
        case SpvOpUGreaterThanEqual:
            return a >= b;
        case SpvOpSLessThan:
            return signed_a < signed_b;
        case SpvOpSLessThanEqual:
            return signed_a <= signed_b;
        case SpvOpSGreaterThan:
            return signed_a > signed_b;
        case SpvOpSGreaterThanEqual:
            return signed_a >= signed_b;
        case SpvOpLogicalAnd:
            return (a & b) != 0;
        case SpvOpLogicalOr:
            return (a | b) != 0;
        case SpvOpLogicalEqual:
            return a == b;
        case SpvOpLogicalNotEqual:
            return a != b;
        default:
            return std::nullopt;
    }
}

/// 32-bit operands; shifts by 32 or more are undefined in SPIR-V.
std::optional<std::uint64_t> binary(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
    switch (opcode) {
        case SpvOpIAdd:
            return a + b;
        case SpvOpISub:
            return a - b;
        case SpvOpIMul:
            return a * b;
        case SpvOpUDiv:
        case SpvOpUMod:
        case SpvOpSDiv:
        case SpvOpSRem:
        case SpvOpSMod:
            return divide(opcode, a, b);
        case SpvOpBitwiseAnd:
            return a & b;
        case SpvOpBitwiseOr:
            return a | b;
        case SpvOpBitwiseXor:
            return a ^ b;
        case SpvOpShiftLeftLogical:
            return b < 32 ? std::optional<std::uint64_t>(a << b) : std::nullopt;
        case SpvOpShiftRightLogical:
            return b < 32 ? std::optional<std::uint64_t>(a >> b) : std::nullopt;
        case SpvOpShiftRightArithmetic:
            if (b >= 32) return std::nullopt;
            return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> b);
        default:
            return compare(opcode, a, b);
    }
}

/// The operand words that may name a pointer variable, without literals.
std::span<const std::uint32_t> pointer_operands(std::uint32_t opcode, std::span<const std::uint32_t> words) {
    const auto range = [&](std::size_t first, std::size_t count) {
        return first >= words.size() ? words.subspan(0, 0)
                                     : words.subspan(first, std::min(count, words.size() - first));
    };
    constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
    switch (opcode) {
        case SpvOpLoad:
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain:
        case SpvOpPtrAccessChain:
        case SpvOpInBoundsPtrAccessChain:
        case SpvOpCopyObject:
        case SpvOpAtomicFMinEXT:
        case SpvOpAtomicFMaxEXT:
        case SpvOpAtomicFAddEXT:
            return range(3, 1);
        case SpvOpStore:
        case SpvOpCopyMemory:
            return range(1, 2);
        case SpvOpAtomicStore:
        case SpvOpReturnValue:
            return range(1, 1);
        case SpvOpPtrEqual:
        case SpvOpPtrNotEqual:
        case SpvOpPtrDiff:
            return range(3, 2);
        case SpvOpSelect:
        case SpvOpPhi:
            return range(3, kAll);
        case SpvOpFunctionCall:
            return range(4, kAll);
        case SpvOpExtInst:
            return range(5, kAll);
        default:
            return opcode >= SpvOpAtomicLoad && opcode <= SpvOpAtomicXor ? range(3, 1) : range(0, 0);
    }
}

}  // namespace

void refuse_shader(const std::string& name, const std::string& what) {
    throw Error(Errc::invalid_shader, "Program '" + name + "': " + what);
}

std::optional<std::string> literal_string(std::span<const std::uint32_t> words) {
    std::string text;
    for (const std::uint32_t word : words) {
        for (std::uint32_t shift = 0; shift < 32; shift += 8) {
            const char letter = static_cast<char>((word >> shift) & 0xffu);
            if (letter == '\0') return text;
            text += letter;
        }
    }
    return std::nullopt;
}

SpirvModule::SpirvModule(std::span<const std::uint32_t> words) {
    for_each_instruction(words, [this](std::uint32_t opcode, Words instruction) {
        if (opcode == SpvOpFunction)
            body_ = &functions_[instruction[2]];
        else if (body_ != nullptr)
            read_body(opcode, instruction);
        else
            read_global(opcode, instruction);
    });
    body_ = nullptr;
}

void SpirvModule::read_global(std::uint32_t opcode, Words words) {
    switch (opcode) {
        case SpvOpCapability:
            capabilities_.push_back(capability_name(words[1]));
            break;
        case SpvOpEntryPoint:
            if (words[1] == SpvExecutionModelGLCompute)
                entry_functions_[literal_string(words.subspan(3)).value_or("")] = words[2];
            break;
        case SpvOpExecutionMode:
            if (words[2] == SpvExecutionModeLocalSize)
                literal_sizes_[words[1]] = {words[3], words[4], words[5]};
            break;
        case SpvOpDecorate:
            if (words[2] == SpvDecorationBuiltIn && words[3] == SpvBuiltInWorkgroupSize)
                workgroup_size_constant_ = words[1];
            break;
        case SpvOpVariable:
            if (words[3] == SpvStorageClassWorkgroup) workgroup_types_[words[2]] = pointees_[words[1]];
            break;
        default:
            read_type(opcode, words);
            read_constant(opcode, words);
    }
}

void SpirvModule::read_type(std::uint32_t opcode, Words words) {
    std::optional<std::uint64_t> bytes;
    switch (opcode) {
        case SpvOpTypeBool:
            bytes = 4;
            break;
        case SpvOpTypeInt:
        case SpvOpTypeFloat:
            bytes = words[2] / 8;
            break;
        case SpvOpTypeForwardPointer:
            bytes = 8;
            break;
        case SpvOpTypePointer:
            bytes = 8;
            pointees_[words[1]] = words[3];
            break;
        case SpvOpTypeVector:
        case SpvOpTypeMatrix:
            if (const auto part = type_bytes(words[2])) bytes = saturating_product(*part, words[3]);
            break;
        case SpvOpTypeArray: {
            const auto part = type_bytes(words[2]), count = value(words[3]);
            if (part && count && *count > 0) bytes = saturating_product(*part, *count);
            break;
        }
        case SpvOpTypeStruct:
            bytes = 0;
            for (const std::uint32_t member : words.subspan(2)) {
                const auto part = type_bytes(member);
                bytes = bytes && part ? std::optional(saturating_sum(*bytes, *part)) : std::nullopt;
            }
            break;
        default:
            break;
    }
    if (bytes) type_bytes_[words[1]] = *bytes;
}

void SpirvModule::read_constant(std::uint32_t opcode, Words words) {
    switch (opcode) {
        case SpvOpConstantTrue:
        case SpvOpSpecConstantTrue:
            values_[words[2]] = 1;
            break;
        case SpvOpConstantFalse:
        case SpvOpSpecConstantFalse:
        case SpvOpConstantNull:
            values_[words[2]] = 0;
            break;
        case SpvOpConstant:
        case SpvOpSpecConstant:
            values_[words[2]] = words[3] | (words.size() > 4 ? std::uint64_t{words[4]} << 32 : 0);
            break;
        case SpvOpConstantComposite:
        case SpvOpSpecConstantComposite:
            composites_[words[2]] = words.subspan(3);
            break;
        case SpvOpSpecConstantOp:
            if (const auto result = operation(words)) values_[words[2]] = *result;
            break;
        default:
            break;
    }
}

void SpirvModule::read_body(std::uint32_t opcode, Words words) {
    if (opcode == SpvOpFunctionCall) body_->calls.insert(words[3]);
    for (const std::uint32_t id : pointer_operands(opcode, words))
        if (workgroup_types_.contains(id)) body_->workgroup_variables.insert(id);
}

std::optional<std::uint64_t> SpirvModule::operation(Words words) const {
    const std::uint32_t opcode = words[3];
    const Words operands = words.subspan(4);
    if (opcode == SpvOpCompositeExtract) return extract(operands);
    // 64-bit arithmetic would need widths everywhere, and every compiler writes sizes in 32 bits.
    if (type_bytes(words[1]) != 4) return std::nullopt;
    const auto operand = [&](std::size_t index) -> std::optional<std::uint32_t> {
        const auto known = index < operands.size() ? value(operands[index]) : std::nullopt;
        if (!known || *known > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
        return static_cast<std::uint32_t>(*known);
    };
    const auto a = operand(0);
    if (!a) return std::nullopt;
    switch (opcode) {
        case SpvOpUConvert:
        case SpvOpSConvert:
        case SpvOpCopyObject:
            return *a;
        case SpvOpSNegate:
            return 0u - *a;
        case SpvOpNot:
            return ~*a;
        case SpvOpLogicalNot:
            return *a == 0;
        case SpvOpSelect:
            return operand(*a != 0 ? 1 : 2);
        default:
            break;
    }
    const auto b = operand(1);
    return b ? binary(opcode, *a, *b) : std::nullopt;
}

std::optional<std::uint64_t> SpirvModule::extract(Words path) const {
    std::uint32_t id = path.front();
    for (const std::uint32_t index : path.subspan(1)) {
        const auto composite = composites_.find(id);
        if (composite == composites_.end()) return std::nullopt;
        if (index >= composite->second.size()) return std::nullopt;
        id = composite->second[index];
    }
    return value(id);
}

std::optional<std::uint64_t> SpirvModule::value(std::uint32_t id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> SpirvModule::type_bytes(std::uint32_t id) const {
    const auto found = type_bytes_.find(id);
    return found == type_bytes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::array<std::uint32_t, 3>> SpirvModule::three_values(Words ids) const {
    std::array<std::uint32_t, 3> result{};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto known = i < ids.size() ? value(ids[i]) : std::nullopt;
        if (!known) return std::nullopt;
        result[i] = static_cast<std::uint32_t>(*known);
    }
    return result;
}

std::optional<std::array<std::uint32_t, 3>> SpirvModule::local_size(const std::string& entry) const {
    if (workgroup_size_constant_ != 0) {
        const auto constant = composites_.find(workgroup_size_constant_);
        return constant == composites_.end() ? std::nullopt : three_values(constant->second);
    }
    const auto function = entry_functions_.find(entry);
    if (function == entry_functions_.end()) return std::nullopt;
    const auto literals = literal_sizes_.find(function->second);
    return literals == literal_sizes_.end() ? std::nullopt : std::optional(literals->second);
}

std::set<std::uint32_t> SpirvModule::reached_functions(const std::string& entry) const {
    const auto start = entry_functions_.find(entry);
    if (start == entry_functions_.end()) return {};
    std::set<std::uint32_t> reached{start->second};
    std::vector<std::uint32_t> open{start->second};
    while (!open.empty()) {
        const auto function = functions_.find(open.back());
        open.pop_back();
        if (function == functions_.end()) continue;
        for (const std::uint32_t called : function->second.calls)
            if (reached.insert(called).second) open.push_back(called);
    }
    return reached;
}

std::optional<std::uint64_t> SpirvModule::shared_memory_bytes(const std::string& entry) const {
    if (!entry_functions_.contains(entry)) return std::nullopt;
    std::set<std::uint32_t> variables;
    for (const std::uint32_t id : reached_functions(entry))
        if (const auto function = functions_.find(id); function != functions_.end())
            variables.insert(function->second.workgroup_variables.begin(),
                             function->second.workgroup_variables.end());
    std::uint64_t total = 0;
    for (const std::uint32_t variable : variables) {
        const auto bytes = type_bytes(workgroup_types_.at(variable));
        if (!bytes) return std::nullopt;
        total = saturating_sum(total, *bytes);
    }
    return total;
}

}  // namespace weft::core
