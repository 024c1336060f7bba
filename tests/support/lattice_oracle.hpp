// SPDX-License-Identifier: Apache-2.0
// Nested-lattice codes in a slow way: exact integers, basis matrices, squared distances. It shares nothing
// with the shaders. Points are stored doubled, so that those of E8 are integers.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <weft/ops/lattice.hpp>

namespace weft_test {

__extension__ using Wide = __int128;
using Ints = std::vector<std::int64_t>;
using weft::Lattice;
using weft::LatticeCode;

std::int64_t floor_div(Wide a, Wide b);

/// The point of D_n (or Z^2) nearest to x / scale, doubled; with `half`, of the lattice moved by 1/2 in every
/// coordinate.
Ints nearest_coset(bool even_sum, const std::vector<Wide>& x, Wide scale, bool half);

/// Residual 2 x - scale n of a doubled point, and its squared length.
std::vector<Wide> residual(const std::vector<Wide>& x, Wide scale, const Ints& n);
long double squared(const std::vector<Wide>& r, Wide scale);

/// The point of the lattice nearest to x / scale, doubled. `near_tie` is set if the cosets of E8 are so close
/// that float arithmetic may select either.
Ints oracle_nearest(Lattice lattice, const std::vector<Wide>& x, Wide scale, bool* near_tie = nullptr);

/// The basis vectors as columns; entries are doubled.
std::vector<Ints> basis(Lattice lattice);

/// G b, doubled.
Ints point(Lattice lattice, const Ints& b);

/// Solves G b = n (n doubled) by elimination in double, which is exact for these matrices.
Ints coordinates(Lattice lattice, const Ints& n);

/// The exact dither of a vector, in steps of 2^-12, as docs/lattice.md defines it.
std::vector<Wide> oracle_dither(Lattice lattice, std::uint64_t seed, std::uint64_t index);

struct OracleVector {
    Ints digits;   // [levels, d]
    Ints point;    // Q(x / beta), doubled
    Ints decoded;  // the point of the digits, doubled
    std::uint8_t status = 0;
    bool near_tie = false;
    std::vector<float> value;  // decoded times beta 2^(alpha T), less dither
};

/// The point of the top `depth` levels of digits, doubled.
Ints oracle_decode(const LatticeCode& code, const Ints& digits, std::uint32_t depth);

/// The float nearest to 2^(alpha T), of which T is negative for an encoder. The exponent is exact.
float oracle_power(float alpha, int retries);

/// The value of a decoded point. Variables are volatile, so that no compiler fuses operations or keeps more
/// bits.
std::vector<float> oracle_value(const LatticeCode& code, const Ints& n, std::uint32_t retries,
                                const std::vector<Wide>& dither);

/// Bits of values, for comparisons in which 0 and -0 differ.
std::vector<std::uint32_t> bits_of(std::span<const float> values);

std::vector<Wide> dither_of_vector(const LatticeCode& code, std::uint64_t index);

OracleVector oracle_vector(const LatticeCode& code, const float* values, std::uint64_t index = 0);

/// Bit i of the code is in byte i / 8, least significant first; digits follow each other.
void append_digits(std::vector<std::uint8_t>& codes, std::size_t& bit, const Ints& digits,
                   std::uint32_t bits);

struct OracleCodes {
    std::vector<std::uint8_t> codes, status;
    std::vector<float> values;  // decoded, [rows, width]
    std::vector<bool> near_tie;
};

/// Codes, statuses and values for rows of `width` values (0: d).
OracleCodes oracle_codes(const LatticeCode& code, const std::vector<float>& x, std::size_t width = 0);

/// Numbers between -range and range in steps of 1/1024: every operation on them is exact for beta = 1, and
/// ties are frequent.
std::vector<float> dyadic_values(std::size_t count, float range, std::uint64_t seed);

/// Approximately normal numbers that are the same on every machine: scaled sums of integers.
std::vector<float> normal_values(std::size_t count, std::uint64_t seed);

}  // namespace weft_test
