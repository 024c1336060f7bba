// SPDX-License-Identifier: Apache-2.0
// Finite-field vectors in host memory, streamed through the device. Resident ones: field_stream.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/stream.hpp>

namespace weft {

enum class Field {
    bls12_381_fp,
    bls12_381_fr,
    bn254_fp,
    bn254_fr,
    bls12_377_fp,
    bls12_377_fr,
    stark252,
    goldilocks,
    babybear,
    koalabear,
    mersenne31,
};

/// How elements of a field lie in memory: limbs, least significant first, elements one after the other.
struct FieldInfo {
    Field field = Field::bls12_381_fp;
    std::string_view name;                   ///< "bls12-381-fp"
    std::uint32_t bits = 0;                  ///< of the modulus p
    std::uint32_t limbs = 0;                 ///< of an element
    std::uint32_t limb_bytes = 0;            ///< 8, or 4 for the fields of 31 bits
    std::uint32_t element_bytes = 0;         ///< limbs * limb_bytes
    const char* dtype = "";                  ///< of a limb, as NumPy writes it: "<u8" or "<u4"
    std::array<std::uint64_t, 6> modulus{};  ///< 64-bit limbs, least significant first, zeros behind
};

/// All fields, in the order of the enumeration.
std::span<const FieldInfo> fields() noexcept;
/// Errors: invalid_argument - no such field.
const FieldInfo& field_info(Field field);
std::optional<Field> find_field(std::string_view name) noexcept;
const char* to_string(Field field) noexcept;

/// With R = 2^(8 * element_bytes), Montgomery form of x is x * R mod p.
enum class FieldForm { plain, montgomery };

/// out[i] = ... mod p, for every element; sum and inner_product give one element.
enum class FieldOp {
    add,              ///< a[i] + b[i]
    sub,              ///< a[i] - b[i]
    neg,              ///< -a[i]
    mul,              ///< a[i] * b[i]
    square,           ///< a[i] * a[i]
    inverse,          ///< 1 / a[i]; 0 for 0
    to_montgomery,    ///< a[i] * R, whatever FieldForm says
    from_montgomery,  ///< a[i] / R, likewise
    axpy,             ///< scalar * a[i] + b[i]
    sum,              ///< a[0] + a[1] + ...
    inner_product,    ///< a[0] * b[0] + a[1] * b[1] + ...
};
const char* to_string(FieldOp op) noexcept;  ///< "to-montgomery"
bool takes_b(FieldOp op) noexcept;           ///< add, sub, mul, axpy, inner_product
bool is_reduction(FieldOp op) noexcept;      ///< sum, inner_product

inline constexpr std::size_t kBls12381FpLimbs = 6;  ///< 64-bit limbs of one element of bls12-381-fp

/// One vector operation in host memory; Limb is uint64_t, or uint32_t for the fields of 31 bits.
///
///   a, b     [n, limbs]; b is empty for operations that take none
///   out      [n, limbs], for reductions [limbs]
///   scalar   [limbs] for axpy, in the same form as a and b; else empty; read during the call
///
/// `out` may be exactly `a` or `b` (in place) and nothing else of them; for reductions nothing of them. `a`
/// and `b` may be the same. Values are below p: see FieldOptions::checked.
template <class Limb>
struct FieldVectors {
    std::span<const Limb> a, b;
    std::span<Limb> out;
    std::span<const Limb> scalar = {};
};
using FieldJob = FieldVectors<std::uint64_t>;
using Field31Job = FieldVectors<std::uint32_t>;

/// Which shader serves an operation.
enum class FieldShader {
    automatic,  ///< the one measured faster for the kind of device
    limbs32,    ///< 32-bit integers, no optional feature
    limbs64,    ///< 64-bit integers, needs shaderInt64; fields of 31 bits have no use for them
};

struct FieldOptions {
    /// Refuse values >= p before anything runs; the error names job and element. Unchecked they give, for all
    /// fields alike: the right result of add if a + b < 2p, of products and conversions if one operand is
    /// below p, of inverse always, of neg for p itself. Otherwise some wrong number, in that element alone
    /// (of reductions: in the result). docs/field.md has the table.
    bool checked = false;
    FieldForm form = FieldForm::plain;  ///< of a, b, scalar and out
    FieldShader shader = FieldShader::automatic;
    BatchOptions batch = {};
};

/// One operation on every element of every job. No elements: outputs stay as they are, reductions give 0.
/// Reductions are cut into blocks, whose totals are added on the host.
///
/// Errors: invalid_argument - limb counts that are no multiple of an element or differ, null with a length,
/// overlap that is not in place, a `b` or `scalar` too many or too few, a scalar that is not below p, Limb of
/// the wrong size for the field, and in checked mode "not canonical" with job and element index; nothing has
/// run then and outputs are untouched. unsupported - limbs64 on a device without shaderInt64. As run_batch
/// otherwise.
BatchReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options = {});
BatchReport field_batch(Backend& backend, Field field, FieldOp op, std::span<const Field31Job> jobs,
                        const FieldOptions& options = {});

/// Over bls12-381-fp.
BatchReport field_batch(Backend& backend, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options = {});
BatchReport field_add(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options = {});
BatchReport field_sub(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options = {});
BatchReport field_neg(Backend& backend, std::span<const std::uint64_t> a, std::span<std::uint64_t> out,
                      const FieldOptions& options = {});
BatchReport field_mul(Backend& backend, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                      std::span<std::uint64_t> out, const FieldOptions& options = {});

/// How an operation on resident buffers, or a program, is launched.
struct FieldKernelOptions {
    FieldForm form = FieldForm::plain;
    FieldShader shader = FieldShader::automatic;
    std::uint32_t workgroup_size = 0;  ///< of a workgroup, a power of two, for reductions to 256; 0: as planned
    std::uint32_t block_elements = 0;  ///< of reductions: elements of one workgroup, about; 0: as planned
};

/// The program behind an element-wise operation, for run_batch, JobPipeline or Stream::dispatch: bindings a,
/// b, out (without b: a, out), an element is element_bytes. Parameters of axpy: the scalar in Montgomery
/// form. Errors: unsupported - limbs64 on a device without shaderInt64; invalid_argument - a reduction, a
/// workgroup size that is no power of two or too large.
Program field_program(Backend& backend, Field field, FieldOp op, const FieldKernelOptions& options = {});
Program field_program(Backend& backend, FieldOp op, FieldShader shader = FieldShader::automatic);

}  // namespace weft
