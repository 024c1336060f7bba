// SPDX-License-Identifier: Apache-2.0
// Devices and the Backend.
#include "backend.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <weft/device.hpp>
#include <weft/memory_report.hpp>

#include "bindings.hpp"
#include "calls.hpp"
#include "config.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

std::shared_ptr<Backend> open(const Config& config) {
    require_own_driver("Backend");
    const WithoutLock unlocked;
    return std::make_shared<Backend>(config);
}

}  // namespace

PyBackend::PyBackend(const Config& config) : PyBackend(open(config)) {}

PyBackend::PyBackend(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {
    remember(backend_);
}

PyBackend::~PyBackend() {
    destroy_without_lock(cuda_device_);
    destroy_without_lock(backend_);
}

std::shared_ptr<Backend> PyBackend::get() const {
    if (!backend_) refuse("Backend: used after close()");
    return backend_;
}

void PyBackend::close() {
    destroy_without_lock(cuda_device_);
    destroy_alone(backend_);
}

const PyBackend& backend_of(nb::handle given) {
    const nb::object chosen = given.is_none()
                                  ? nb::module_::import_("weftgpu._default").attr("default_backend")()
                                  : nb::borrow(given);
    const PyBackend* backend = nullptr;
    if (nb::try_cast(chosen, backend) && backend != nullptr)
        return *backend;  // alive: the caller's, or the default one
    if (nb::isinstance<PyDevices>(chosen))
        refuse_type("backend: works on one device (got Devices, need one of them: devices[0])");
    refuse_type("backend: not a Backend (got " + name_of_type(chosen) + ", need a weftgpu.Backend)");
}

namespace {

std::vector<DeviceInfo> devices() {
    require_own_driver("devices");
    const WithoutLock unlocked;
    try {
        return list_devices();
    } catch (const Error& e) {
        if (e.code() == Errc::no_loader || e.code() == Errc::no_device) return {};
        throw;
    }
}

Figures as_dict(const MemoryReport& report) {
    nb::dict names;
    for (const MemoryReport::Named& named : report.names)
        names[nb::str(named.name.c_str())] =
            nb::make_tuple(named.live_bytes, named.peak_bytes, named.live_count);
    Figures all;
    all["live_bytes"] = report.live_bytes;
    all["peak_bytes"] = report.peak_bytes;
    all["live_buffers"] = report.live_buffers;
    all["block_bytes"] = report.block_bytes;
    all["blocks"] = report.blocks;
    all["limit"] = report.limit;
    all["fragmentation"] = report.fragmentation;
    all["names"] = names;
    return all;
}

Figures as_dict(const Counters& counters) {
    Figures all;
    all["objects_created"] = counters.objects_created;
    all["memory_allocations"] = counters.memory_allocations;
    all["descriptor_updates"] = counters.descriptor_updates;
    all["recordings"] = counters.recordings;
    all["submissions"] = counters.submissions;
    all["imports"] = counters.imports;
    all["validation_messages"] = counters.validation_messages;
    return all;
}

Figures as_dict(const PlanReport& plan) {
    Figures all;
    all["upload_queue"] = plan.upload_queue;
    all["compute_queue"] = plan.compute_queue;
    all["download_queue"] = plan.download_queue;
    all["split_queues"] = plan.split_queues;
    all["large_path"] = weft::to_string(plan.large_path);
    all["ordinary_path"] = weft::to_string(plan.ordinary_path);
    all["small_path"] = weft::to_string(plan.small_path);
    all["small_bytes"] = plan.small_bytes;
    all["chunk_elements"] = plan.chunk_elements;
    all["chunk_bytes"] = plan.chunk_bytes;
    all["ring_slots"] = plan.ring_slots;
    all["copy_threads"] = plan.copy_threads;
    all["host_allocator"] = plan.host_allocator;
    all["reasons"] = plan.reasons;
    return all;
}

Figures as_dict(const StartupReport& startup) {
    Figures all;
    all["loader_s"] = startup.loader_s;
    all["instance_s"] = startup.instance_s;
    all["devices_s"] = startup.devices_s;
    all["device_s"] = startup.device_s;
    all["caches_s"] = startup.caches_s;
    all["first_pipeline_s"] = startup.first_pipeline_s;
    all["first_dispatch_s"] = startup.first_dispatch_s;
    all["first_result_s"] = startup.first_result_s;
    return all;
}

void bind_device(nb::module_& module) {
    nb::class_<DeviceInfo>(module, "Device", "One physical device as its driver reports it; see devices().")
        .def_ro("index", &DeviceInfo::index)
        .def_ro("name", &DeviceInfo::name)
        .def_ro("driver", &DeviceInfo::driver, "Name and version text of the driver.")
        .def_ro("uuid", &DeviceInfo::uuid, "32 hexadecimal digits.")
        .def_prop_ro(
            "type", [](const DeviceInfo& d) { return std::string(weft::to_string(d.type)); },
            "``discrete``, ``integrated``, ``virtual``, ``cpu`` or ``other``.")
        .def_prop_ro(
            "api",
            [](const DeviceInfo& d) {
                return std::to_string(d.api_major) + "." + std::to_string(d.api_minor);
            },
            "Version of Vulkan.")
        .def_ro("memory", &DeviceInfo::device_memory_bytes, "Bytes of device memory.")
        .def_ro("unified_memory", &DeviceInfo::unified_memory, "The host can map all device memory.")
        .def_ro("float64", &DeviceInfo::shader_float64, "Shaders can use float64.")
        .def_ro("int64", &DeviceInfo::shader_int64, "Shaders can use 64-bit integers.")
        .def_ro("refused", &DeviceInfo::refused, "Why weft cannot use the device; empty: it can.")
        .def_ro("chosen", &DeviceInfo::chosen, "A Backend without settings takes this one.")
        .def("__repr__", [](const DeviceInfo& d) {
            return "<weftgpu.Device " + std::to_string(d.index) + ": " + d.name +
                   (d.refused.empty() ? ">" : ", cannot be used>");
        });
    module.def(
        "devices", &devices,
        "Every device that the Vulkan loader reports, with the reasons why some cannot be used.\n\n"
        "Returns\n-------\nlist of Device\n    Empty where there is no Vulkan loader or no device.\n\n"
        "Examples\n--------\n>>> for device in weftgpu.devices():\n...     usable = not device.refused\n");
}

}  // namespace

void bind_backend(nb::module_& module) {
    bind_device(module);
    nb::class_<PyBackend> bound(module, "_Backend", nb::is_weak_referenceable());
    bind_init(bound);
    bound
        .def(
            "__init__",
            [](PyBackend* self, const PyDevices& devices, std::size_t index) {
                new (self) PyBackend(devices[index]);
            },
            nb::arg("devices"), nb::arg("index"))
        .def_prop_ro(
            "name", [](const PyBackend& b) { return b.get()->name(); }, "Name of the device.")
        .def_prop_ro("device", [](const PyBackend& b) { return b.get()->device(); })
        .def_prop_ro(
            "plan", [](const PyBackend& b) { return as_dict(b.get()->plan()); },
            "What was chosen for the device, with a line of ``reasons`` for each choice.")
        .def_prop_ro(
            "counters", [](const PyBackend& b) { return as_dict(b.get()->counters()); },
            "Running totals since the Backend was made.")
        .def_prop_ro(
            "memory", [](const PyBackend& b) { return as_dict(b.get()->memory()); },
            "Bytes of device and page-locked memory; ``names`` maps a name to live and peak bytes and "
            "buffers.")
        .def_prop_ro(
            "startup", [](const PyBackend& b) { return as_dict(b.get()->startup()); },
            "Seconds of each part of the start.")
        .def(
            "wait_idle",
            [](const PyBackend& b) {
                wait_for_writers();
                wait_alone([backend = b.get()] { backend->wait_idle(); });
            },
            "Waits until the device is idle, and until calls that a signal ended write to no array any more.")
        .def(
            "trim", [](const PyBackend& b) { b.get()->trim(); },
            "Frees staging memory and scratch that no call uses at the moment.")
        .def(
            "save_pipeline_cache", [](const PyBackend& b) { return b.get()->save_pipeline_cache(); },
            "Writes the pipeline cache to disk now; False if it is off or cannot be written.")
        .def(
            "_cuda_event", [](const PyBackend& b, std::intptr_t stream) { return cuda_event(b, stream); },
            nb::arg("stream"))
        .def("close", &PyBackend::close,
             "Waits for running work, saves the pipeline cache and lets go of the device. Buffers, programs "
             "and\n"
             "streams that were made with it keep the device open.");
}

}  // namespace weft::python
