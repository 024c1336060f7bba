// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/spirv_fold.hpp"

#include <spirv_cross/spirv.h>

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/spirv/spirv_module.hpp"

namespace weft::core {
namespace {

using Words = std::span<const std::uint32_t>;

/// What a component of a value was computed from.
using Marks = std::uint8_t;
constexpr Marks kRow = 1;      // y of WorkgroupId or GlobalInvocationId
constexpr Marks kColumns = 2;  // x of NumWorkgroups
/// By component; a scalar is a vector of one. A pointer carries the marks of what it points at.
using Components = std::array<Marks, 4>;

bool is_componentwise(std::uint32_t opcode) {
    switch (opcode) {
        case SpvOpIAdd:
        case SpvOpISub:
        case SpvOpIMul:
        case SpvOpUDiv:
        case SpvOpSDiv:
        case SpvOpUMod:
        case SpvOpSRem:
        case SpvOpSMod:
        case SpvOpBitwiseAnd:
        case SpvOpBitwiseOr:
        case SpvOpBitwiseXor:
        case SpvOpShiftLeftLogical:
        case SpvOpShiftRightLogical:
            return true;
        default:
            return false;
    }
}

/// Follows the marks through a module. Passes are repeated while they find more, because a value may be
/// stored after the place that loads it, and a function may be called before it is defined. Real shaders need
/// two or three passes.
class Tracer {
  public:
    Tracer(Words words, const std::set<std::uint32_t>& functions) : words_(words), functions_(functions) {
        for_each_instruction(words, [this](std::uint32_t opcode, Words w) { read_declaration(opcode, w); });
    }

    bool run() {
        if (!has_row_ || !has_columns_) return false;
        constexpr int kMostPasses = 8;
        for (int pass = 0; pass < kMostPasses && !found_; ++pass) {
            changed_ = false;
            for_each_instruction(words_, [this](std::uint32_t opcode, Words w) { follow(opcode, w); });
            if (!changed_) break;
        }
        return found_;
    }

  private:
    void read_declaration(std::uint32_t opcode, Words w) {
        if (opcode == SpvOpDecorate && w[2] == SpvDecorationBuiltIn) {
            if (w[3] == SpvBuiltInWorkgroupId || w[3] == SpvBuiltInGlobalInvocationId) {
                marks_[w[1]] = {0, kRow, 0, 0};
                has_row_ = true;
            } else if (w[3] == SpvBuiltInNumWorkgroups) {
                marks_[w[1]] = {kColumns, 0, 0, 0};
                has_columns_ = true;
            }
        } else if (opcode == SpvOpTypeVector && w[3] <= 4) {
            vector_sizes_[w[1]] = w[3];
        } else if (opcode == SpvOpConstant && w.size() == 4) {
            constants_[w[2]] = w[3];
        } else if (opcode == SpvOpFunction) {
            function_ = w[2];
        } else if (opcode == SpvOpFunctionParameter) {
            parameters_[function_].push_back(w[2]);
        }
    }

    Components of(std::uint32_t id) const {
        const auto found = marks_.find(id);
        return found == marks_.end() ? Components{} : found->second;
    }

    void mark(std::uint32_t id, const Components& add) {
        if (add == Components{}) return;
        Components& known = marks_[id];
        for (std::size_t i = 0; i < known.size(); ++i) {
            const auto both = static_cast<Marks>(known[i] | add[i]);
            if (both != known[i]) changed_ = true;
            known[i] = both;
        }
    }

    static Components joined(Components a, const Components& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Marks>(a[i] | b[i]);
        return a;
    }

    void follow(std::uint32_t opcode, Words w) {
        if (opcode == SpvOpFunction) function_ = w[2];
        if (!functions_.contains(function_)) return;
        if (is_componentwise(opcode)) return follow_arithmetic(opcode, w);
        switch (opcode) {
            case SpvOpLoad:
            case SpvOpCopyObject:
            case SpvOpUConvert:
            case SpvOpSConvert:
            case SpvOpBitcast:
                return mark(w[2], of(w[3]));
            case SpvOpStore:
                return store(w[1], of(w[2]));
            case SpvOpAccessChain:
            case SpvOpInBoundsAccessChain:
                return follow_chain(w);
            case SpvOpSelect:
                return mark(w[2], joined(of(w[4]), of(w[5])));
            case SpvOpPhi:
                for (std::size_t i = 3; i < w.size(); i += 2) mark(w[2], of(w[i]));
                return;
            case SpvOpCompositeExtract:
                if (w.size() == 5 && w[4] < 4) mark(w[2], {of(w[3])[w[4]], 0, 0, 0});
                return;
            case SpvOpFunctionCall:
                return follow_call(w);
            case SpvOpReturnValue:
                return mark(function_, of(w[1]));  // the function's id stands for what it returns
            default:
                return follow_vector(opcode, w);
        }
    }

    void follow_arithmetic(std::uint32_t opcode, Words w) {
        const Components a = of(w[3]), b = of(w[4]);
        if (opcode == SpvOpIMul)
            for (std::size_t i = 0; i < a.size(); ++i)
                if (((a[i] & kRow) != 0 && (b[i] & kColumns) != 0) ||
                    ((b[i] & kRow) != 0 && (a[i] & kColumns) != 0))
                    found_ = true;
        mark(w[2], joined(a, b));
    }

    void follow_vector(std::uint32_t opcode, Words w) {
        Components made{};
        if (opcode == SpvOpVectorShuffle && w[3] == w[4]) {
            // A swizzle. Shuffles of two vectors would need their sizes.
            for (std::size_t i = 5; i < w.size() && i < 9; ++i)
                if (w[i] < 4) made[i - 5] = of(w[3])[w[i]];
            mark(w[2], made);
        } else if (opcode == SpvOpCompositeConstruct) {
            const auto size = vector_sizes_.find(w[1]);
            if (size == vector_sizes_.end() || w.size() - 3 != size->second) return;  // of vectors
            for (std::size_t i = 3; i < w.size(); ++i) made[i - 3] = of(w[i])[0];
            mark(w[2], made);
        }
    }

    void follow_chain(Words w) {
        if (w.size() != 5) return;
        const auto index = constants_.find(w[4]);
        if (index == constants_.end() || index->second > 3) return;
        members_[w[2]] = {w[3], index->second};
        mark(w[2], {of(w[3])[index->second], 0, 0, 0});
    }

    void store(std::uint32_t pointer, const Components& value) {
        mark(pointer, value);
        const auto member = members_.find(pointer);
        if (member == members_.end()) return;
        Components whole{};
        whole[member->second.second] = value[0];
        mark(member->second.first, whole);
    }

    void follow_call(Words w) {
        const auto callee = parameters_.find(w[3]);
        if (callee != parameters_.end())
            for (std::size_t i = 0; i < callee->second.size() && i + 4 < w.size(); ++i)
                mark(callee->second[i], of(w[i + 4]));
        mark(w[2], of(w[3]));
    }

    Words words_;
    const std::set<std::uint32_t>& functions_;
    std::unordered_map<std::uint32_t, Components> marks_;
    std::unordered_map<std::uint32_t, std::uint32_t> constants_, vector_sizes_;           // by type
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> members_;  // -> base, index
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> parameters_;            // by function
    std::uint32_t function_ = 0;
    bool has_row_ = false, has_columns_ = false, changed_ = false, found_ = false;
};

}  // namespace

bool folds_rows(std::span<const std::uint32_t> words, const std::set<std::uint32_t>& functions) {
    return Tracer(words, functions).run();
}

}  // namespace weft::core
