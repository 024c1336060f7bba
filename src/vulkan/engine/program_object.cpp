// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/program_object.hpp"

#include "vulkan/context/context.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::core {

WorkgroupGrid ProgramObject::workgroups(std::uint64_t elements) const {
    const DeviceLimits& limits = context->device.snapshot().limits;
    if (const auto grid = plan_workgroups(elements, workgroup_rule, limits)) return *grid;
    throw Error(Errc::invalid_argument, too_many_workgroups(name, elements, workgroup_rule, limits));
}

ProgramNeeds needs_of(const ProgramObject& program) {
    const Reflection& reflection = program.pipeline->reflection;
    const WorkgroupRule& rule = program.workgroup_rule;
    return {reflection.bindings,        reflection.push_constant_bytes, rule.elements_per_workgroup,
            rule.max_workgroups,        program.name.c_str(),           rule.folds,
            rule.workgroups_per_element};
}

void require_same_backend(const BackendState& backend_state, const ProgramObject& program, const char* what) {
    if (program.context != backend_state.context())
        throw Error(Errc::invalid_argument,
                    std::string(what) + ": program \"" + program.name +
                        "\" belongs to another backend (need one made with this backend)");
}

}  // namespace weft::core
