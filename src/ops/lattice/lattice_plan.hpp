// SPDX-License-Identifier: Apache-2.0
// How vectors, codes and rows become elements of jobs, and a code the constants of a shader: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/program.hpp>

#include "shaders/lattice/lattice_settings.h"

namespace weft::kernels {

enum class LatticeOp { encode, decode, quantize };

/// Rows as a job sees them. An element is the fewest whole rows whose vectors fill whole words of any code.
struct LatticeShape {
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t given_width = 0;  ///< values of a row as the caller counts them, for error texts
    bool ragged = false;          ///< width is no multiple of d
    std::size_t element_rows = 1, element_vectors = 1;

    std::size_t vectors() const { return rows * tiles; }
    std::size_t element_value_bytes() const { return element_rows * width * sizeof(float); }
};

/// Vectors that fill whole words with every code: 32 values.
constexpr std::uint32_t block_vectors(Lattice lattice) {
    return 32 / dimension(lattice);
}

/// `values` laid out in rows of `width`, 0: d. Rows of whole vectors are taken as one vector a row.
/// `function` opens the error text. Errors: invalid_argument - values are no whole rows.
LatticeShape lattice_shape(const char* function, Lattice lattice, std::size_t values, std::size_t width);

/// element_rows and element_vectors of rows of `tiles` vectors.
void set_elements(LatticeShape& shape, Lattice lattice);

/// Vectors of the next job of a call of `all`, of which `left` are left. Large calls are several jobs, for
/// progress and for what is done with a job's results beside the next; the last are small, as after them
/// nothing goes on.
std::size_t lattice_job_vectors(std::size_t all, std::size_t left);

shared::LatticeSettings lattice_settings(const LatticeCode& code);

/// Constants and launch of a shader on a device.
struct LatticePlan {
    std::uint32_t local_size = 256, max_workgroups = 1, elements_per_workgroup = 1;
    std::vector<SpecConstant> constants;
    /// Rows of whole vectors are stored by shaders/lattice/lattice_staged.glsl.h: constant kStagedId is true.
    bool staged = false;
};
constexpr std::uint32_t kStagedId = 8;  // other shaders do not have it
LatticePlan plan_lattice(const DeviceInfo& device, LatticeOp op, const LatticeCode& code, bool retries,
                         std::size_t element_vectors);

}  // namespace weft::kernels
