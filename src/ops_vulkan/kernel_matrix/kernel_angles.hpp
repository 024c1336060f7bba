// SPDX-License-Identifier: Apache-2.0
// Features to cosines and sines on the device: the first step of every kernel matrix of a circuit.
#pragma once

#include <cstdint>

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;

/// A range as a binding may start on this device, and its elements before the first that is meant.
struct BoundWords {
    Words words;
    std::uint32_t before = 0;
};

/// Elements [first, first + count) of an array.
BoundWords bind_elements(const DeviceLimits& limits, const ConstDeviceArray& array, std::uint64_t first,
                         std::uint64_t count);
/// `count` units of `unit` bytes each, from unit `first` of a buffer on.
BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit);
/// Words of a buffer.
Words words_of(const std::shared_ptr<core::BufferObject>& object, std::uint64_t first, std::uint64_t count);

/// Planes [qubit][cosine, sine][stride] of float or double.
struct AnglePlanes {
    Words words;
    std::uint64_t stride = 0;
    std::uint32_t qubits = 0;
    bool real64 = false;
};

struct AngleLayout {
    double scale = 1;
    bool halved = false;  ///< of half the angle
};

/// Rows [0, rows) of resident features to columns [base, base + rows) of the planes.
void record_angles(Stream& stream, const ConstDeviceArray& x, std::uint64_t rows, const AngleLayout& variant,
                   const AnglePlanes& planes, std::uint64_t base);

/// The same of `rows` rows in host memory.
void angles_of_source(Stream& stream, const ConstHostArray& x, std::uint64_t rows, const AngleLayout& variant,
                      const AnglePlanes& planes, std::uint64_t base);

/// Memory for the planes of a plan, and what it holds.
Buffer<std::uint32_t> make_planes(const Stream& stream, const KernelMatrixPlan& plan);
AnglePlanes planes_of(const KernelMatrixPlan& plan, const Buffer<std::uint32_t>& buffer);

}  // namespace weft::kernels
