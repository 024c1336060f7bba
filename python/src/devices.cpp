// SPDX-License-Identifier: Apache-2.0
// Devices, and where calls on host memory run.
#include "devices.hpp"

#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "backend.hpp"
#include "bindings.hpp"
#include "calls.hpp"
#include "config.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

std::shared_ptr<Devices> open(const Config& config) {
    require_own_driver("Devices");
    const WithoutLock unlocked;
    return std::make_shared<Devices>(config);
}

}  // namespace

PyDevices::PyDevices(const Config& config) : devices_(open(config)) {}

PyDevices::~PyDevices() {
    destroy_without_lock(devices_);
}

std::shared_ptr<Devices> PyDevices::get() const {
    if (!devices_) refuse("Devices: used after close()");
    return devices_;
}

std::shared_ptr<Backend> PyDevices::operator[](std::size_t index) const {
    const std::shared_ptr<Devices> devices = get();
    return {devices, &(*devices)[index]};
}

void PyDevices::close() {
    destroy_alone(devices_);
}

Backend& Where::first() const {
    if (const auto* const devices = std::get_if<std::shared_ptr<Devices>>(&owner_))
        return detail::first_of(**devices);
    return *std::get<std::shared_ptr<Backend>>(owner_);
}

detail::BufferObjects Where::import_into_others(const core::BufferObject& memory) const {
    if (const auto* const devices = std::get_if<std::shared_ptr<Devices>>(&owner_))
        return detail::import_into_others(**devices, memory);
    return {};
}

Where where_of(nb::handle given) {
    // Kept for the life of the process: an import takes a tenth of the time of a small call.
    static PyObject* const usual =
        nb::object(nb::module_::import_("weftgpu._default").attr("default_devices")).release().ptr();
    const nb::object chosen = given.is_none() ? nb::handle(usual)() : nb::borrow(given);
    const PyBackend* backend = nullptr;
    if (nb::try_cast(chosen, backend) && backend != nullptr) return Where(backend->get());
    const PyDevices* devices = nullptr;
    if (nb::try_cast(chosen, devices) && devices != nullptr) return Where(devices->get());
    refuse_type("backend: not a Backend (got " + name_of_type(chosen) +
                ", need a weftgpu.Backend or a weftgpu.Devices)");
}

namespace {

std::vector<std::string> names_of(const PyDevices& given) {
    const std::shared_ptr<Devices> devices = given.get();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < devices->size(); ++i) names.push_back((*devices)[i].name());
    return names;
}

std::vector<bool> lost_of(const PyDevices& given) {
    const std::shared_ptr<Devices> devices = given.get();
    std::vector<bool> lost;
    for (std::size_t i = 0; i < devices->size(); ++i) lost.push_back(devices->lost(i));
    return lost;
}

}  // namespace

void bind_devices(nb::module_& module) {
    nb::class_<PyDevices> bound(module, "_Devices", nb::is_weak_referenceable());
    bind_init(bound);
    bound.def("__len__", [](const PyDevices& d) { return d.get()->size(); })
        .def_prop_ro("names", &names_of, "Name of each device.")
        .def_prop_ro("lost", &lost_of,
                     "Of each device, whether a call found it lost, so that later calls leave it out.")
        .def(
            "wait_idle",
            [](const PyDevices& d) {
                wait_for_writers();
                wait_alone([devices = d.get()] { devices->wait_idle(); });
            },
            "Waits until every device that is not lost is idle, and until calls that a signal ended write to "
            "no array any more.")
        .def(
            "trim", [](const PyDevices& d) { d.get()->trim(); },
            "Frees staging memory and scratch that no call uses at the moment, of every device that is not "
            "lost.")
        .def(
            "save_pipeline_cache", [](const PyDevices& d) { return d.get()->save_pipeline_cache(); },
            "Writes the pipeline caches to disk now; False if they are off or one cannot be written.")
        .def("_close", &PyDevices::close);
}

}  // namespace weft::python
