// SPDX-License-Identifier: Apache-2.0
// The Backend that the objects of Python share.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include <weft/backend.hpp>

namespace weft::python {

/// A Backend as Python holds it. Calls keep the Backend that they use, so close() may come from another
/// thread.
class PyBackend {
  public:
    /// Errors: as Backend.
    explicit PyBackend(const Config& config);
    explicit PyBackend(std::shared_ptr<Backend> backend);
    ~PyBackend();
    PyBackend(const PyBackend&) = delete;
    PyBackend& operator=(const PyBackend&) = delete;

    /// Errors: InvalidArgument - closed.
    std::shared_ptr<Backend> get() const;
    /// Waits for running work, saves the pipeline cache and lets go of the device.
    void close();
    /// The weft::cuda::Device of the backend, when it has been asked for.
    std::shared_ptr<void>& cuda_device() const { return cuda_device_; }

  private:
    std::shared_ptr<Backend> backend_;
    mutable std::shared_ptr<void> cuda_device_;  // used with the interpreter's lock held
};

/// The Backend that work on one device was given, or the default one for None. Errors: TypeError; as
/// default_backend().
const PyBackend& backend_of(nanobind::handle given);

}  // namespace weft::python
