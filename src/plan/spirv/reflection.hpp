// SPDX-License-Identifier: Apache-2.0
// What a SPIR-V module needs and binds, and whether a device accepts it. Checked before the driver gets the
// words, because drivers crash on invalid SPIR-V.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/job.hpp>
#include <weft/program.hpp>

#include "plan/device/device_plan.hpp"

namespace weft::core {

/// The number that begins at byte 8 of the push-constant block, where the caller's parameters begin.
struct FirstParameter {
    std::string name;    // may be empty
    bool known = false;  // there is one
    bool floating = false;
    std::uint32_t bytes = 0;
};

struct Reflection {
    std::vector<Binding> bindings;  // ascending
    std::uint32_t push_constant_bytes = 0;
    FirstParameter first_parameter;
    std::array<std::uint32_t, 3> local_size{};     // with the given specialization
    std::vector<SpecConstantInfo> spec_constants;  // declared by the module
    std::vector<SpecConstant> constants;           // chosen: those of `constants` and of `local_size`
    std::vector<std::string> capabilities;         // names, e.g. "Int64"
    std::uint64_t shared_memory_bytes = 0;         // Workgroup variables of the entry point
    bool folds = false;                            // takes its index from both axes of a dispatch
};

/// For reports and error texts: ProgramOptions::name, or the entry point.
inline const std::string& name_of(const ProgramOptions& options) {
    return options.name.empty() ? options.entry : options.name;
}
/// For error texts: `binding 1 "y"`, or `binding 1, write` where the SPIR-V has no names.
std::string binding_text(const Binding& binding);
/// For lists: `binding 1 "y", write`, or `binding 1, write`.
std::string listed_binding(const Binding& binding);
/// Why a range of `bytes` is refused: "range is shorter than the shader's block (got 4 bytes, need 8)".
std::string shorter_than_block(std::uint64_t bytes, const Binding& binding);

/// Why parameters that are a single number are refused: "parameters are another kind of number than the
/// shader's member "a" (got an integer of 4 bytes, ..". Empty if they may be taken.
std::string unlike_parameter(const Parameters& given, const FirstParameter& need);

/// Checks magic, version, instruction lengths, entry point and execution model, without a library.
/// Errors: invalid_shader - the text says which check failed, with what was found.
void check_spirv_words(std::span<const std::uint32_t> words, const std::string& entry,
                       const std::string& name);

/// Interface of `entry` with `constants` applied. Errors: invalid_shader - check_spirv_words, a resource
/// other than a storage buffer in set 0 (named), SPIR-V the reflection library rejects; invalid_argument -
/// those of SpecTable::chosen and check_local_size.
Reflection reflect(std::span<const std::uint32_t> words, const ProgramOptions& options);

/// Errors: unsupported - a capability whose feature the device lacks (both named); invalid_shader - more
/// bindings, push constants, shared memory or a larger workgroup than the device allows (limit and value in
/// the text).
void check_device(const Reflection& reflection, const DeviceSnapshot& device, const std::string& name);

/// Errors: unsupported - subgroup size or full subgroups asked for where the plan has neither;
/// invalid_argument - a size that is no power of two or outside the device's range, a workgroup that is no
/// multiple of it along x where subgroups must be full, or of more subgroups than the device runs
/// simultaneously.
void check_subgroups(const ProgramOptions& options, const Reflection& reflection,
                     const DeviceSnapshot& device, const DevicePlan& plan, const std::string& name);

}  // namespace weft::core
