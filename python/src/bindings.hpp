// SPDX-License-Identifier: Apache-2.0
// What each file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace weft::python {

/// Figures by name, for Python.
using Figures = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;
/// (row, position, fault) of each failure.
using Failures = nanobind::typed<nanobind::list, nanobind::typed<nanobind::tuple, int, int, nanobind::str>>;

void bind_calls(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_backend(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_buffer(nanobind::module_& module);
void bind_program(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_recording(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_profile(nanobind::module_& module);
void bind_field(nanobind::module_& module);
void bind_ntt(nanobind::module_& module);
void bind_encode(nanobind::module_& module);
void bind_kernel_matrix(nanobind::module_& module);
void bind_kernel_operator(nanobind::module_& module);
void bind_lattice(nanobind::module_& module);

}  // namespace weft::python
