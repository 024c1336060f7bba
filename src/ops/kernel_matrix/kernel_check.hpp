// SPDX-License-Identifier: Apache-2.0
// Refuses kernel matrices that cannot be made before anything touches a device, wherever their arrays lie,
// and begins their reports. Pure. All errors are invalid_argument.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::kernels {

/// What checks know of an array, wherever it lies.
struct ArrayFacts {
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
};
template <class Array>
ArrayFacts facts_of(const Array& array) {
    if constexpr (requires { array.type(); })
        return {array.size(), array.type()};
    else
        return {array.size, array.type};
}
/// The same of an array that a call may lack.
template <class Array>
std::optional<ArrayFacts> facts_of(const Array* array) {
    return array != nullptr ? std::optional(facts_of(*array)) : std::nullopt;
}

void check_kernel_options(const KernelMatrixOptions& options);
/// Refuses options that a call of this shape and method would ignore.
void check_options_apply(const KernelMatrixOptions& options, const KernelMatrixShape& shape,
                         KernelMatrixMethod method);
/// The options without `batch`, whose members that do not apply are refused. `stage_times` says whether it
/// applies.
KernelMatrixOptions host_options(const KernelMatrixHostOptions& options, bool stage_times);
/// Refuses autotune = on, for CUDA, which does not measure tiles.
void check_no_autotune(const KernelMatrixOptions& options);

/// Checks samples and qubits; `with_y` says whether the call has a Y.
void check_kernel_shape(const KernelMatrixShape& shape, bool with_y);
/// The same for states; returns the amplitudes of a state.
std::uint64_t check_state_shape(const KernelMatrixShape& shape, bool with_y);
/// Refuses other types than float32 and float64.
void check_real_type(const char* what, ElementType type);

/// Checks map, scale and weights, which must be finite.
CircuitFacts circuit_facts(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit, bool on_host);
/// Checks the type of states.
CircuitFacts state_facts(ElementType type, bool on_host);

/// Checks shape, options, types and lengths of a call with features, or with states.
void check_features(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const ArrayFacts& k,
                    const KernelMatrixShape& shape, const KernelMatrixOptions& options);
void check_states(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const ArrayFacts& k,
                  const KernelMatrixShape& shape, const KernelMatrixOptions& options);

/// Checks arrays in host memory: pointers, alignment, overlap with `k`. Features times the scale must be
/// finite. States must be finite, and their norms must have fourth powers in `k`.
/// Errors: EncodeError with all rows of the first array that has such values; the text names the array and
/// its first values.
void check_host_features(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                         const KernelMatrixShape& shape, double scale, std::uint32_t threads);
void check_host_states(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                       const KernelMatrixShape& shape, std::uint32_t threads);

/// Checks pointer, alignment and values of features alone; `y` may be null. The texts begin with `function`.
/// Errors: as above.
void check_features_alone(const char* function, const ConstHostArray& x, const ConstHostArray* y,
                          std::uint32_t qubits, double scale, std::uint32_t threads);

/// The report of a call on host memory, without times.
OpReport kernel_report(const KernelMatrixShape& shape, KernelMatrixMethod method, const ConstHostArray& x,
                       const ConstHostArray* y, const HostArray& k);

}  // namespace weft::kernels
