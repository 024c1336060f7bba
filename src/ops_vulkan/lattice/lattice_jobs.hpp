// SPDX-License-Identifier: Apache-2.0
// Lattice work in host memory as jobs of the batch engine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <weft/batch.hpp>
#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

/// One argument of `bytes` in all, with `element_bytes` for an element; 0: a table that every element reads.
struct LatticeInput {
    const void* data = nullptr;
    std::size_t bytes = 0, element_bytes = 0;
};
struct LatticeOutput {
    void* data = nullptr;
    std::size_t bytes = 0, element_bytes = 0;
};

/// Parameters of the job that begins with this vector.
using LatticeParametersOf = std::function<Parameters(std::size_t first_vector)>;

/// Called while the device works on, with the number of vectors from the first on whose outputs are in place.
using VectorsInPlace = std::function<void(std::size_t vectors)>;

/// Runs `program` over all rows of `shape`; `options.progress` counts vectors. Rows that fill no whole
/// element go through padded memory, so that arrays may have any length. Errors: as run_batch, with the name
/// of the function.
BatchReport run_lattice_jobs(const char* function, Backend& backend, const Program& program,
                             const LatticeShape& shape, const LatticeParametersOf& parameters_of,
                             const std::vector<LatticeInput>& inputs,
                             const std::vector<LatticeOutput>& outputs, const BatchOptions& options,
                             const VectorsInPlace& in_place = {});

}  // namespace weft::kernels
