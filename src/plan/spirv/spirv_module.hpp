// SPDX-License-Identifier: Apache-2.0
// What SPIRV-Cross does not report: values of constant expressions, the workgroup size that they give, and
// the bytes of Workgroup memory that an entry point reaches. One pass over the words without recursion, so
// that long chains of constants and deep call graphs cost no more than their length.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::core {

/// Throws Errc::invalid_shader with the text "Program 'name': what".
[[noreturn]] void refuse_shader(const std::string& name, const std::string& what);

/// Name of a capability as the SPIR-V specification spells it, "capability 1234" if weft does not know it.
std::string capability_name(std::uint32_t capability);

/// The text that starts at words[0]; nothing if no zero byte ends it inside `words`.
std::optional<std::string> literal_string(std::span<const std::uint32_t> words);

/// Calls visit(opcode, words of the instruction) for each instruction. The lengths have been checked.
template <class Visit>
void for_each_instruction(std::span<const std::uint32_t> words, Visit&& visit) {
    for (std::size_t at = 5; at < words.size();) {
        const std::size_t length = words[at] >> 16;
        visit(words[at] & 0xffffu, words.subspan(at, length));
        at += length;
    }
}

/// Index of a valid module; `words` must outlive it.
class SpirvModule {
  public:
    explicit SpirvModule(std::span<const std::uint32_t> words);

    /// Nothing if it depends on an operation that is not evaluated here.
    std::optional<std::array<std::uint32_t, 3>> local_size(const std::string& entry) const;
    /// The sum over the Workgroup variables that the entry point and the functions it calls use, without
    /// padding: a driver needs at least as much. Saturates; nothing if a size is 0 or unknown.
    std::optional<std::uint64_t> shared_memory_bytes(const std::string& entry) const;
    /// The ids of the entry point and of the functions that it calls; empty if there is no such entry point.
    std::set<std::uint32_t> reached_functions(const std::string& entry) const;
    /// Names, in the order of the module.
    const std::vector<std::string>& capabilities() const { return capabilities_; }
    /// Bits of a scalar constant; nothing if it depends on an operation that is not evaluated here.
    std::optional<std::uint64_t> value(std::uint32_t id) const;

  private:
    using Words = std::span<const std::uint32_t>;
    struct Function {
        std::set<std::uint32_t> calls, workgroup_variables;
    };

    void read_global(std::uint32_t opcode, Words words);
    void read_type(std::uint32_t opcode, Words words);
    void read_constant(std::uint32_t opcode, Words words);
    void read_body(std::uint32_t opcode, Words words);
    std::optional<std::uint64_t> operation(Words words) const;
    std::optional<std::uint64_t> extract(Words path) const;
    std::optional<std::uint64_t> type_bytes(std::uint32_t id) const;
    std::optional<std::array<std::uint32_t, 3>> three_values(Words ids) const;

    std::vector<std::string> capabilities_;
    std::unordered_map<std::string, std::uint32_t> entry_functions_;
    std::unordered_map<std::uint32_t, std::array<std::uint32_t, 3>> literal_sizes_;  // by function
    std::uint32_t workgroup_size_constant_ =
        0;  // the constant decorated WorkgroupSize overrides the literals
    std::unordered_map<std::uint32_t, std::uint64_t> values_, type_bytes_;
    std::unordered_map<std::uint32_t, Words> composites_;               // constant -> constituents
    std::unordered_map<std::uint32_t, std::uint32_t> pointees_;         // pointer type -> type
    std::unordered_map<std::uint32_t, std::uint32_t> workgroup_types_;  // variable -> pointee type
    std::unordered_map<std::uint32_t, Function> functions_;
    Function* body_ = nullptr;  // function that is being read
};

}  // namespace weft::core
