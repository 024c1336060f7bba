// SPDX-License-Identifier: Apache-2.0
// Number-theoretic transforms: polynomials to their values on a coset of 2^k points and back, low-degree
// extensions, products. Resident on a Stream, and of host memory on a Backend or a Devices.
//
// Example:
//     weft::Backend backend;
//     std::vector<std::uint64_t> x(1 << 20, 1);  // the coefficients of a polynomial
//     weft::ntt(backend, weft::Field::goldilocks, weft::NttDirection::forward, x, x, {.log_size = 20});
#pragma once

#include <array>
#include <cstdint>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/device.hpp>
#include <weft/ops/field.hpp>
#include <weft/stream.hpp>

namespace weft {

/// What a field has for transforms. With p - 1 = 2^two_adicity * odd, the root of order 2^two_adicity is
/// generator^odd, and the root of order 2^k is its power of 2^(two_adicity - k). These are the roots of
/// arkworks and, where it has the field, of Plonky3.
struct NttInfo {
    std::uint32_t two_adicity = 0;   ///< 0: no transforms in this field (bls12-381-fp, bn254-fp, mersenne31)
    std::uint32_t max_log_size = 0;  ///< of a transform: two_adicity, at most 30
    std::array<std::uint64_t, 6> generator{};  ///< of the multiplicative group; 64-bit limbs, plain form
};
/// Errors: invalid_argument - no such field.
NttInfo ntt_info(Field field);
/// The largest log_size whose elements fit one binding of the device; 0 for a field without transforms.
std::uint32_t ntt_max_log_size(const DeviceInfo& device, Field field);
/// The root of order 2^log_size that transforms use unless a call sets another: 64-bit limbs, plain form.
/// Errors: unsupported - a field without transforms; invalid_argument - log_size above its max_log_size.
std::array<std::uint64_t, 6> ntt_root(Field field, std::uint32_t log_size);

/// With N = 2^log_size, w the root of order N and g the coset generator:
enum class NttDirection {
    forward,  ///< X[j] = sum over i of x[i] * (g * w^j)^i: the values of a polynomial on the coset
    inverse,  ///< the x whose forward transform is X, with the factor 1 / N
};
const char* to_string(NttDirection direction) noexcept;

/// The order of input and output. In bit-reversed order, element r is at the index whose log_size bits are
/// those of r reversed. `nr` and `rn` work in place without a pass that only reorders; `nn` reorders while it
/// transforms, and needs scratch memory as large as the output for transforms of several passes.
enum class NttOrder {
    nn,  ///< natural to natural
    nr,  ///< natural to bit-reversed
    rn,  ///< bit-reversed to natural
};
const char* to_string(NttOrder order) noexcept;  ///< "nn"

/// Where the transforms of a batch lie.
enum class NttLayout {
    rows,     ///< [batch, N]: each transform is contiguous
    columns,  ///< [N, batch]: element i of all transforms, then element i + 1, as the rows of a trace
};
const char* to_string(NttLayout layout) noexcept;

struct NttShape {
    std::uint32_t log_size = 0;  ///< N = 2^log_size, from 1 to NttInfo::max_log_size
    std::uint64_t batch = 1;     ///< number of transforms
    NttLayout layout = NttLayout::rows;
    /// Of forward transforms of natural order: elements of each input, at most N. The others count as zero
    /// and are neither stored nor read, so the input is [batch, inputs] or [inputs, batch]. 0: N.
    std::uint64_t inputs = 0;

    std::uint64_t size() const noexcept { return std::uint64_t{1} << log_size; }
    std::uint64_t elements() const noexcept { return batch << log_size; }
};

/// Of resident transforms, and of the plan.
struct NttOptions {
    NttOrder order = NttOrder::nn;
    /// Of coset and root. Transforms are linear, so their values have the same form before and after in any
    /// case.
    FieldForm form = FieldForm::plain;
    ConstHostArray coset{};  ///< [limbs]: g, not zero; read during the call; empty: 1
    ConstHostArray root{};   ///< [limbs]: w, of order N; read during the call; empty: ntt_root()
    FieldShader shader = FieldShader::automatic;  ///< not on CUDA
    std::uint32_t tile_bits = 0;                  ///< a workgroup holds 2^tile_bits elements; 0: as planned
    std::uint32_t pass_bits = 0;  ///< most bits of the index that a pass transforms; 0: as planned
};

/// Of transforms in host memory.
struct NttHostOptions {
    NttOrder order = NttOrder::nn;
    FieldForm form = FieldForm::plain;            ///< as above
    ConstHostArray coset{}, root{};               ///< as above
    FieldShader shader = FieldShader::automatic;  ///< not on CUDA
    /// Refuses values >= p before anything runs. Unchecked, they give wrong numbers in their transform alone.
    bool check_values = false;
    /// mode and chunk_elements (here: transforms of a chunk), progress and cancel.
    BatchOptions batch = {};
};

/// `batch` transforms.
///
///   in    [batch, N] or [N, batch] elements of `field`; fewer with NttShape::inputs
///   out   [batch, N] or [N, batch]; exactly `in` (in place) unless NttShape::inputs is set, else apart
///
/// Resident transforms are recorded on `stream` and use tables of powers of w and g, which the device makes
/// on the first call with a size, root and coset. The backend keeps them (Backend::memory(),
/// Backend::trim()). Transforms of host memory are uploaded, transformed and downloaded simultaneously. The
/// items of the report are transforms, and its method names the passes, as "8+8+8". Results do not depend on
/// the device.
///
/// Errors: unsupported - a field without transforms, with the reason; limbs64 on a device without
/// shaderInt64. invalid_argument - log_size beyond the field or the device, limbs of another type, sizes that
/// do not fit the shape, overlap that is not in place, a coset that is zero or a root that is not of order N,
/// and with check_values "not canonical" with transform and element; nothing has run then and outputs are
/// untouched. out_of_memory - no room for tables or scratch memory. As Stream::dispatch or run_batch
/// otherwise.
void ntt(Stream& stream, Field field, NttDirection direction, const ConstDeviceArray& in,
         const DeviceArray& out, const NttShape& shape, const NttOptions& options = {});
OpReport ntt(Backend& backend, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options = {});
OpReport ntt(Devices& devices, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options = {});

/// Low-degree extension: the values of polynomials on N points become those on N * blowup points.
///
///   in    [batch, N] or [N, batch]: values on the powers of w^blowup, in natural order for `nn` and `nr`
///   out   [batch, N * blowup] or [N * blowup, batch]: values on the coset g * w^j, in natural order for `nn`
///         and `rn`; must not overlap `in`
///   shape log_size and batch of `in`; NttShape::inputs must be 0
///   blowup 2, 4, 8 or 16
///
/// w has the order N * blowup (NttOptions::root). The coefficients between the two transforms stay on the
/// device. Errors: as ntt; invalid_argument - another blowup.
void ntt_extend(Stream& stream, Field field, const ConstDeviceArray& in, const DeviceArray& out,
                const NttShape& shape, std::uint32_t blowup, const NttOptions& options = {});
OpReport ntt_extend(Backend& backend, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options = {});
OpReport ntt_extend(Devices& devices, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options = {});

/// The product of two polynomials, coefficients in natural order.
///
///   a, b   [m], [n] elements, at least one each
///   out    [m + n - 1] elements; must not overlap a or b
///
/// Three transforms of the next power of two. Resident, the coefficients are not checked. Of several devices,
/// one makes the whole product, and another one if that is lost. Errors: as ntt;
/// invalid_argument - FieldOptions::workgroup_size or block_elements, which do not apply.
void ntt_product(Stream& stream, Field field, const ConstDeviceArray& a, const ConstDeviceArray& b,
                 const DeviceArray& out, const FieldOptions& options = {});
OpReport ntt_product(Backend& backend, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options = {});
OpReport ntt_product(Devices& devices, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options = {});

}  // namespace weft
