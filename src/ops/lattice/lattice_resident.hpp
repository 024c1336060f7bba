// SPDX-License-Identifier: Apache-2.0
// Shapes, checks and push constants of lattice calls, and of inner products of lattice codes, on any API.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>

#include "ops/lattice/lattice_plan.hpp"
#include "shaders/lattice/lattice_settings.h"

namespace weft::kernels {

/// Push constants behind count and first.
struct LatticeParameters {
    shared::LatticeSettings settings;
    shared::LatticeLayout layout;
};

LatticeParameters parameters_of(const LatticeCode& code, const LatticeShape& shape);

/// Errors: invalid_argument - a code out of range, values that are no whole rows, rows that are too wide.
LatticeShape checked_shape(const char* function, const LatticeCode& code, std::size_t values,
                           std::size_t width);
/// All levels for 0. Errors: invalid_argument - more levels than the code has.
std::uint32_t checked_depth(const char* function, const LatticeCode& code, std::uint32_t depth);

/// Vectors in device memory. Elements are blocks of vectors, of which the last may be there in part.
struct ResidentVectors {
    LatticeShape shape;
    LatticeParameters parameters;
    std::uint64_t elements = 0;
};
/// `size` values from value `first` of a memory on.
struct ResidentValues {
    const void* memory = nullptr;
    std::size_t first = 0, size = 0;
};

/// Calls on resident arrays of these sizes; `codes` and `status` count words. Errors: invalid_argument - as
/// checked_shape and checked_depth; more vectors than 32 bits count; sizes that do not fit; a `y` that
/// overlaps `x` in part.
ResidentVectors resident_encode(const LatticeCode& code, std::size_t values, std::size_t codes,
                                std::size_t status, const LatticeOptions& options);
ResidentVectors resident_quantize(const LatticeCode& code, const ResidentValues& x, const ResidentValues& y,
                                  std::size_t status, const LatticeOptions& options);
ResidentVectors resident_decode(const LatticeCode& code, std::size_t values, std::size_t codes,
                                std::optional<std::size_t> status, const LatticeDecodeOptions& options);

/// The shape of inner products. Unlike in lattice_shape, rows of whole vectors stay rows, since each has a
/// result of its own. Errors: invalid_argument - a table of another code, retries, dither, sums that may not
/// fit 32 bits, more than 2^56 vectors.
LatticeShape inner_shape(const LatticeTable& table, const LatticeCode& code, std::size_t rows,
                         std::size_t width);
/// Whether y is one row for all. Errors: invalid_argument - it is neither that nor all rows.
bool is_one_row(std::size_t got, std::size_t one, std::size_t rows, std::size_t all, const char* unit);
/// A call of lattice_inner on host memory that has been checked.
struct InnerCall {
    LatticeShape shape;
    bool single = false;  ///< y is one row for all
};
/// Errors: as lattice_inner.
InnerCall check_inner(const LatticeTable& table, const LatticeCode& code, std::span<const std::uint8_t> x,
                      std::span<const std::uint8_t> y, std::span<const float> out,
                      const LatticeHostOptions& options, std::uint32_t threads);
/// Sizes of resident arrays in words; returns is_one_row. Errors: invalid_argument.
bool check_inner_words(const LatticeCode& code, const LatticeShape& shape, std::size_t x, std::size_t y);

}  // namespace weft::kernels
