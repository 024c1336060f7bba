// SPDX-License-Identifier: Apache-2.0
// Lattice work in host memory as jobs of the batch engine.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/batch.hpp>
#include <weft/lattice.hpp>

#include "kernels/lattice_plan.hpp"
#include "shared/lattice_settings.h"

namespace weft::kernels {

/// Push constants behind count and first.
struct LatticeParameters {
    shared::LatticeSettings settings;
    shared::LatticeLayout layout;
};

/// One argument: `bytes` in all, `element_bytes` for an element. element_bytes 0: a table for every element.
struct LatticeInput {
    const void* data = nullptr;
    std::size_t bytes = 0, element_bytes = 0;
};
struct LatticeOutput {
    void* data = nullptr;
    std::size_t bytes = 0, element_bytes = 0;
};

/// Runs `program` over all rows of `shape`. The rows that fill no whole element go through padded memory of
/// their own, so that arrays may have any length. Errors: as run_batch.
BatchReport run_lattice_jobs(Backend& backend, const Program& program, const LatticeShape& shape,
                             const LatticeParameters& parameters, const std::vector<LatticeInput>& inputs,
                             const std::vector<LatticeOutput>& outputs, const BatchOptions& options);

}  // namespace weft::kernels
