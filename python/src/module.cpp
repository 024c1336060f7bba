// SPDX-License-Identifier: Apache-2.0
// The module weftgpu._core. Importing it opens no library and no driver.
#include <nanobind/nanobind.h>

#include <weft/version.hpp>

#include "bindings.hpp"
#include "errors.hpp"

NB_MODULE(_core, module) {
    static bool imported = false;
    weft::python::require_first_import(imported);
    // Objects that live until the interpreter exits are the caller's business.
    nanobind::set_leak_warnings(false);
    module.attr("version") = WEFT_VERSION_STRING;
    weft::python::translate_errors();
    weft::python::bind_calls(module);
    weft::python::bind_reports(module);
    weft::python::bind_devices(module);
    weft::python::bind_backend(module);
    weft::python::bind_buffer(module);
    weft::python::bind_program(module);
    weft::python::bind_batch(module);
    weft::python::bind_stream(module);
    weft::python::bind_recording(module);
    weft::python::bind_profile(module);
    weft::python::bind_field(module);
    weft::python::bind_ntt(module);
    weft::python::bind_encode(module);
    weft::python::bind_kernel_matrix(module);
    weft::python::bind_kernel_operator(module);
    weft::python::bind_lattice(module);
}
