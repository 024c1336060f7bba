// SPDX-License-Identifier: Apache-2.0
// The object behind a weft::Program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/program.hpp>

#include "plan/work/batch_check.hpp"
#include "plan/work/dispatch_plan.hpp"
#include "vulkan/device/pipeline_cache.hpp"

namespace weft::core {

class Context;
class BackendState;

/// Shared by every copy of a Program.
struct ProgramObject {
    std::shared_ptr<Context> context;
    const Pipeline* pipeline = nullptr;
    std::string name;
    WorkgroupRule workgroup_rule;
    std::uint32_t subgroup_size = 0;
    double operations = 0;  // of an element; 0: unknown

    /// Workgroups for a dispatch of `elements`. Errors: invalid_argument - more than one dispatch can have.
    WorkgroupGrid workgroups(std::uint64_t elements) const;
};

ProgramNeeds needs_of(const ProgramObject& program);
/// The object of `program` for that backend. Errors: invalid_argument - the program was made for another one.
const std::shared_ptr<const ProgramObject>& program_for(const BackendState& backend_state,
                                                        const Program& program, const char* what);
/// One Program of several that were made from the same SPIR-V, one a device.
Program combined(const std::vector<Program>& programs);

}  // namespace weft::core
