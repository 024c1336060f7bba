// SPDX-License-Identifier: Apache-2.0
// Program: a compute shader that is ready to run. Job: the arrays that it runs over.
#include "program.hpp"

#include <cstring>
#include <optional>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "calls.hpp"
#include "devices.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

/// Parameters takes its size from a type, so there is one type for each size that a block can have.
template <std::size_t... Words>
Parameters of_words(const void* bytes, std::size_t words, std::index_sequence<Words...>) {
    Parameters parameters;
    const auto take = [&]<std::size_t N>() {
        std::array<std::uint32_t, N> values;
        std::memcpy(values.data(), bytes, sizeof(values));
        parameters = values;
    };
    ((words == Words + 1 ? take.template operator()<Words + 1>() : void()), ...);
    return parameters;
}

}  // namespace

Parameters parameters_of(const char* call, const nb::bytes& bytes) {
    if (bytes.size() > kMaxParameterBytes || bytes.size() % 4 != 0)
        refuse(std::string(call) + ": parameters are 32-bit words (got " + std::to_string(bytes.size()) +
               " bytes, need a multiple of 4, at most " + std::to_string(kMaxParameterBytes) + ")");
    return of_words(bytes.c_str(), bytes.size() / 4, std::make_index_sequence<kMaxParameterBytes / 4>());
}

namespace {

SpecConstant constant_of(std::uint32_t id, nb::handle value) {
    if (PyBool_Check(value.ptr())) return {id, nb::cast<bool>(value)};
    if (PyFloat_Check(value.ptr())) return {id, static_cast<float>(nb::cast<double>(value))};
    std::int64_t number = 0;
    if (!PyIndex_Check(value.ptr()) || !nb::try_cast(value, number))
        refuse_type("Program: constants: " + std::to_string(id) + ": wrong type (got " + name_of_type(value) +
                    ", need bool, int of 32 bits or float)");
    if (number < INT32_MIN || number > UINT32_MAX)
        refuse("Program: constant " + std::to_string(id) + " has more than 32 bits (got " +
               std::to_string(number) + ")");
    return {id, static_cast<std::uint32_t>(number)};
}

Program make_program(nb::handle backend, nb::handle spirv, const std::string& name, const std::string& entry,
                     const nb::typed<nb::dict, int, nb::object>& constants,
                     const std::array<std::uint32_t, 3>& local_size, std::uint32_t elements_per_workgroup,
                     std::uint32_t max_workgroups, std::uint32_t workgroups_per_element) {
    const Array words = input("Program", "spirv", spirv, {kUint32, kUint8});
    if (words.bytes() % 4 != 0)
        refuse("Program: SPIR-V consists of 32-bit words (got " + std::to_string(words.bytes()) + " bytes)");
    ProgramOptions options{.name = name,
                           .entry = entry,
                           .local_size = local_size,
                           .elements_per_workgroup = elements_per_workgroup,
                           .max_workgroups = max_workgroups,
                           .workgroups_per_element = workgroups_per_element};
    for (const auto& [id, value] : constants) {
        std::uint32_t number = 0;
        if (!nb::try_cast(id, number))
            refuse_type("Program: constants: wrong id (got " + nb::cast<std::string>(nb::repr(id)) +
                        ", need an int, the constant_id of the shader)");
        options.constants.push_back(constant_of(number, value));
    }
    std::vector<std::uint32_t> module(words.bytes() / 4);
    if (!module.empty()) std::memcpy(module.data(), words.data, words.bytes());
    const Where where = where_of(backend);
    const WithoutLock unlocked;
    return where([&](auto& on) { return Program(on, module, options); });
}

using Bindings = nb::typed<nb::list, nb::typed<nb::tuple, int, nb::str, nb::str>>;

Bindings bindings_of(const Program& program) {
    Bindings all;
    for (const Binding& binding : program.bindings())
        all.append(nb::make_tuple(binding.binding, binding.name, weft::to_string(binding.access)));
    return all;
}

/// The elements of a job for which the caller gives no number.
std::uint64_t elements_of(const std::vector<Array>& outputs) {
    if (outputs.empty()) return 0;
    if (outputs[0].shape.empty())
        refuse("Job: outputs[0]: has no axis (need one of its elements, or elements=)");
    return outputs[0].shape[0];
}

void require_whole(const std::string& argument, const Array& array, std::uint64_t elements) {
    if (elements != 0 && array.size % elements != 0)
        refuse("Job: " + argument + ": an element has no whole number of items (got " +
               std::to_string(array.size) + " items for " + std::to_string(elements) +
               " elements); give elements=, or Broadcast for an array that every chunk reads whole");
}

PyJob make_job(const std::vector<nb::object>& inputs, const std::vector<bool>& every_chunk,
               const std::vector<nb::object>& outputs, std::optional<std::uint64_t> given,
               const nb::bytes& parameters, const std::string& name) {
    PyJob made;
    const auto nth = [](const char* list, std::size_t i) {
        return std::string(list) + "[" + std::to_string(i) + "]";
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
        made.arrays.push_back(input("Job", nth("inputs", i).c_str(), inputs[i]));
    std::vector<Array> written;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        written.push_back(output("Job", nth("outputs", i).c_str(), outputs[i]));
    const std::uint64_t elements = given ? *given : elements_of(written);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Array& array = made.arrays[i];
        if (!every_chunk[i]) require_whole(nth("inputs", i), array, elements);
        made.job.inputs.push_back({array.data, static_cast<std::size_t>(array.bytes()), every_chunk[i]});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        require_whole(nth("outputs", i), written[i], elements);
        made.job.outputs.push_back({written[i].data, static_cast<std::size_t>(written[i].bytes())});
    }
    made.arrays.insert(made.arrays.end(), written.begin(), written.end());
    made.job.elements = elements;
    made.job.parameters = parameters_of("Job", parameters);
    made.job.name = name;
    return made;
}

}  // namespace

void bind_program(nb::module_& module) {
    nb::class_<Program>(module, "_Program")
        .def(
            "__init__",
            [](Program* self, nb::handle backend, nb::handle spirv, const std::string& name,
               const std::string& entry, const nb::typed<nb::dict, int, nb::object>& constants,
               const std::array<std::uint32_t, 3>& local_size, std::uint32_t elements_per_workgroup,
               std::uint32_t max_workgroups, std::uint32_t workgroups_per_element) {
                new (self)
                    Program(make_program(backend, spirv, name, entry, constants, local_size,
                                         elements_per_workgroup, max_workgroups, workgroups_per_element));
            },
            nb::arg("backend"), nb::arg("spirv").none(), nb::arg("name"), nb::arg("entry"),
            nb::arg("constants"), nb::arg("local_size"), nb::arg("elements_per_workgroup"),
            nb::arg("max_workgroups"), nb::arg("workgroups_per_element"))
        .def_prop_ro("name", [](const Program& p) { return p.name(); })
        .def_prop_ro("bindings", &bindings_of,
                     "(number, name, ``read``, ``write`` or ``read_write``) of each buffer.")
        .def_prop_ro(
            "local_size", [](const Program& p) { return p.local_size(); }, "Invocations of a workgroup.")
        .def_prop_ro("push_constant_bytes", [](const Program& p) { return p.push_constant_bytes(); })
        .def_prop_ro(
            "create_s", [](const Program& p) { return p.create_s(); },
            "Seconds that the driver took for the pipeline.");
    nb::class_<PyJob>(module, "_Job")
        .def(
            "__init__",
            [](PyJob* self, const std::vector<nb::object>& inputs, const std::vector<bool>& every_chunk,
               const std::vector<nb::object>& outputs, std::optional<std::uint64_t> elements,
               const nb::bytes& parameters, const std::string& name) {
                new (self) PyJob(make_job(inputs, every_chunk, outputs, elements, parameters, name));
            },
            nb::arg("inputs"), nb::arg("every_chunk"), nb::arg("outputs"), nb::arg("elements").none(),
            nb::arg("parameters"), nb::arg("name"))
        .def_prop_ro("elements", [](const PyJob& j) { return j.job.elements; })
        .def_prop_ro("name", [](const PyJob& j) { return j.job.name; })
        .def_prop_ro("outputs", [](const PyJob& j) {
            nb::typed<nb::list, nb::any> all;
            for (std::size_t i = j.job.inputs.size(); i < j.arrays.size(); ++i)
                all.append(j.arrays[i].object);
            return all;
        });
}

}  // namespace weft::python
