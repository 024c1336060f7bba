// SPDX-License-Identifier: Apache-2.0
// The rows of a lattice call that make a share for one of several devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

/// Rows of a share.
struct LatticeRows {
    std::size_t first = 0, count = 0;
    std::size_t first_vector = 0, vectors = 0;

    /// Their part of an array that holds `unit` values for each vector or row.
    template <class T>
    std::span<T> of_vectors(std::span<T> array, std::size_t unit) const {
        return array.empty() ? array : array.subspan(first_vector * unit, vectors * unit);
    }
    template <class T>
    std::span<T> of_rows(std::span<T> array, std::size_t unit) const {
        return array.subspan(first * unit, count * unit);
    }
    template <class Byte>
    std::span<Byte> of_codes(std::span<Byte> codes, const LatticeCode& code) const {
        return codes.subspan(code_bytes(code, first_vector), code_bytes(code, vectors));
    }
    /// The code with the dither of their first vector.
    LatticeCode code(LatticeCode whole) const {
        if (whole.dither_seed) whole.dither_first += first_vector;
        return whole;
    }
};

/// Elements [first, first + count) of the call.
inline LatticeRows lattice_rows(const LatticeShape& shape, std::uint64_t first, std::uint64_t count) {
    LatticeRows rows;
    rows.first = first * shape.element_rows;
    rows.count = std::min<std::size_t>(shape.rows - rows.first, count * shape.element_rows);
    rows.first_vector = rows.first * shape.tiles;
    rows.vectors = rows.count * shape.tiles;
    return rows;
}

/// LatticeHostOptions::width of a call for some rows.
inline std::size_t width_of(const LatticeShape& shape) {
    return shape.ragged ? shape.width : 0;
}

}  // namespace weft::kernels
