// SPDX-License-Identifier: Apache-2.0
#include <weft/program.hpp>

#include <string>

#include <weft/stream.hpp>

#include "core/context.hpp"
#include "core/runtime.hpp"

namespace weft {

namespace {

std::shared_ptr<const core::ProgramObject> make_program(const std::shared_ptr<core::Context>& context,
                                                        std::span<const std::uint32_t> spirv,
                                                        const ProgramOptions& options) {
    context->device.require_usable("Program");
    auto object = std::make_shared<core::ProgramObject>();
    object->context = context;
    object->pipeline = &context->pipelines.get(spirv, options);
    object->name = options.name.empty() ? options.entry : options.name;
    const auto& size = object->pipeline->reflection.local_size;
    object->elements_per_group =
        options.elements_per_group != 0 ? options.elements_per_group : size[0] * size[1] * size[2];
    object->max_groups = options.max_groups;
    const std::uint32_t limit = context->device.snapshot().limits.max_group_count[0];
    if (options.max_groups > limit)
        throw Error(Errc::invalid_argument, "Program: ProgramOptions::max_groups of \"" + object->name +
                                                "\" is beyond the device's x axis (got " +
                                                std::to_string(options.max_groups) + ", need at most " +
                                                std::to_string(limit) + ")");
    return object;
}

}  // namespace

Program::Program(Backend& backend, std::span<const std::uint32_t> spirv, const ProgramOptions& options)
    : object_(make_program(backend.runtime()->context(), spirv, options)) {}

Program::Program(const Stream& stream, std::span<const std::uint32_t> spirv, const ProgramOptions& options)
    : object_(make_program(stream.runtime()->context(), spirv, options)) {}

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
double Program::create_ms() const {
    return object()->pipeline->create_ms;
}

}  // namespace weft
