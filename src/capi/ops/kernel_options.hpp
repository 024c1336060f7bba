// SPDX-License-Identifier: Apache-2.0
// Circuits, shapes and options of kernel matrices and operators, for every call that has them.
#pragma once

#include <cstddef>
#include <string>

#include <weft/weft.h>
#include <weft/error.hpp>
#include <weft/ops/kernel_matrix.hpp>
#include <weft/ops/kernel_operator.hpp>

namespace weft::capi {

/// Errors of all: invalid_argument - numbers that are no value of an enumeration, members that do not apply.
KernelMatrixCircuit circuit_of(const char* function, const weft_kernel_circuit* circuit);
/// Whether x has states, which are complex. Errors: also a circuit beside them.
bool are_states(const char* function, weft_type x_type, const weft_kernel_circuit* circuit);
KernelMatrixShape kernel_shape_of(const char* function, const weft_kernel_shape& shape);

KernelMatrixHostOptions kernel_host_options(const char* function, const weft_kernel_options* options);
KernelMatrixOptions kernel_resident_options(const char* function, const weft_kernel_options* options);
KernelOperatorOptions kernel_operator_options(const char* function, const weft_kernel_options* options);

/// Calls body() and puts the default of C, 0, for that of C++ into its texts.
template <class Body>
auto with_c_defaults(Body&& body) {
    try {
        return body();
    } catch (const Error& e) {
        const std::string text = e.what(), tile = "state_tile", need = "need -1";
        const std::size_t at = text.find(need);
        if (at == std::string::npos || text.find(tile) == std::string::npos) throw;
        throw Error(e.code(), std::string(text).replace(at, need.size(), "need 0"), e.native_code());
    }
}

}  // namespace weft::capi
