// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/spirv_matrix.hpp"

#include <spirv_cross/spirv.h>

#include <set>
#include <string>

#include "plan/spirv/spirv_module.hpp"

namespace weft::core {
namespace {

using Words = std::span<const std::uint32_t>;

// Numbers of SPV_KHR_cooperative_matrix.
constexpr std::uint32_t kTypeKhr = 4456, kLoadKhr = 4457, kStoreKhr = 4458, kMulAddKhr = 4459,
                        kLengthKhr = 4460;

bool is_matrix_extension(Words words) {
    const auto name = literal_string(words.subspan(1));
    return name == "SPV_KHR_cooperative_matrix" || name == "SPV_NV_cooperative_matrix";
}

/// Instructions that treat a value as a whole. They are valid for arrays too.
bool moves_values(std::uint32_t opcode) {
    switch (opcode) {
        case SpvOpLoad:
        case SpvOpVariable:
        case SpvOpPhi:
        case SpvOpUndef:
        case SpvOpConstantNull:
        case SpvOpCopyObject:
        case SpvOpFunction:
        case SpvOpFunctionParameter:
        case SpvOpFunctionCall:
            return true;
        default:
            return false;
    }
}

class MatrixRemover {
  public:
    explicit MatrixRemover(Words words) : out_(words.begin(), words.begin() + 5) {
        for_each_instruction(words,
                             [this](std::uint32_t opcode, Words instruction) { take(opcode, instruction); });
    }
    std::vector<std::uint32_t> result() && { return std::move(out_); }

  private:
    void take(std::uint32_t opcode, Words words) {
        if (opcode == SpvOpCapability && words.size() > 1 &&
            (words[1] == kCapabilityCooperativeMatrixKhr || words[1] == SpvCapabilityCooperativeMatrixNV))
            return;
        if (opcode == SpvOpExtension && is_matrix_extension(words)) return;
        if (opcode == kStoreKhr || opcode == SpvOpCooperativeMatrixStoreNV) return;
        if ((opcode == kTypeKhr || opcode == SpvOpTypeCooperativeMatrixNV) && words.size() > 4) {
            // An array with as many elements as the matrix has rows: that number is already a constant of the
            // module.
            types_.insert(words[1]);
            emit(SpvOpTypeArray, {words[1], words[2], words[4]});
        } else if (opcode == kLengthKhr || opcode == SpvOpCooperativeMatrixLengthNV || opcode == kLoadKhr ||
                   opcode == SpvOpCooperativeMatrixLoadNV || opcode == kMulAddKhr ||
                   opcode == SpvOpCooperativeMatrixMulAddNV || makes_matrix(opcode, words)) {
            const bool constant = opcode == SpvOpConstantComposite || opcode == SpvOpSpecConstantComposite;
            if (words.size() > 2) emit(constant ? SpvOpConstantNull : SpvOpUndef, {words[1], words[2]});
        } else {
            out_.insert(out_.end(), words.begin(), words.end());
        }
    }

    /// Whether word 1 is a result type that is a matrix, and the operation would not be valid for an array.
    bool makes_matrix(std::uint32_t opcode, Words words) const {
        // No instruction after the types has a type for word 1 and no result.
        return words.size() > 2 && types_.contains(words[1]) && !moves_values(opcode);
    }

    void emit(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
        out_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | opcode);
        out_.insert(out_.end(), operands.begin(), operands.end());
    }

    std::vector<std::uint32_t> out_;
    std::set<std::uint32_t> types_;
};

}  // namespace

std::vector<std::uint32_t> without_matrices(std::span<const std::uint32_t> words) {
    bool found = false;
    for_each_instruction(words, [&](std::uint32_t opcode, Words instruction) {
        found = found || (opcode == SpvOpCapability && instruction.size() > 1 &&
                          (instruction[1] == kCapabilityCooperativeMatrixKhr ||
                           instruction[1] == SpvCapabilityCooperativeMatrixNV));
    });
    if (!found) return {words.begin(), words.end()};
    return MatrixRemover(words).result();
}

}  // namespace weft::core
