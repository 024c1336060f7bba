// SPDX-License-Identifier: Apache-2.0
// The module weftgpu._glsl: the GLSL compiler, which is loaded when the first shader is compiled.
#include <weft/glsl.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"

namespace nb = nanobind;

namespace weft::python {

namespace {

GlslOptimization optimization_named(const std::string& name) {
    if (name == "none") return GlslOptimization::none;
    if (name == "size") return GlslOptimization::size;
    if (name == "performance") return GlslOptimization::performance;
    refuse("compile_glsl: optimization: unknown value (got '" + name +
           "', need one of 'none', 'size', 'performance')");
}

using Compiled = nb::typed<nb::tuple, nb::bytes, nb::str, nb::typed<nb::list, nb::str>, nb::str, bool>;

Compiled compile(const std::string& file, const std::string& text, const std::string& name,
                 const std::vector<std::string>& include_dirs,
                 const std::vector<std::pair<std::string, std::string>>& macros,
                 const std::string& optimization, bool debug_info, bool warnings_as_errors,
                 std::optional<bool> cache) {
    GlslSource source{.file = file, .text = text, .name = name};
    source.include_dirs.assign(include_dirs.begin(), include_dirs.end());
    for (const auto& [macro, value] : macros) source.macros.push_back({macro, value});
    source.optimization = optimization_named(optimization);
    source.debug_info = debug_info;
    source.warnings_as_errors = warnings_as_errors;
    source.cache = cache;
    SpirV made;
    {
        const nb::gil_scoped_release unlocked;
        made = compile_glsl(source);
    }
    std::vector<std::string> included;
    for (const std::filesystem::path& path : made.included) included.push_back(path.string());
    return nb::make_tuple(nb::bytes(made.words.data(), made.words.size() * 4), made.name, included,
                          made.warnings, made.from_cache);
}

}  // namespace

}  // namespace weft::python

NB_MODULE(_glsl, module) {
    static bool imported = false;
    weft::python::require_first_import(imported);
    nb::set_leak_warnings(false);
    weft::python::translate_errors();
    module.def("compile", &weft::python::compile, nb::arg("file"), nb::arg("text"), nb::arg("name"),
               nb::arg("include_dirs"), nb::arg("macros"), nb::arg("optimization"), nb::arg("debug_info"),
               nb::arg("warnings_as_errors"), nb::arg("cache").none());
}
