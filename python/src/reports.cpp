// SPDX-License-Identifier: Apache-2.0
// What calls did: figures that were measured or counted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <weft/batch.hpp>

#include "bindings.hpp"
#include "calls.hpp"
#include "text.hpp"

namespace weft::python {

namespace {

std::string describe(const BatchReport& report, const std::string& what) {
    return "<weftgpu." + what + ": " + std::to_string(report.elements) + " elements in " +
           short_number(report.wall_s) + " s, " + short_number(report.gb_per_s()) + " GB/s, path " +
           weft::to_string(report.path) + ">";
}

void bind_device_report(nb::module_& module) {
    nb::class_<DeviceReport>(module, "DeviceReport", "What one device of a Devices did in a call.")
        .def_ro("name", &DeviceReport::name, "Of the device.")
        .def_ro("device", &DeviceReport::device, "Its place in the Devices.")
        .def_ro("shares", &DeviceReport::shares, "Parts of the call that it did.")
        .def_ro("jobs", &DeviceReport::jobs,
                "Of these parts; a job that several devices did counts for each.")
        .def_ro("items", &DeviceReport::items, "As ``OpReport.items``; of run_batch, elements.")
        .def_ro("bytes_in", &DeviceReport::bytes_in)
        .def_ro("bytes_out", &DeviceReport::bytes_out)
        .def_ro("busy_s", &DeviceReport::busy_s, "From the beginning to the end of each share, added up.")
        .def_ro("idle_end_s", &DeviceReport::idle_end_s,
                "From the end of its last share to the end of the call.")
        .def_ro("lost", &DeviceReport::lost, "In this call or before.")
        .def_ro("note", &DeviceReport::note,
                "Why it took no share, or no more; the error if it failed; otherwise empty.")
        .def("__repr__", [](const DeviceReport& r) {
            return "<weftgpu.DeviceReport of " + r.name + ": " + std::to_string(r.items) + " items, busy " +
                   short_number(r.busy_s) + " s" + (r.note.empty() ? ">" : ", " + r.note + ">");
        });
}

void bind_batch_report(nb::module_& module) {
    nb::class_<BatchReport>(
        module, "BatchReport",
        "What a batch did. Every figure was measured or counted in that run; times in seconds.")
        .def_ro("jobs", &BatchReport::jobs)
        .def_ro("elements", &BatchReport::elements)
        .def_ro("chunks", &BatchReport::chunks)
        .def_ro("bundles", &BatchReport::bundles, "Sets of chunks that were submitted together.")
        .def_ro("bytes_in", &BatchReport::bytes_in)
        .def_ro("bytes_out", &BatchReport::bytes_out)
        .def_ro("wall_s", &BatchReport::wall_s, "From the call until the last output was in place.")
        .def_ro("copy_in_s", &BatchReport::copy_in_s, "Host time of staging copies of inputs.")
        .def_ro("copy_out_s", &BatchReport::copy_out_s, "Host time of staging copies of outputs.")
        .def_ro("waits", &BatchReport::waits, "Times that the host waited for the device.")
        .def_ro("wait_s", &BatchReport::wait_s)
        .def_prop_ro("path", [](const BatchReport& r) { return std::string(weft::to_string(r.path)); })
        .def_ro("mixed_paths", &BatchReport::mixed_paths)
        .def_ro("split_queues", &BatchReport::split_queues)
        .def_ro("host_memory", &BatchReport::host_memory)
        .def_ro("queues", &BatchReport::queues)
        .def_ro("ring_slots", &BatchReport::ring_slots)
        .def_ro("chunk_elements", &BatchReport::chunk_elements)
        .def_ro(
            "devices", &BatchReport::devices,
            "A row for each device of a Devices; empty: the call was on one Backend. The other figures are\n"
            "sums over the rows, except ``wall_s``.")
        .def_prop_ro("gb_per_s", &BatchReport::gb_per_s, "(bytes_in + bytes_out) / wall_s / 1e9.")
        .def_prop_ro("device_s", &BatchReport::device_s,
                     "Time in which at least one stage ran; 0 if not timed.")
        .def_prop_ro("overlap", &BatchReport::overlap,
                     "Share of device_s in which at least two stages ran; 0 if not timed.")
        .def(
            "stage_s",
            [](const BatchReport& r, const std::string& stage) { return r.stage_s(stage_named(stage)); },
            nb::arg("stage"),
            "Busy time of ``upload``, ``kernel``, ``download``, ``copy-in`` or ``copy-out``.")
        .def("__repr__", [](const BatchReport& r) { return describe(r, "BatchReport"); });
}

}  // namespace

void bind_reports(nb::module_& module) {
    bind_device_report(module);
    bind_batch_report(module);
    nb::class_<OpReport, BatchReport>(module, "OpReport", "What an op did on arrays in host memory.")
        .def_ro("op", &OpReport::op, "``field_add``, ``encode``, ``kernel_matrix``, ...")
        .def_ro("method", &OpReport::method, "How it was computed, if there was a choice.")
        .def_ro("items", &OpReport::items,
                "Elements of field ops, samples of encodes, vectors of lattices, pairs of kernel matrices.")
        .def_prop_ro("items_per_s", &OpReport::items_per_s)
        .def_ro("retried", &OpReport::retried, "Of lattice codes: vectors with at least one retry.")
        .def_ro("unresolved", &OpReport::unresolved,
                "Of lattice codes: vectors that still overload after the last retry.")
        .def("__repr__", [](const OpReport& r) { return describe(r, "OpReport of " + r.op); });
    module.def(
        "last_report", [] { return last_report(); },
        "The report of this thread's last call on arrays in host memory.\n\n"
        "Returns\n-------\nOpReport\n    Of an op; before the first call, a report of nothing.");
}

}  // namespace weft::python
