// SPDX-License-Identifier: Apache-2.0
// The object behind a weft::Program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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
/// Errors: invalid_argument - the program was made for another backend.
void require_same_backend(const BackendState& backend_state, const ProgramObject& program, const char* what);

}  // namespace weft::core
