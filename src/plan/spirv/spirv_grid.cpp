// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/spirv_grid.hpp"

#include <spirv_cross/spirv.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <unordered_map>

#include "plan/spirv/spirv_module.hpp"

namespace weft::core {
namespace {

using Words = std::span<const std::uint32_t>;
using Id = std::uint32_t;

constexpr std::uint32_t kGridBytes = 12;

bool contains(Words words, Id id) {
    return std::find(words.begin(), words.end(), id) != words.end();
}

/// What a first pass finds out.
struct Facts {
    Id grid = 0;                // the variable that is NumWorkgroups; 0: there is none
    Id grid_pointer = 0;        // its type
    Id vector = 0, number = 0;  // uvec3 and uint, the types that it points at
    Id block = 0;               // the variable of the push constants; 0: there is none
    Id block_pointer = 0, block_type = 0;
    std::uint32_t members = 0;  // of block_type
    std::size_t blocks = 0, block_pointers = 0;
    std::unordered_map<Id, Id> pointees;                   // of pointer types
    std::unordered_map<Id, Id> vector_parts;               // of vector types
    std::unordered_map<Id, std::uint32_t> storage;         // of pointer types
    std::unordered_map<Id, std::uint32_t> struct_members;  // of struct types
    bool follows = true;                                   // nothing was found that is not followed
};

void read_global(Facts& facts, std::uint32_t opcode, Words w) {
    switch (opcode) {
        case SpvOpDecorate:
            if (w.size() > 3 && w[2] == SpvDecorationBuiltIn && w[3] == SpvBuiltInNumWorkgroups) {
                facts.follows = facts.follows && facts.grid == 0;
                facts.grid = w[1];
            }
            return;
        case SpvOpTypePointer:
            facts.pointees[w[1]] = w[3];
            facts.storage[w[1]] = w[2];
            return;
        case SpvOpTypeVector:
            facts.vector_parts[w[1]] = w[2];
            return;
        case SpvOpTypeStruct:
            facts.struct_members[w[1]] = static_cast<std::uint32_t>(w.size() - 2);
            return;
        case SpvOpVariable:
            if (w[2] == facts.grid) facts.grid_pointer = w[1];
            if (w[3] != SpvStorageClassPushConstant) return;
            ++facts.blocks;
            facts.block = w[2];
            facts.block_pointer = w[1];
            return;
        default:
            return;
    }
}

/// The block gets a member, so no value of its type may be made, held or contained elsewhere.
bool uses_block_type(const Facts& facts, std::uint32_t opcode, Words w) {
    switch (opcode) {
        case SpvOpTypeStruct:
        case SpvOpTypeArray:
        case SpvOpTypeRuntimeArray:
        case SpvOpTypeFunction:
            return contains(w.subspan(2), facts.block_type);
        case SpvOpTypePointer:
            return w[3] == facts.block_type && w[1] != facts.block_pointer;
        case SpvOpLoad:
        case SpvOpUndef:
        case SpvOpConstantNull:
        case SpvOpConstantComposite:
        case SpvOpSpecConstantComposite:
        case SpvOpCompositeConstruct:
        case SpvOpCopyObject:
        case SpvOpCopyLogical:
        case SpvOpPhi:
        case SpvOpSelect:
        case SpvOpFunctionCall:
        case SpvOpFunctionParameter:
            return w[1] == facts.block_type;
        default:
            return false;
    }
}

/// Whether an instruction of a function uses a pointer to the grid only as it is rewritten: it loads the
/// whole, or makes a pointer to a component, which goes to `parts` and may only be loaded.
bool follows_grid(const Facts& facts, std::set<Id>& parts, std::uint32_t opcode, Words w) {
    if (opcode == SpvOpLoad) return true;
    if ((opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain) && w[3] == facts.grid) {
        parts.insert(w[2]);
        return w.size() == 5;
    }
    // Operands that are literals may look like the id, which costs a dispatch that is not cut.
    if (contains(w.subspan(1), facts.grid)) return false;
    return std::none_of(parts.begin(), parts.end(), [&](Id part) { return contains(w.subspan(1), part); });
}

Facts facts_of(Words words) {
    Facts facts;
    std::set<Id> parts;
    bool in_functions = false;
    for_each_instruction(words, [&](std::uint32_t opcode, Words w) {
        if (opcode == SpvOpFunction && !in_functions) {
            in_functions = true;
            const Id type = facts.pointees[facts.grid_pointer];
            facts.vector = type;
            facts.number = facts.vector_parts[type];
            if (facts.block != 0) facts.block_type = facts.pointees[facts.block_pointer];
            facts.members = facts.block != 0 ? facts.struct_members[facts.block_type] : 0;
        }
        if (!in_functions) return read_global(facts, opcode, w);
        if (facts.grid != 0) facts.follows = facts.follows && follows_grid(facts, parts, opcode, w);
    });
    if (facts.grid == 0) return facts;
    facts.follows = facts.follows && facts.vector != 0 && facts.number != 0 && facts.blocks <= 1 &&
                    (facts.block == 0 || facts.members != 0);
    if (facts.block == 0 || !facts.follows) return facts;
    for_each_instruction(words, [&](std::uint32_t opcode, Words w) {
        if (uses_block_type(facts, opcode, w)) facts.follows = false;
    });
    return facts;
}

/// Writes the module anew.
class GridRewriter {
  public:
    GridRewriter(Words words, const Facts& facts, std::uint32_t offset)
        : words_(words), facts_(facts), offset_(offset), out_(words.begin(), words.begin() + 5) {
        block_type_ = facts.block != 0 ? facts.block_type : new_id();
        block_ = facts.block != 0 ? facts.block : new_id();
        vector_pointer_ = new_id();
        number_pointer_ = new_id();
        member_ = new_id();
        for (const auto& [pointer, pointee] : facts.pointees) {
            if (facts.storage.at(pointer) != SpvStorageClassPushConstant) continue;
            if (pointee == facts.vector) vector_pointer_ = pointer, has_vector_pointer_ = true;
            if (pointee == facts.number) number_pointer_ = pointer, has_number_pointer_ = true;
        }
    }

    std::vector<std::uint32_t> run() {
        for_each_instruction(words_, [this](std::uint32_t opcode, Words w) { rewrite(opcode, w); });
        return std::move(out_);
    }

  private:
    Id new_id() { return out_[3]++; }

    void emit(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
        out_.push_back((static_cast<std::uint32_t>(operands.size() + 1) << 16) | opcode);
        out_.insert(out_.end(), operands.begin(), operands.end());
    }
    void copy(Words w) { out_.insert(out_.end(), w.begin(), w.end()); }
    void copy_with(Words w, std::uint32_t more) {
        const std::size_t at = out_.size();
        copy(w);
        out_.push_back(more);
        out_[at] += 1u << 16;
    }

    static bool declares(std::uint32_t opcode) {
        return (opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeForwardPointer) || opcode == SpvOpUndef ||
               (opcode >= SpvOpConstantTrue && opcode <= SpvOpSpecConstantOp) || opcode == SpvOpVariable;
    }

    void rewrite(std::uint32_t opcode, Words w) {
        if (opcode == SpvOpFunction) in_functions_ = true;
        if (in_functions_) return rewrite_function(opcode, w);
        if (opcode == SpvOpEntryPoint && facts_.block == 0 && words_[1] >= 0x10400)
            return copy_with(w, block_);  // from SPIR-V 1.4 on it lists all variables
        if (declares(opcode) && !begun_) begin_types();
        // Types are declared before the block that contains them.
        if ((opcode == SpvOpTypeInt && w[1] == facts_.number) ||
            (opcode == SpvOpTypeVector && w[1] == facts_.vector))
            return;
        if (opcode == SpvOpTypeStruct && facts_.block != 0 && w[1] == facts_.block_type)
            return copy_with(w, facts_.vector);
        copy(w);
    }

    void begin_types() {
        begun_ = true;
        if (facts_.block == 0) emit(SpvOpDecorate, {block_type_, SpvDecorationBlock});
        emit(SpvOpMemberDecorate, {block_type_, facts_.members, SpvDecorationOffset, offset_});
        for_each_instruction(words_, [this](std::uint32_t opcode, Words w) {
            if (opcode == SpvOpTypeInt && w[1] == facts_.number) copy(w);
        });
        emit(SpvOpTypeVector, {facts_.vector, facts_.number, 3});
    }

    void end_globals() {
        ended_ = true;
        if (!has_vector_pointer_)
            emit(SpvOpTypePointer, {vector_pointer_, SpvStorageClassPushConstant, facts_.vector});
        if (!has_number_pointer_)
            emit(SpvOpTypePointer, {number_pointer_, SpvStorageClassPushConstant, facts_.number});
        emit(SpvOpConstant, {facts_.number, member_, facts_.members});
        if (facts_.block != 0) return;
        const Id pointer = new_id();
        emit(SpvOpTypeStruct, {block_type_, facts_.vector});
        emit(SpvOpTypePointer, {pointer, SpvStorageClassPushConstant, block_type_});
        emit(SpvOpVariable, {pointer, block_, SpvStorageClassPushConstant});
    }

    void rewrite_function(std::uint32_t opcode, Words w) {
        if (!ended_) end_globals();
        if (opcode == SpvOpLoad && w[3] == facts_.grid) {
            const Id pointer = new_id();
            emit(SpvOpAccessChain, {vector_pointer_, pointer, block_, member_});
            emit(SpvOpLoad, {w[1], w[2], pointer});
        } else if ((opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain) &&
                   w[3] == facts_.grid) {
            emit(SpvOpAccessChain, {number_pointer_, w[2], block_, member_, w[4]});
        } else {
            copy(w);
        }
    }

    Words words_;
    const Facts& facts_;
    std::uint32_t offset_;
    std::vector<std::uint32_t> out_;
    Id block_type_ = 0, block_ = 0, vector_pointer_ = 0, number_pointer_ = 0, member_ = 0;
    bool has_vector_pointer_ = false, has_number_pointer_ = false;
    bool begun_ = false, ended_ = false, in_functions_ = false;
};

}  // namespace

std::optional<GridModule> with_pushed_grid(std::span<const std::uint32_t> words, std::uint32_t block_bytes,
                                           std::uint32_t most_bytes) {
    const Facts facts = facts_of(words);
    if (facts.grid == 0) return GridModule{{words.begin(), words.end()}, std::nullopt};
    const std::uint32_t offset = (block_bytes + 15) / 16 * 16;  // a vector of three begins at 16 bytes
    if (!facts.follows || offset + kGridBytes > most_bytes) return std::nullopt;
    return GridModule{GridRewriter(words, facts, offset).run(), offset};
}

}  // namespace weft::core
