// SPDX-License-Identifier: Apache-2.0
// Quantum kernel matrices that are never stored: K times V, rows and the diagonal of K, for millions of rows.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> x(5000 * 8, 0.5f), v(5000, 1.0f);      // [samples, qubits], radians
//     std::vector<float> out(5000);
//     const weft::KernelOperator k(backend, {}, x, {.samples = 5000, .qubits = 8});
//     weft::kernel_apply(backend, k, v, out);                         // K v
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/devices.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/stream.hpp>

namespace weft {

namespace kernels {
class OperatorObject;
}

enum class KernelOperatorMethod {
    product,   ///< every value of K, in closed form
    low_rank,  ///< two products with the features of K, whose number is its rank: 3^qubits (ry) or 4^qubits
               ///< (ryrz)
    states,    ///< the inner products of states, block by block
};
const char* to_string(KernelOperatorMethod method) noexcept;

struct KernelOperatorOptions {
    ElementType type = kFloat32;  ///< of the arithmetic, of V and of all results: float32 or float64
    /// As in KernelMatrixOptions. For circuits in closed form, all of whose states have norm 1, it divides
    /// K[i, j] by 1 + jitter and sets the diagonal to 1.
    bool normalize = false;
    double jitter = 0;  ///< at least 0; refused without normalize and with Y
    /// Uses each value of a square K for its row and for its column. automatic: where that is faster.
    Choice symmetric = Choice::automatic;
    /// Multiplies by way of the features of K. automatic: where that is faster, which few qubits and many
    /// rows are. Refused for more than 2^18 features, and where states are multiplied.
    Choice low_rank = Choice::automatic;
    double vram_fraction = 0.85;  ///< part of the memory budget that may be used, above 0, at most 1
};

/// How K times V is made and what it takes, before anything is allocated.
struct KernelOperatorEstimate {
    KernelOperatorMethod method = KernelOperatorMethod::product;
    std::uint64_t pairs = 0;             ///< kernel values of a product with up to `columns_together` columns
    bool symmetric = false;              ///< each value serves its row and its column
    std::uint32_t columns_together = 1;  ///< columns of V for which a kernel value is made once
    std::uint32_t passes = 1;            ///< over K
    double instructions =
        0;  ///< multiply-adds and multiplications of a pass, a pair of numbers counting once
    /// Bound of errors: |out - exact| <= error * sum of |V| over the rows of V, for a = 1 and b = 0, and for
    /// states of norm 1. See docs/kernel_operator.md.
    double error = 0;
    std::uint64_t sample_bytes = 0;   ///< device memory that the operator holds
    std::uint64_t scratch_bytes = 0;  ///< that a product takes as well
    std::uint64_t available_bytes = 0;
    bool fits = false;
    std::vector<std::string> reasons;  ///< a line for each decision
};

/// The plan of a product with `columns` columns of V. Errors: as KernelOperator, but what does not fit is no
/// error.
KernelOperatorEstimate estimate_kernel_operator(const Backend& backend, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});

/// The same for states that are given, complex64 or complex128.
KernelOperatorEstimate estimate_kernel_operator(const Backend& backend, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});
/// The same on several devices. Memory is that of one device; `fits`: on each that is not lost.
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns = 1,
                                                const KernelOperatorOptions& options = {});

/// K of a circuit, or of states that are given. Cheap to copy; copies share the memory. May be used from many
/// threads.
///
///   x        [samples, qubits] float32 or float64, radians
///   y        [others, qubits] of the same type; without it K is that of x with itself
///   states   [samples, 2^qubits] complex64 or complex128, and `others` [others, 2^qubits] of the same type
///
/// A circuit whose layers cancel (KernelMatrixCircuit without re-upload, or with one layer) may have any
/// number of qubits; the operator holds some numbers for each sample in device memory, 4 * (3 qubits) bytes
/// for ryrz in float32. Of given states, and of other circuits, it holds packed states, mostly 8 bytes an
/// amplitude. States of a circuit that do not fit together are made again in each product, tile by tile;
/// states that are given must fit. It holds nothing of the arrays that it was made from.
///
/// A feature that is not finite makes its row and column of K NaN if it is resident, and is refused in host
/// memory. Errors: invalid_argument - types, shape, sizes, options; unsupported - float64 on a device without
/// shaderFloat64; out_of_memory - does not fit, with the numbers, before anything is allocated; EncodeError
/// (<weft/ops/encode_error.hpp>) - features or states that are not finite in host memory.
class KernelOperator {
  public:
    /// From resident features. The work is recorded on `stream`; use the operator on this stream, or on
    /// others after its event.
    KernelOperator(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Stream& stream, const ConstDeviceArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Stream& stream, const detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    /// From host memory; the device has read it when the constructor returns.
    KernelOperator(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const ConstHostArray& y, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Backend& backend, const ConstHostArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                   const ConstHostArray& others, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    /// On every device that is not lost.
    KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const KernelMatrixShape& shape, const KernelOperatorOptions& options = {});
    KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                   const ConstHostArray& y, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});

    KernelOperator(Devices& devices, const ConstHostArray& states, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});
    KernelOperator(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                   const ConstHostArray& others, const KernelMatrixShape& shape,
                   const KernelOperatorOptions& options = {});

    const KernelMatrixShape& shape() const;
    ElementType type() const;
    /// The plan of a product with `columns` columns of V. Errors: invalid_argument - not 1 to 64.
    KernelOperatorEstimate estimate(std::uint32_t columns = 1) const;

  private:
    friend struct detail::Access;
    const std::shared_ptr<const kernels::OperatorObject>& object() const noexcept { return object_; }
    std::shared_ptr<const kernels::OperatorObject> object_;
};

struct KernelApplyOptions {
    double a = 1;       ///< factor of the product
    double b = 0;       ///< factor of what `out` holds; 0: `out` is not read
    double lambda = 0;  ///< added to the diagonal of K; refused with Y
    /// Multiplies by the transpose of K, that of X with Y.
    bool transpose = false;
};

/// The same members for calls on host memory, and `batch`.
struct KernelApplyHostOptions {
    double a = 1, b = 0, lambda = 0;
    bool transpose = false;
    /// `progress` counts pairs. `cancel` applies too. The other members must keep their defaults.
    BatchOptions batch = {};
};

/// out = a (K + lambda I) V + b out.
///
///   v     [columns of K, n] of the operator's type, n from 1 to 64
///   out   [rows of K, n] of the same type; must not overlap v
///
/// With `transpose` rows and columns of K are exchanged. n is found from the sizes. Results are the same bits
/// in every call on a device. Errors: invalid_argument - types, sizes, options, an operator of another
/// backend; out_of_memory; as Stream::dispatch.
void kernel_apply(Stream& stream, const KernelOperator& k, const ConstDeviceArray& v, const DeviceArray& out,
                  const KernelApplyOptions& options = {});
/// The same in host memory. OpReport::items are pairs. Errors: also cancelled and what `progress` throws,
/// after which `out` is undefined.
OpReport kernel_apply(Backend& backend, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& options = {});
/// Several devices share the rows of the result, or where symmetry pays the pairs of K, each of which is then
/// made once. Either way results are the same bits however devices of one kind have shared the work.
OpReport kernel_apply(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& options = {});

/// Rows of K, which need not be ascending or different. Where states are multiplied, each 64 rows of K that
/// have one of them are made.
///
///   rows   numbers of rows of X
///   out    [rows, columns of K] of the operator's type
///
/// Errors: invalid_argument - sizes, types, a row beyond the last; as kernel_apply.
void kernel_rows(Stream& stream, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out);
/// The same in host memory. OpReport::items are pairs, and so is what `progress` counts. Of `batch`,
/// `progress` and `cancel` apply; the other members must keep their defaults. Errors: also cancelled and what
/// `progress` throws, after which `out` is undefined.
OpReport kernel_rows(Backend& backend, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                     const HostArray& out, const BatchOptions& batch = {});

/// The diagonal of a square K, `samples` values of the operator's type. Errors: invalid_argument - as above;
/// K of X with Y.
void kernel_diagonal(Stream& stream, const KernelOperator& k, const DeviceArray& out);
OpReport kernel_diagonal(Backend& backend, const KernelOperator& k, const HostArray& out,
                         const BatchOptions& batch = {});

}  // namespace weft
