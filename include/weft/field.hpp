// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors: element-wise addition, subtraction and negation over BLS12-381 Fp.
#pragma once

#include <cstdint>
#include <span>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/stream.hpp>

namespace weft {

inline constexpr std::size_t kBls12381FpLimbs = 6;  ///< 64-bit limbs of one element

enum class FieldOp { add, sub, neg };
const char* to_string(FieldOp op) noexcept;

/// One vector operation in host memory; `b` stays empty for neg.
///
///   a, b, out   [n, 6] uint64, least significant limb first, plain (not Montgomery) form; values below
///               p =
///               0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
///
/// `out` may be exactly `a` or `b` (in place); any other overlap is refused. `a` and `b` may be the same.
struct FieldJob {
    std::span<const std::uint64_t> a, b;
    std::span<std::uint64_t> out;
};

struct FieldOptions {
    /// Refuse values >= p before anything runs. Unchecked, such a value gives a result that is congruent only
    /// if it is below 2p for add (one subtraction of p is made), and is undefined for sub and neg.
    bool checked = false;
    BatchOptions batch = {};
};

/// out[i] = a[i] + b[i], a[i] - b[i] or -a[i] mod p for every element of every job.
///
/// Errors: invalid_argument - limb counts that are no multiple of 6 or differ, null with a length, overlap
/// that is not in place, a `b` given to neg, and in checked mode "not canonical" with job and element index;
/// nothing has run then and outputs are untouched. As run_batch otherwise.
BatchReport field_batch(Backend& backend, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options = {});

/// One job of field_batch.
BatchReport field_add(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options = {});
BatchReport field_sub(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options = {});
BatchReport field_neg(Backend& backend, std::span<const std::uint64_t> a, std::span<std::uint64_t> out,
                      const FieldOptions& options = {});

/// The same on resident buffers, recorded on `stream`, unchecked.
/// Errors: invalid_argument - sizes no multiple of 6 limbs or not equal; as Stream::dispatch.
void field_add(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
               BufferView<std::uint64_t> out);
void field_sub(Stream& stream, BufferView<const std::uint64_t> a, BufferView<const std::uint64_t> b,
               BufferView<std::uint64_t> out);
void field_neg(Stream& stream, BufferView<const std::uint64_t> a, BufferView<std::uint64_t> out);

/// Which shader serves an operation.
enum class FieldShader {
    automatic,  ///< the one measured faster for the kind of device
    limbs32,    ///< 32-bit limbs, no optional feature
    limbs64,    ///< 64-bit limbs, needs shaderInt64
};

/// The program behind an operation, for run_batch, JobPipeline or Stream::dispatch: bindings a, b, out (neg:
/// a, out), an element is 48 bytes. Errors: unsupported - limbs64 on a device without shaderInt64.
Program field_program(Backend& backend, FieldOp op, FieldShader shader = FieldShader::automatic);

}  // namespace weft
