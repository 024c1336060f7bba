// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: programs.
#include <span>

#include "capi/arrays.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// Errors: invalid_argument - NULL with a number.
template <class T>
std::span<const T> list_of(const char* function, const char* name, const T* first, std::uint64_t count) {
    if (count == 0) return {};
    return {&given(function, name, first), static_cast<std::size_t>(count)};
}

weft::ProgramOptions options_of(const char* function, const weft_program_options* options) {
    const weft_program_options given_options = read_options(function, "weft_program_options", options);
    weft::ProgramOptions all;
    all.name = text_of(given_options.name);
    if (given_options.entry != nullptr) all.entry = given_options.entry;
    for (const weft_constant& constant : list_of(function, "weft_program_options.constants",
                                                 given_options.constants, given_options.constant_count)) {
        require_reserved(function, "weft_constant", constant.reserved);
        weft::SpecConstant value(constant.id, constant.bits);
        value.floating = flag_of(function, "weft_constant.floating", constant.floating);
        all.constants.push_back(value);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) all.local_size[axis] = given_options.local_size[axis];
    all.elements_per_workgroup = given_options.elements_per_workgroup;
    all.max_workgroups = given_options.max_workgroups;
    all.workgroups_per_element = given_options.workgroups_per_element;
    all.operations_per_element = given_options.operations_per_element;
    const auto written = list_of(function, "weft_program_options.written_first", given_options.written_first,
                                 given_options.written_first_count);
    all.written_first.assign(written.begin(), written.end());
    all.subgroup_size = given_options.subgroup_size;
    all.require_full_subgroups = flag_of(function, "weft_program_options.require_full_subgroups",
                                         given_options.require_full_subgroups);
    return all;
}

}  // namespace

weft_status weft_program_create(weft_backend* backend, weft_const_span words,
                                const weft_program_options* options, weft_program** program) {
    constexpr const char* kName = "weft_program_create";
    const Uses uses(backend);
    return create(kName, program, [&] {
        return on_devices(kName, backend, [&](auto& owner) {
            return weft::Program(owner, span_of<std::uint32_t>(kName, "words", words),
                                 options_of(kName, options));
        });
    });
}

WEFT_DEFINE_HANDLE(weft_program)

weft_status weft_program_describe(const weft_program* program, weft_program_info* info) {
    constexpr const char* kName = "weft_program_describe";
    const Uses uses(program);
    return guarded(kName, [&] {
        const weft::Program& object = given(kName, "program", program).object;
        weft_program_info all{};
        all.bindings = static_cast<std::uint32_t>(object.bindings().size());
        all.name = object.name().c_str();
        all.push_constant_bytes = object.push_constant_bytes();
        for (std::size_t axis = 0; axis < 3; ++axis) all.local_size[axis] = object.local_size()[axis];
        all.subgroup_size = object.subgroup_size();
        all.folds = object.folds() ? 1 : 0;
        all.create_s = object.create_s();
        write_report(kName, "weft_program_info", all, info);
    });
}

weft_status weft_program_binding(const weft_program* program, uint64_t at, weft_binding* binding) {
    constexpr const char* kName = "weft_program_binding";
    const Uses uses(program);
    return guarded(kName, [&] {
        const std::span<const weft::Binding> bindings = given(kName, "program", program).object.bindings();
        if (at >= bindings.size())
            refuse(std::string(kName) + ": no such binding (got " + std::to_string(at) + ", need below " +
                   std::to_string(bindings.size()) + ")");
        const weft::Binding& found = bindings[static_cast<std::size_t>(at)];
        weft_binding all{};
        all.binding = found.binding;
        all.name = found.name.c_str();
        all.access = static_cast<weft_access>(found.access);
        all.least_bytes = found.least_bytes;
        write_report(kName, "weft_binding", all, binding);
    });
}
