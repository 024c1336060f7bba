// SPDX-License-Identifier: Apache-2.0
// Calls of the library on the back end that --backend names. Without weft::cuda in the build, only Vulkan is
// available.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <weft/weft.hpp>

#include "device/device_options.hpp"

namespace weft::tool {

/// Whether this build has weft::cuda.
bool has_cuda() noexcept;

/// A kernel operator as a command names it.
struct OperatorInputs {
    const KernelMatrixCircuit* circuit = nullptr;  ///< null: states are given
    ConstHostArray x, y;                           ///< y: of K of X with Y
    KernelMatrixShape shape;
    KernelOperatorOptions options;
};

/// What a command runs on: one device or several, or with --backend cuda one CUDA device, which becomes the
/// current one, or several.
class Target {
  public:
    /// Errors: Failure with Exit::device - there is no device, or --device matches none; Failure with
    /// Exit::usage - a setting that CUDA cannot obey; weft::Error otherwise.
    Target(const DeviceOptions& options, const Config& config);

    /// Of several devices: their names and drivers in one line, and the rest of the first.
    const DeviceInfo& device() const { return device_; }
    /// The first of several devices, for what one of them does alone.
    const DeviceInfo& first_device() const { return devices_ ? (*devices_)[0].device() : first_; }
    /// 0 with --backend cuda.
    std::size_t size() const { return devices_ ? devices_->size() : 0; }
    /// The first; null with --backend cuda.
    Backend* backend() { return devices_ ? &(*devices_)[0] : nullptr; }
    /// Returns estimate(backend) of the first device where `fits` of it is true, because the others take no
    /// part; if there is none, that of the first device. Not with --backend cuda.
    template <class Estimate, class Fits>
    auto first_that_fits(const Estimate& estimate, const Fits& fits) const {
        auto first = estimate((*devices_)[0]);
        for (std::size_t i = 1; i < devices_->size() && !fits(first); ++i)
            if (auto other = estimate((*devices_)[i]); fits(other)) return other;
        return first;
    }

    OpReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                         const FieldHostOptions& options);
    OpReport ntt(Field field, NttDirection direction, const ConstHostArray& in, const weft::HostArray& out,
                 const NttShape& shape, const NttHostOptions& options);
    OpReport ntt_extend(Field field, const ConstHostArray& in, const weft::HostArray& out,
                        const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options);
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
    /// The same into a store; not with --backend cuda.
    OpReport kernel_matrix(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                           const ConstHostArray* y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                           const KernelMatrixHostOptions& options);
    OpReport kernel_matrix(const ConstHostArray& states, const ConstHostArray* others, KernelMatrixStore& k,
                           const KernelMatrixShape& shape, const KernelMatrixHostOptions& options);
    /// The plan of a product with an operator, whose features or states are not read.
    KernelOperatorEstimate estimate(const OperatorInputs& k, ElementType states, std::uint32_t columns);
    OpReport apply(const OperatorInputs& inputs, const ConstHostArray& v, const weft::HostArray& out,
                   const KernelApplyHostOptions& options);
    KernelSolveReport solve(const OperatorInputs& inputs, const ConstHostArray& y,
                            const weft::HostArray& alpha, const KernelSolveOptions& options);
    KernelEigenReport eigen(const OperatorInputs& inputs, const weft::HostArray& values,
                            const weft::HostArray& vectors, const KernelEigenOptions& options);
    /// On the first device. X has the new rows, and Y those of the model.
    OpReport predict(const OperatorInputs& k, const ConstHostArray& alpha, const weft::HostArray& out,
                     const BatchOptions& batch);

  private:
    struct Cuda;  // several CUDA devices
    /// Returns use(operator, where it is), without the second for one CUDA device.
    template <class Use>
    auto on_operator(const OperatorInputs& k, const Use& use);

    std::optional<Devices> devices_;
    std::shared_ptr<Cuda> cuda_;  // null: one
    DeviceInfo device_, first_;
};

}  // namespace weft::tool
