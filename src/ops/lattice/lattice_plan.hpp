// SPDX-License-Identifier: Apache-2.0
// How vectors, codes and rows become elements of jobs, and how a code becomes the constants of a shader. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/device.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/program.hpp>

#include "ops/lattice/lattice_op.hpp"
#include "shaders/lattice/lattice_settings.h"

namespace weft::kernels {

const char* function_of(LatticeOp op) noexcept;  ///< "lattice_encode"

/// Rows as a job sees them. An element is the fewest whole rows whose vectors fill whole words of any code.
struct LatticeShape {
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t given_width = 0;  ///< values of a row as the caller counts them, for error texts
    bool ragged = false;          ///< width is no multiple of d
    std::size_t element_rows = 1, element_vectors = 1;

    std::size_t vectors() const { return rows * tiles; }
    std::size_t element_value_bytes() const { return element_rows * width * sizeof(float); }
};

/// Vectors whose digits fill whole words with every code: 32 values.
constexpr std::uint32_t block_vectors(Lattice lattice) {
    return 32 / dimension(lattice);
}

/// `values` laid out in rows of `width`, 0: d. Rows of whole vectors are taken as one vector a row.
/// `function` opens the error text. Errors: invalid_argument - values are no whole rows.
LatticeShape lattice_shape(const char* function, Lattice lattice, std::size_t values, std::size_t width);

/// element_rows and element_vectors of rows of `tiles` vectors.
void set_elements(LatticeShape& shape, Lattice lattice);

/// Vectors of the next job of a call of `all` vectors, of which `left` are left. Large calls are several
/// jobs, so that progress is reported and the results of a job are handled while the next one runs. The last
/// jobs are small, because nothing runs while their results are handled.
std::size_t lattice_job_vectors(std::size_t all, std::size_t left);

shared::LatticeSettings lattice_settings(const LatticeCode& code);

/// The largest LatticeCode::max_retries: the powers below stay within 2^64, and statuses within their bits.
std::uint32_t most_retries(float alpha) noexcept;
/// The powers of every number T of retries up to max_retries, each computed in double and rounded to float
/// once: 2^(-alpha T) at lattice_shrink_at(T), 2^(alpha T) at lattice_grow_at(T).
std::vector<float> lattice_scales(const LatticeCode& code);

/// Neighbouring vectors that a thread works on.
std::uint32_t vectors_of_thread(LatticeOp op, const LatticeCode& code, std::uint32_t local_size);

/// Constants and launch of a shader on a device.
struct LatticePlan {
    std::uint32_t local_size = 256, max_workgroups = 1, elements_per_workgroup = 1;
    std::vector<SpecConstant> constants;
    /// Rows of whole vectors are stored by shaders/lattice/lattice_staged.glsl.h: constant kStagedId is true.
    bool staged = false;
};
constexpr std::uint32_t kStagedId = 8;  // the other shaders lack it
LatticePlan plan_lattice(const DeviceInfo& device, LatticeOp op, const LatticeCode& code, bool retries,
                         std::size_t element_vectors);

}  // namespace weft::kernels
