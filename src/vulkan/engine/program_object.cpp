// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/program_object.hpp"

#include "vulkan/context/context.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::core {

GroupGrid ProgramObject::groups(std::uint64_t elements) const {
    const DeviceLimits& limits = context->device.snapshot().limits;
    if (const auto grid = plan_groups(elements, group_rule, limits)) return *grid;
    throw Error(Errc::invalid_argument, too_many_groups(name, elements, group_rule, limits));
}

ProgramShape shape_of(const ProgramObject& program) {
    const Reflection& reflection = program.pipeline->reflection;
    const GroupRule& rule = program.group_rule;
    return {reflection.bindings,    reflection.push_constant_bytes, rule.elements_per_group,
            rule.max_groups,        program.name.c_str(),           rule.folds,
            rule.groups_per_element};
}

void require_same_backend(const Runtime& runtime, const ProgramObject& program, const char* what) {
    if (program.context != runtime.context())
        throw Error(Errc::invalid_argument,
                    std::string(what) + ": program \"" + program.name +
                        "\" belongs to another backend (need one made with this backend)");
}

}  // namespace weft::core
