// SPDX-License-Identifier: Apache-2.0
// The specialization constants of a module: what it declares, what a caller chose. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/program.hpp>

namespace weft::core {

class SpirvModule;

/// Index of a valid module; does not keep the words.
class SpecTable {
  public:
    explicit SpecTable(std::span<const std::uint32_t> words);

    std::vector<SpecConstantInfo> declared() const;  // ascending ids, one entry each
    /// options.constants, then those that options.local_size asks for where the shader leaves an axis open.
    /// Errors: invalid_argument - an id that is not declared, given twice, not bool or 32 bits wide, or a
    /// float where the other is none.
    std::vector<SpecConstant> chosen(const ProgramOptions& options, const std::string& name) const;
    /// Writes the values into the module as defaults, so that every later reader sees sizes as they will be.
    void apply(std::span<const SpecConstant> chosen, std::vector<std::uint32_t>& words) const;

  private:
    struct Target {
        std::size_t position = 0;  // word of the defining instruction
        std::uint32_t bits = 0;    // width; 1: bool
        SpecConstantInfo info;
    };
    void check(const SpecConstant& constant, const std::string& name) const;

    std::multimap<std::uint32_t, Target> targets_;                    // by SpecId; several may share one
    std::array<std::optional<std::uint32_t>, 3> workgroup_size_ids_;  // SpecId of each axis left open
};

/// Whether values of constants decide if the module is valid: they size an array of a block, or any array in
/// an impossible way, or are an operand of a subgroup operation. `module` is the index of `words`.
bool constants_decide(std::span<const std::uint32_t> words, const SpirvModule& module);

/// The module with every specialization constant, and every 32-bit or bool expression of such constants that
/// SpirvModule evaluates, as an ordinary constant of its present value. `module` is the index of `words`.
std::vector<std::uint32_t> frozen(std::span<const std::uint32_t> words, const SpirvModule& module);

/// Refuses an axis that options.local_size wants and the shader has otherwise. Errors: invalid_argument.
void check_local_size(const ProgramOptions& options, const std::array<std::uint32_t, 3>& actual,
                      const std::string& name);

}  // namespace weft::core
