// SPDX-License-Identifier: Apache-2.0
// Several devices that share the work of a call, and what a call on host memory runs on.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include <nanobind/nanobind.h>

#include <weft/devices.hpp>
#include <weft/host_buffer.hpp>

namespace weft::python {

/// A Devices as Python holds it. Calls and the backends of its devices keep the Devices.
class PyDevices {
  public:
    /// Errors: as Devices.
    explicit PyDevices(const Config& config);
    ~PyDevices();
    PyDevices(const PyDevices&) = delete;
    PyDevices& operator=(const PyDevices&) = delete;

    /// Errors: InvalidArgument - closed.
    std::shared_ptr<Devices> get() const;
    /// The Backend of a device.
    std::shared_ptr<Backend> operator[](std::size_t index) const;
    /// Lets go of the devices.
    void close();

  private:
    std::shared_ptr<Devices> devices_;
};

/// What a call on host memory runs on, which it keeps: one device, or several.
class Where {
  public:
    explicit Where(std::shared_ptr<Backend> backend) : owner_(std::move(backend)) {}
    explicit Where(std::shared_ptr<Devices> devices) : owner_(std::move(devices)) {}

    /// `use(Backend&)` or `use(Devices&)`.
    template <class Use>
    decltype(auto) operator()(Use&& use) const {
        return std::visit([&](const auto& owner) -> decltype(auto) { return use(*owner); }, owner_);
    }
    /// The first device that is not lost. Errors: device_lost.
    Backend& first() const;
    /// Page-locked memory of the first device, imported into the others.
    detail::BufferObjects import_into_others(const core::BufferObject& memory) const;

  private:
    std::variant<std::shared_ptr<Backend>, std::shared_ptr<Devices>> owner_;
};

/// The Backend or the Devices that a call on host memory was given, or the default for None. Errors:
/// TypeError; InvalidArgument - closed; as default_backend().
Where where_of(nanobind::handle given);

}  // namespace weft::python
