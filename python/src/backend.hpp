// SPDX-License-Identifier: Apache-2.0
// The Backend that the objects of Python share.
#pragma once

#include <memory>

#include <weft/backend.hpp>

namespace weft::python {

/// A Backend as Python holds it. Calls keep the Backend that they use, so close() may come from another
/// thread.
class PyBackend {
  public:
    explicit PyBackend(std::shared_ptr<Backend> backend);
    ~PyBackend();
    PyBackend(const PyBackend&) = delete;
    PyBackend& operator=(const PyBackend&) = delete;

    /// Errors: InvalidArgument - closed.
    std::shared_ptr<Backend> get() const;
    /// Waits for running work, saves the pipeline cache and lets go of the device.
    void close();

  private:
    std::shared_ptr<Backend> backend_;
};

}  // namespace weft::python
