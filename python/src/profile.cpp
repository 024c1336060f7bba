// SPDX-License-Identifier: Apache-2.0
// Profile: what a backend does while it lives.
#include <weft/profile.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "backend.hpp"
#include "bindings.hpp"
#include "calls.hpp"
#include "text.hpp"

namespace weft::python {

namespace {

using BusyByStage = nb::typed<nb::dict, nb::str, double>;

BusyByStage busy_by_stage(const ProfileReport& report) {
    BusyByStage all;
    for (const StageReport& stage : report.stages)
        all[nb::str(weft::to_string(stage.stage))] = stage.times.busy_s;
    return all;
}

}  // namespace

void bind_profile(nb::module_& module) {
    nb::class_<ProfileReport>(module, "ProfileReport",
                              "What a backend did during a window. Times in seconds.")
        .def_ro("device", &ProfileReport::device)
        .def_ro("wall_s", &ProfileReport::wall_s, "Length of the window.")
        .def_ro("busy_s", &ProfileReport::busy_s, "Time in which a stage ran, on the device or the host.")
        .def_ro("device_s", &ProfileReport::device_s, "Time in which an upload, a kernel or a download ran.")
        .def_ro("overlap", &ProfileReport::overlap, "Share of device_s in which at least two of them ran.")
        .def_ro("copy_hidden", &ProfileReport::copy_hidden,
                "Share of the device's copy time during which kernels ran.")
        .def_ro("host_copy_hidden", &ProfileReport::host_copy_hidden)
        .def_prop_ro("idle", &ProfileReport::idle, "Share of the window in which no stage ran.")
        .def_prop_ro("stages", &busy_by_stage, "Busy seconds of each stage.")
        .def("to_table", &ProfileReport::to_table)
        .def("to_json", &ProfileReport::to_json)
        .def("to_csv", &ProfileReport::to_csv, "One line for each stage and kernel, with a header.")
        .def("__repr__", [](const ProfileReport& r) {
            return "<weftgpu.ProfileReport: " + short_number(r.wall_s) + " s, device " +
                   short_number(r.device_s) + " s>";
        });
    nb::class_<Profile>(module, "_Profile")
        .def(
            "__init__",
            [](Profile* self, nb::handle backend) { new (self) Profile(*backend_of(backend).get()); },
            nb::arg("backend").none())
        .def(
            "report", [](const Profile& p) { return p.report(); },
            "Figures from the start of the window to now.")
        .def(
            "write_trace", [](const Profile& p, const std::string& path) { p.write_trace(path); },
            nb::arg("path"));
}

}  // namespace weft::python
