// SPDX-License-Identifier: Apache-2.0
// Inner products of lattice codes, without decoding them.
//
// Example:
//     weft::Backend backend;
//     const std::vector<std::uint8_t> codes(800);  // 100 vectors of D4, two levels of four digits each
//     std::vector<float> out(100);
//     weft::lattice_inner(backend, weft::LatticeTable(weft::Lattice::d4, 4), {}, codes, codes, out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/stream.hpp>

namespace weft {

/// The inner products of what any two levels of a code stand for. With B_m = sum_i b_(m,i) q^i, the index of
/// the digits of level m, the inner product of two vectors is beta^2 sum_(m,n) q^(m+n) table(B_m, B'_n).
class LatticeTable {
  public:
    static constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 24;

    /// Errors: invalid_argument - q as in LatticeCode; more than kMaxEntries = q^(2d) entries: D4 above q =
    /// 8, and E8, whose vectors are better decoded.
    LatticeTable(Lattice lattice, std::uint32_t q);

    Lattice lattice() const noexcept { return lattice_; }
    std::uint32_t q() const noexcept { return q_; }
    std::uint32_t points() const noexcept { return points_; }  ///< q^d
    /// Entry of two indices below points(), unchecked.
    std::int32_t operator()(std::uint32_t a, std::uint32_t b) const noexcept {
        const std::size_t at = std::size_t{a} * points_ + b;
        return static_cast<std::int16_t>(words_[at / 2] >> (at % 2 * 16));
    }
    std::int32_t largest() const noexcept { return largest_; }  ///< greatest absolute value of an entry
    /// Entry a * points() + b is half (a * points() + b) of this, low half first.
    std::span<const std::uint32_t> words() const noexcept { return words_; }

  private:
    Lattice lattice_;
    std::uint32_t q_, points_ = 1;
    std::int32_t largest_ = 0;
    std::vector<std::uint32_t> words_;
};

/// out[r] = <x_r, y_r> of the rows that `x` and `y` are codes of; or <x_r, y_0>, where `y` is one row.
///
///   x, y   codes as of lattice_encode for `code` without retries and dither
///   out    [rows] float: beta^2 times a 32-bit sum of integers, both exact, rounded once or twice
///
/// Unchecked, digits that are not below q give a wrong number in their row. The items of the report are the
/// vectors of `x`.
///
/// Errors: invalid_argument - sizes, null, overlap; a table of another lattice or q; a code with retries or
/// dither; rows so long that the sum may not fit 32 bits; EncodeError with check_values - vectors with digits
/// that are not below q. As run_batch otherwise.
OpReport lattice_inner(Backend& backend, const LatticeTable& table, const LatticeCode& code,
                       std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, std::span<float> out,
                       const LatticeHostOptions& options = {});
OpReport lattice_inner(Devices& devices, const LatticeTable& table, const LatticeCode& code,
                       std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, std::span<float> out,
                       const LatticeHostOptions& options = {});

/// The same on resident buffers; x and y have code_words() words for their rows. The first call with a table
/// uploads its words into a buffer that the backend keeps until Backend::trim(); Backend::memory() counts it
/// as "lattice table". Errors: as above; out_of_memory - that buffer; as Stream::dispatch.
void lattice_inner(Stream& stream, const LatticeTable& table, const LatticeCode& code,
                   BufferView<const std::uint32_t> x, BufferView<const std::uint32_t> y,
                   BufferView<float> out, const LatticeOptions& options = {});

}  // namespace weft
