// SPDX-License-Identifier: Apache-2.0
// What the lattice kernels are launched with.
#pragma once

#include <cstdint>
#include <span>

#include "cuda/stream_handle.hpp"

#include "ops/lattice/lattice_op.hpp"
#include "shaders/lattice/lattice_settings.h"

namespace weft::cuda {

/// The constants and push constants of shaders/lattice/lattice_interface.glsl.h, and the buffers of an
/// operation: x, codes and status of encode; codes, y and status of decode; x, y and status of quantize.
struct LatticeLaunch {
    StreamHandle stream = nullptr;
    float q = 4, inverse_q = 0.25f;
    std::uint32_t levels = 2, bits = 8, per_thread = 1;
    bool dither = false, retries = false;
    std::uint32_t count = 0;
    shared::LatticeSettings settings{};
    shared::LatticeLayout shape{};
    const void* in = nullptr;
    void* out = nullptr;
    const std::uint32_t* status_in = nullptr;
    std::uint32_t* status = nullptr;
    std::span<const float> scales{};  ///< kernels::lattice_scales; empty: no vector has retries
    std::uint32_t workgroups = 1, workgroup_size = 64;
};

/// lattice_kernels.cuh, compiled for each lattice and kind of rows. Each returns the result of the launch.
using LaunchLattice = int (*)(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_2(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_2_rows(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_4(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_4_rows(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_8(kernels::LatticeOp op, const LatticeLaunch& launch);
int launch_lattice_8_rows(kernels::LatticeOp op, const LatticeLaunch& launch);

/// Push constants and constants of lattice_inner.
struct InnerLaunch {
    StreamHandle stream = nullptr;
    std::uint32_t q = 4, levels = 2, bits = 8, dim = 4, points = 256;
    std::uint32_t rows = 0, tiles = 1, y_step = 1;
    float scale = 1;
    const std::uint32_t *x = nullptr, *y = nullptr, *table = nullptr;
    float* out = nullptr;
};
int launch_lattice_inner(const InnerLaunch& launch);

}  // namespace weft::cuda
