// SPDX-License-Identifier: Apache-2.0
// Lattice codes on the processor: the baseline of reports and the reference for checks of results, bit for
// bit. They share no code with the shaders.
#pragma once

#include <cstdint>
#include <span>

#include <weft/ops/lattice.hpp>

namespace weft::tool {

/// As weft::lattice_encode, lattice_decode and lattice_quantize for finite vectors and codes without retries
/// and without dither, packed or not. `threads`: the most that are used.
void cpu_lattice_encode(const LatticeCode& code, std::span<const float> x, std::span<std::uint8_t> codes,
                        std::span<std::uint8_t> status, unsigned threads);
void cpu_lattice_decode(const LatticeCode& code, std::span<const std::uint8_t> codes, std::span<float> x,
                        unsigned threads);
void cpu_lattice_quantize(const LatticeCode& code, std::span<const float> x, std::span<float> y,
                          std::span<std::uint8_t> status, unsigned threads);

/// Pseudo-random values, most of which fit the code.
void fill_lattice(const LatticeCode& code, std::span<float> x);

}  // namespace weft::tool
