// SPDX-License-Identifier: Apache-2.0
// Quantum kernel matrices: K[i, j] = |<psi(y_j)|psi(x_i)>|^2, from features through a circuit or from states.
//
// Example:
//     weft::Backend backend;
//     const std::vector<float> x(500 * 6, 0.5f);                      // [samples, qubits], radians
//     std::vector<float> k(500 * 500);
//     weft::kernel_matrix(backend, {}, x, k, {.samples = 500, .qubits = 6});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/array.hpp>
#include <weft/backend.hpp>
#include <weft/batch.hpp>
#include <weft/config.hpp>
#include <weft/ops/kernel_circuit.hpp>
#include <weft/stream.hpp>

namespace weft {

/// The first three are about states, which the closed form does not build: with it state_tile, and `on` of
/// the other two, are refused.
struct KernelMatrixOptions {
    std::int64_t state_tile = -1;  ///< states built at a time, 1 or more; -1: planned
    /// Uses tiles that were measured on this device (<weft/tune/kernel_matrix.hpp>). A call on host memory
    /// that takes some seconds measures them first if none has been. Values stay within the same bounds.
    Choice autotune = Choice::automatic;
    Choice bulk_states = Choice::automatic;  ///< builds all states once; automatic: if they fit
    double vram_fraction = 0.85;  ///< part of the memory budget that may be used, above 0, at most 1
    /// Divides K[i, j] by sqrt(d_i d_j) with d_i = max(K[i, i] + jitter, 1e-12), and sets the diagonal to 1.
    /// With Y it divides by the root of the product of both rows' values with themselves.
    bool normalize = false;
    double jitter = 0;  ///< at least 0; refused without normalize and with Y
};

/// The same members for calls on host memory, and `batch`.
struct KernelMatrixHostOptions {
    std::int64_t state_tile = -1;
    Choice autotune = Choice::automatic;
    Choice bulk_states = Choice::automatic;
    double vram_fraction = 0.85;
    bool normalize = false;
    double jitter = 0;
    /// `progress` counts pairs. `stage_times`, if it is on, profiles the call and fills in OpReport::states_s
    /// and product_s. `cancel` applies too. The other members must keep their defaults.
    BatchOptions batch = {};
};

enum class KernelMatrixMethod {
    product,  ///< closed form for circuits that cancel; any number of qubits
    states,   ///< states, then their inner products
};
const char* to_string(KernelMatrixMethod method) noexcept;

/// How a kernel matrix is made and what memory it takes, before anything is allocated.
struct KernelMatrixEstimate {
    KernelMatrixMethod method = KernelMatrixMethod::product;
    std::uint32_t layers = 0;  ///< layers of the circuit that matter; the others cancel
    bool float64 = false;      ///< arithmetic in float64
    std::uint64_t pairs = 0;
    std::uint64_t state_tile = 0;  ///< states built at a time; 0: no states are built
    bool bulk_states = false;      ///< all states are built once
    /// Bound on errors of K, of states with norm 1: docs/kernel_matrix.md. 0: nothing could be planned.
    double error = 0;
    std::string
        gram_method;  ///< of the inner products: "fp32_3m", "fp64", "matrix_split", ..; empty: there are none
    std::string tile;                ///< of the inner products, as in tune::TileTrial; empty: there are none
    std::string tile_choice;         ///< "planned", "measured", or "to be measured" by a call on host memory
    std::uint64_t states_bytes = 0;  ///< of all states on the device
    std::uint64_t matrix_bytes = 0;  ///< of K
    /// Bounds of the memory that the buffers of a call hold at a time: device memory, and page-locked memory
    /// if it is the device's own (DeviceInfo::unified_memory) or Config::memory_limit counts it. Features and
    /// K of a resident call are not included. 0: nothing could be planned; the last of `reasons` says why.
    std::uint64_t resident_bytes = 0;
    std::uint64_t streamed_bytes = 0;  ///< of a call on host memory
    /// vram_fraction of the memory budget, or of what Config::memory_limit leaves.
    std::uint64_t available_bytes = 0;
    /// Floating-point operations of all states, as often as they are made, and of a pair.
    double state_flops = 0, pair_flops = 0;
    double state_builds = 0;  ///< times a state is made, on average: 1 with bulk states
    bool resident_fits = false, streamed_fits = false;
    std::vector<std::string> reasons;  ///< a line for each decision, and for what does not fit
};

/// The plan of a call; `type` is that of K. Errors: invalid_argument - shape, map, weights, types or options;
/// unsupported - as kernel_matrix.
KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, const KernelMatrixCircuit& circuit,
                                            const KernelMatrixShape& shape, ElementType type = kFloat32,
                                            const KernelMatrixOptions& options = {});
/// The same for states that are given.
KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, ElementType states,
                                            const KernelMatrixShape& shape, ElementType type = kFloat32,
                                            const KernelMatrixOptions& options = {});

/// K of resident features, recorded on `stream`.
///
///   x   [samples, qubits] float32 or float64, radians
///   y   [others, qubits] of the same type; without it K is that of x with itself, symmetric to the bit
///   k   [samples, columns] float32 or float64
///
/// Arithmetic is of the type of `k`; angles are reduced exactly whatever the type, so adding 2 pi / scale to
/// a feature changes K by no more than the feature's own rounding. A feature that is not finite makes its row
/// and column NaN. Errors: invalid_argument - types, shape, sizes, circuit, options; unsupported - float64 on
/// a device without shaderFloat64; out_of_memory - does not fit, with the numbers, before anything is
/// allocated; as Stream::dispatch.
void kernel_matrix(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});
void kernel_matrix(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});

/// K of resident states, complex64 or complex128 [samples, 2^qubits] and [others, 2^qubits], recorded on
/// `stream`. Computes in float64 where the states or `k` are 64 bits wide, else in float32. A state with an
/// amplitude that is not finite makes its row and column NaN; so may one with `normalize` whose norm is
/// beyond 4.2e9 if `k` is float32 (1.1e77 if it is float64).
void kernel_matrix(Stream& stream, const ConstDeviceArray& states, const DeviceArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options = {});
void kernel_matrix(Stream& stream, const detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options = {});

/// K of features in host memory into host memory, tile by tile: K has to fit neither the device nor, where it
/// is a mapped file, host memory. Arrays as above; `k` must not overlap the others. OpReport::method is that
/// of KernelMatrixMethod.
///
/// Errors: as above; EncodeError (<weft/ops/encode_error.hpp>) - features that are not finite, with all rows
/// of the first array that has any, before anything runs; cancelled; what `progress` throws. After cancelled
/// and what `progress` throws, k is undefined.
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
/// On several devices, each makes the states that its blocks of K need. Devices of one kind have one plan.
/// BatchOptions::stage_times is refused.
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});

/// K of states in host memory into host memory. Errors: as above; EncodeError - also states whose norm is
/// above 4.2e9 if K is float32, otherwise above 1.1e77, because K has its fourth power.
OpReport kernel_matrix(Backend& backend, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options = {});
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options = {});

}  // namespace weft
