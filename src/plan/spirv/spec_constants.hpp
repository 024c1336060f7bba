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

/// Index of a valid module; does not keep the words.
class SpecTable {
  public:
    explicit SpecTable(std::span<const std::uint32_t> words);

    std::vector<SpecConstantInfo> declared() const;  // ascending ids, one entry each
    /// options.constants, then those that options.local_size asks for where the shader leaves an axis open.
    /// Errors: invalid_argument - an id that is not declared, given twice, or not bool or 32 bits wide.
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

/// Refuses an axis that options.local_size wants and the shader has otherwise. Errors: invalid_argument.
void check_local_size(const ProgramOptions& options, const std::array<std::uint32_t, 3>& actual,
                      const std::string& name);

}  // namespace weft::core
