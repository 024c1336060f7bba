// SPDX-License-Identifier: Apache-2.0
// The search for beta by a function that quantizes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <weft/ops/lattice_search.hpp>

namespace weft::kernels {

/// Quantizes x, which is finite, into y, of the same size.
using QuantizeSample = std::function<OpReport(const LatticeCode& code, std::span<const float> x,
                                              std::span<float> y, const LatticeHostOptions& options)>;

/// As lattice_search_beta. The sample is checked by `threads` threads.
LatticeSearch search_beta(const LatticeCode& code, std::span<const float> sample,
                          const LatticeSearchOptions& options, std::uint32_t threads,
                          const QuantizeSample& quantize);

}  // namespace weft::kernels
