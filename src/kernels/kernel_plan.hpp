// SPDX-License-Identifier: Apache-2.0
// How a kernel matrix is made and what memory it takes: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/device.hpp>
#include <weft/kernel_matrix.hpp>

namespace weft::kernels {

inline constexpr std::uint32_t kProductTile = 64;  ///< rows and columns of a tile of kernel_product.comp
inline constexpr std::uint32_t kLongQubits = 32;   ///< float32 products of more are gathered by parts

/// What a plan needs to know of a circuit, or that states are given.
struct CircuitFacts {
    bool given = false;  ///< states are given
    KernelMap map = KernelMap::ryrz;
    std::uint32_t layers = 0;
    bool reupload = false;
};

/// What a plan needs to know of a device.
struct KernelDevice {
    DeviceLimits limits;
    bool shader_float64 = false;
    std::uint64_t budget_bytes = 0;  ///< memory of the device that may be used
};

struct KernelPlan {
    KernelShape shape;
    ValueType type = ValueType::float32;
    KernelMethod method = KernelMethod::product;
    std::uint32_t layers = 0;  ///< that matter: passes of RX(w), ring and E(x) behind the first E(x)
    bool work64 = false;
    // Of the product.
    std::uint32_t parts = 2;       ///< numbers a qubit and sample
    std::uint64_t stride = 0;      ///< samples of a plane, with Y's behind X's
    bool long_form = false;        ///< kLong of kernel_product.comp
    bool symmetric = false;        ///< one dispatch writes both triangles of a resident K
    std::uint64_t panel_rows = 0;  ///< of a resident K a dispatch, where it is not symmetric
    std::uint64_t job_rows = 0;    ///< of a K in host memory, a job
    // Of the states.
    std::uint64_t state_tile = 0;
    bool bulk_states = false;

    std::uint64_t real_bytes() const noexcept { return work64 ? 8 : 4; }
    std::uint64_t planes_values() const noexcept { return stride * 2 * shape.qubits; }
    std::uint64_t matrix_bytes() const noexcept { return shape.values() * real_bytes(); }
};

/// Layers behind which something differs from row to row: without re-upload none, else all but the last.
std::uint32_t layers_that_matter(const CircuitFacts& circuit) noexcept;

/// Errors: unsupported - float64 on a device without shaderFloat64.
KernelPlan plan_kernel(const KernelDevice& device, const KernelShape& shape, const CircuitFacts& circuit,
                       ValueType type, const KernelMatrixOptions& options);

/// Memory, work and reasons of a plan.
KernelEstimate estimate_kernel(const KernelPlan& plan, const KernelDevice& device,
                               const CircuitFacts& circuit, const KernelMatrixOptions& options);

/// The largest power of two that is at most `most`; 0 for 0.
std::uint64_t state_tile_of(std::uint64_t available_bytes, std::uint64_t state_bytes);

}  // namespace weft::kernels
