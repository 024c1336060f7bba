// SPDX-License-Identifier: Apache-2.0
// Also completes weft/program.hpp.
#include "vulkan/engine/program.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <weft/program.hpp>
#include <weft/stream.hpp>

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
    return {reflection.bindings,         reflection.push_constant_bytes, rule.elements_per_workgroup,
            rule.max_workgroups,         program.name.c_str(),           rule.folds,
            rule.workgroups_per_element, &reflection.first_parameter};
}

const std::shared_ptr<const ProgramObject>& program_for(const BackendState& backend_state,
                                                        const Program& program, const char* what) {
    const std::shared_ptr<const ProgramObject>& first = detail::Access::object(program);
    if (first->context == backend_state.context()) return first;
    if (const auto& others = detail::Access::list(program))
        for (const std::shared_ptr<const ProgramObject>& object : *others)
            if (object->context == backend_state.context()) return object;
    throw Error(Errc::invalid_argument,
                std::string(what) + ": program \"" + first->name +
                    "\" belongs to another backend (need one made with this backend)");
}

Program combined(const std::vector<Program>& programs) {
    auto others = std::make_shared<std::vector<std::shared_ptr<const ProgramObject>>>();
    for (std::size_t i = 1; i < programs.size(); ++i) others->push_back(detail::Access::object(programs[i]));
    return detail::Access::make<Program>(
        detail::Access::object(programs.at(0)),
        std::shared_ptr<const std::vector<std::shared_ptr<const ProgramObject>>>(std::move(others)));
}

}  // namespace weft::core

namespace weft {
namespace {

std::shared_ptr<const core::ProgramObject> make_program(const std::shared_ptr<core::Context>& context,
                                                        std::span<const std::uint32_t> spirv,
                                                        const ProgramOptions& options) {
    context->device.require_usable("Program");
    auto object = std::make_shared<core::ProgramObject>();
    object->context = context;
    object->pipeline = &context->pipelines.get(spirv, options);
    object->name = core::name_of(options);
    const core::Reflection& reflection = object->pipeline->reflection;
    const auto& size = reflection.local_size;
    const std::uint32_t invocations = size[0] * size[1] * size[2];  // within the device's limit
    object->workgroup_rule = {
        options.elements_per_workgroup != 0 ? options.elements_per_workgroup : invocations,
        options.max_workgroups, reflection.folds, invocations, std::max(1u, options.workgroups_per_element)};
    object->subgroup_size = options.subgroup_size;
    object->operations = options.operations_per_element;
    const std::uint64_t limit =
        core::most_workgroups(object->workgroup_rule, context->device.snapshot().limits);
    if (options.max_workgroups > limit)
        throw Error(Errc::invalid_argument, "Program: ProgramOptions::max_workgroups of \"" + object->name +
                                                "\" is beyond the device's " +
                                                (reflection.folds ? "x and y axes" : "x axis") + " (got " +
                                                std::to_string(options.max_workgroups) + ", need at most " +
                                                std::to_string(limit) + ")");
    return object;
}

}  // namespace

Program::Program(Backend& backend, std::span<const std::uint32_t> spirv, const ProgramOptions& options)
    : object_(make_program(detail::Access::backend_state(backend)->context(), spirv, options)) {}

Program::Program(const Stream& stream, std::span<const std::uint32_t> spirv, const ProgramOptions& options)
    : object_(make_program(detail::Access::backend_state(stream)->context(), spirv, options)) {}

const std::string& Program::name() const {
    return object()->name;
}
std::span<const Binding> Program::bindings() const {
    return object()->pipeline->reflection.bindings;
}
std::uint32_t Program::push_constant_bytes() const {
    return object()->pipeline->reflection.push_constant_bytes;
}
std::array<std::uint32_t, 3> Program::local_size() const {
    return object()->pipeline->reflection.local_size;
}
const Binding& Program::binding(std::string_view name) const {
    std::string others;
    for (const Binding& binding : bindings()) {
        if (binding.name == name) return binding;
        others += (others.empty() ? "" : "; ") + core::listed_binding(binding);
    }
    throw Error(Errc::invalid_argument,
                "Program '" + object()->name + "': no binding has that name (got \"" + std::string(name) +
                    "\", need one of: " + (others.empty() ? "no bindings" : others) + ")");
}
std::span<const SpecConstantInfo> Program::spec_constants() const {
    return object()->pipeline->reflection.spec_constants;
}
std::uint32_t Program::subgroup_size() const {
    return object()->subgroup_size;
}
bool Program::folds() const {
    return object()->workgroup_rule.folds;
}
double Program::create_s() const {
    return object()->pipeline->create_s;
}

}  // namespace weft
