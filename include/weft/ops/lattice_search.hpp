// SPDX-License-Identifier: Apache-2.0
// The step size of a lattice code that suits given data.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> sample(4096, 0.5f);
//     const weft::LatticeSearch search = weft::lattice_search_beta(backend, {.q = 4}, sample);
//     std::printf("beta %g\n", search.best.beta);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/ops/lattice.hpp>

namespace weft {

struct LatticeSearchOptions {
    std::size_t width = 0;  ///< values of a row; 0: d
    /// Range of beta; 0: from the largest value of the sample. With a low of 0 the search goes below that
    /// range for codes with retries, which let fine codes reach large values, and for as long as the lowest
    /// betas are the best.
    float low = 0, high = 0;
    std::uint32_t steps = 40;  ///< betas tried over the range, 2 to 1000; half as many again in each valley
    /// Of each quantization. `progress` counts the betas tried. Its total grows if the error has several
    /// valleys or the range is extended.
    BatchOptions batch = {};
};

/// What one beta does to the sample.
struct LatticeTrial {
    float beta = 0;
    double mean_squared_error = 0;       ///< for each value, overloaded vectors included
    double retried = 0, unresolved = 0;  ///< shares of the vectors
};

struct LatticeSearch {
    LatticeTrial best;                 ///< least error; of equal errors, the smaller beta
    std::vector<LatticeTrial> trials;  ///< all, ascending beta
    OpReport report;                   ///< of all quantizations; its items are the betas tried
};

/// Quantizes `sample` on the device with betas in geometric steps over the range, then with steps between the
/// neighbours of the best one and of up to two more valleys of the error, which data with few large values
/// has. Fewer than about 16 steps may step over the best valley. `code.beta` is ignored; the other members
/// stay as they are. The errors are summed in double.
///
/// Errors: invalid_argument - an empty sample, options out of range; EncodeError - values that are not
/// finite; as lattice_quantize.
LatticeSearch lattice_search_beta(Backend& backend, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options = {});
LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options = {});

}  // namespace weft
