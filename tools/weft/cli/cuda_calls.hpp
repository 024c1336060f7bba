// SPDX-License-Identifier: Apache-2.0
// Calls of the library on the back end that --backend names. Without weft::cuda in the build, only Vulkan is
// available.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <weft/weft.hpp>

#include "cli/device_options.hpp"

namespace weft::tool {

/// Whether this build has weft::cuda.
bool has_cuda() noexcept;

/// What a command runs on: a Backend, or with --backend cuda a CUDA device, which becomes the current one.
class Target {
  public:
    /// Errors: Failure with Exit::device - there is no device, or --device matches none; Failure with
    /// Exit::usage - a setting that CUDA cannot obey; weft::Error otherwise.
    Target(const DeviceOptions& options, const Config& config);

    const DeviceInfo& device() const { return backend_ ? backend_->device() : cuda_; }
    /// Null with --backend cuda.
    Backend* backend() { return backend_ ? &*backend_ : nullptr; }

    OpReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                         const FieldHostOptions& options);
    OpReport encode(EncodeMethod method, const ConstHostArray& values, const weft::HostArray& states,
                    const StateShape& shape, const EncodeHostOptions& options = {});
    OpReport lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                            std::span<std::uint8_t> status, const LatticeHostOptions& options);
    OpReport lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                              std::span<std::uint8_t> status, const LatticeHostOptions& options);
    OpReport lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                            std::span<const std::uint8_t> status, std::span<float> x,
                            const LatticeDecodeHostOptions& options);
    LatticeSearch lattice_search_beta(const LatticeCode& code, std::span<const float> sample,
                                      const LatticeSearchOptions& options);
    /// `y` may be null.
    OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                           const ConstHostArray* y, const weft::HostArray& k, const KernelMatrixShape& shape,
                           const KernelMatrixHostOptions& options);
    OpReport kernel_matrix(const ConstHostArray& states, const ConstHostArray* others,
                           const weft::HostArray& k, const KernelMatrixShape& shape,
                           const KernelMatrixHostOptions& options);

  private:
    std::optional<Backend> backend_;
    DeviceInfo cuda_;
};

}  // namespace weft::tool
