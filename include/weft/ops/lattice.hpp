// SPDX-License-Identifier: Apache-2.0
// Hierarchical nested-lattice quantization: vectors of 2, 4 or 8 floats to a few small digits each, and back.
//
// Example:
//     const std::vector<float> x(4096, 0.5f);  // 1024 vectors of D4
//     const weft::LatticeCode code{.lattice = weft::Lattice::d4, .q = 4, .levels = 2, .beta = 0.1f};
//     std::vector<std::uint8_t> codes(weft::code_bytes(code, 1024));
//     weft::Backend backend;
//     weft::lattice_encode(backend, code, x, codes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/stream.hpp>

namespace weft {

/// Z2: pairs of integers. D4: four integers with an even sum. E8: eight integers with an even sum, or eight
/// halves of odd integers with an even sum.
enum class Lattice { z2, d4, e8 };
const char* to_string(Lattice lattice) noexcept;               ///< "Z2", "D4", "E8"
constexpr std::uint32_t dimension(Lattice lattice) noexcept {  ///< values of a vector
    return lattice == Lattice::z2 ? 2 : lattice == Lattice::d4 ? 4 : 8;
}

/// A code: what encoder and decoder must agree on. docs/lattice.md has the rules, ties and orders of bits.
///
/// x / beta is rounded to the nearest lattice point, and that is written in `levels` digits of base q for
/// each value, fine level first. A point that needs more overloads: with retries, x is multiplied by
/// 2^-alpha, 2^(-2 alpha) and so on, each a power that is rounded once, until it can be coded. The number of
/// retries goes into the vector's status byte. Errors: invalid_argument, naming the member.
struct LatticeCode {
    Lattice lattice = Lattice::d4;
    std::uint32_t q = 4;            ///< 3 to 16; 2 is refused: it has no code for positive values
    std::uint32_t levels = 2;       ///< 1 to 4
    float beta = 1.0f;              ///< 2^-40 to 2^40
    float alpha = 1.0f;             ///< above 0, at most 4
    std::uint32_t max_retries = 0;  ///< at most 64 / alpha, and at most 100
    bool packed = false;            ///< digits of digit_bits() bits instead of a byte
    /// Subtractive dither: vector i is moved by a pseudo-random point of the lattice's cell before it is
    /// coded, and back when decoded, which makes the error uniform and independent of the value. The point
    /// depends on seed, `dither_first` + i and lattice only.
    std::optional<std::uint64_t> dither_seed{};
    std::uint64_t dither_first = 0;  ///< number of the first vector of a call; refused without a seed
};

/// Bits of a digit: 8, or if packed as many as q - 1 needs.
std::uint32_t digit_bits(const LatticeCode& code) noexcept;
/// Vectors of rows of `width` values; a row's last vector is padded with zeros.
std::size_t lattice_tiles(Lattice lattice, std::size_t width) noexcept;
/// ceil(vectors * levels * d * digit_bits / 8), but at most SIZE_MAX, which no array has.
std::size_t code_bytes(const LatticeCode& code, std::size_t vectors) noexcept;
std::size_t code_words(const LatticeCode& code,
                       std::size_t vectors) noexcept;  ///< the same in words of 32 bits
constexpr std::size_t status_words(std::size_t vectors) noexcept {
    return vectors / 4 + (vectors % 4 != 0 ? 1 : 0);
}

/// A status byte holds the number of retries, and kLatticeUnresolved if the vector overloads after the last
/// retry, so that its code stands for a wrong value of the right range. kLatticeNotFinite: the vector had NaN
/// or infinity, and all its digits are zero.
inline constexpr std::uint8_t kLatticeRetries = 0x7f, kLatticeUnresolved = 0x80, kLatticeNotFinite = 0xff;

/// Options for resident vectors.
struct LatticeOptions {
    std::size_t width = 0;  ///< values of a row; 0: d, vector after vector
};
struct LatticeDecodeOptions {
    std::size_t width = 0;    ///< as it was encoded
    std::uint32_t depth = 0;  ///< levels to decode, coarse ones first; 0: all
};

/// Options for vectors in host memory.
struct LatticeHostOptions {
    std::size_t width = 0;      ///< values of a row; 0: d, vector after vector
    bool check_values = false;  ///< refuses values that are not finite before anything runs
    BatchOptions batch = {};
};
struct LatticeDecodeHostOptions {
    std::size_t width = 0;    ///< as it was encoded
    std::uint32_t depth = 0;  ///< levels to decode, coarse ones first; 0: all
    /// Refuses digits outside [0, q) and statuses that no encoder writes before anything runs (EncodeError).
    /// Unchecked, such vectors are decoded to NaN.
    bool check_values = false;
    BatchOptions batch = {};
};

/// Codes of `x` in host memory.
///
///   x        [rows, width] float
///   codes    code_bytes(rows * tiles) bytes: [rows, tiles, levels, d] digits, one byte each or packed
///   status   [rows, tiles] bytes, or empty; the report has the totals in either case
///
/// The items of the report are vectors. `retried` and `unresolved` are totals of the statuses.
///
/// Errors: invalid_argument - code, shape, null, overlap; EncodeError (<weft/ops/encode_error.hpp>) - rows
/// with values that are not finite. With check_values nothing has run then; otherwise all other vectors are
/// coded. As run_batch otherwise.
OpReport lattice_encode(Backend& backend, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status = {},
                        const LatticeHostOptions& options = {});
OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status = {},
                        const LatticeHostOptions& options = {});

/// The inverse. `status` as lattice_encode made it; empty: no vector was retried. x: [rows, width].
/// Errors: as lattice_encode; digits and statuses as check_values says.
OpReport lattice_decode(Backend& backend, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options = {});
OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options = {});

/// lattice_encode and lattice_decode in one pass, bit for bit, without the codes. `y` may be `x`. Vectors
/// that are not finite become NaN. Errors: as lattice_encode. If `y` is `x`, they name the first value of a
/// vector.
OpReport lattice_quantize(Backend& backend, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status = {},
                          const LatticeHostOptions& options = {});
OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status = {},
                          const LatticeHostOptions& options = {});

/// The same on resident buffers, recorded on `stream`: codes have code_words(), statuses status_words() words
/// for rows * tiles vectors. Only shapes are checked: statuses report what a call in host memory would throw.
/// The first call with retries and a certain alpha and max_retries uploads a table of powers into a buffer
/// that the backend keeps until Backend::trim(); Backend::memory() counts it as "lattice scales". Errors:
/// invalid_argument - code, sizes, `y` that overlaps `x` in part; out_of_memory - that buffer; as
/// Stream::dispatch.
void lattice_encode(Stream& stream, const LatticeCode& code, BufferView<const float> x,
                    BufferView<std::uint32_t> codes, BufferView<std::uint32_t> status,
                    const LatticeOptions& options = {});
void lattice_decode(Stream& stream, const LatticeCode& code, BufferView<const std::uint32_t> codes,
                    std::optional<BufferView<const std::uint32_t>> status, BufferView<float> x,
                    const LatticeDecodeOptions& options = {});
void lattice_quantize(Stream& stream, const LatticeCode& code, BufferView<const float> x, BufferView<float> y,
                      BufferView<std::uint32_t> status, const LatticeOptions& options = {});

}  // namespace weft
