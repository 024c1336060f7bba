// SPDX-License-Identifier: Apache-2.0
// Kernel values that others published, or that were worked out by hand, and every route against them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/kernel_oracle.hpp"
#include "support/kernel_routes.hpp"

namespace weft_test {

/// The values above the diagonal, row by row.
inline std::vector<double> upper(const std::vector<double>& k, std::size_t rows) {
    std::vector<double> values;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = i + 1; j < rows; ++j) values.push_back(k[i * rows + j]);
    return values;
}

struct Published {
    const char* what;
    Table rows;
    OracleCircuit circuit;
    std::vector<double> values;  ///< above the diagonal
};

inline void check_published(weft::Backend& backend, const Published& want) {
    INFO("case: " << std::string(want.what));
    // The oracle earns its trust here.
    check_close(upper(oracle_kernel(want.rows, want.circuit), want.rows.size()), want.values, 1e-14);
    for (const KernelMatrixRoute& route : kernel_routes(backend)) {
        INFO("route: " << route.name());
        const std::vector<double> k = kernel_by(backend, route, want.rows, {}, want.circuit);
        check_close(upper(k, want.rows.size()), want.values, route.wide_in ? route.tolerance() : 2e-6);
        check_symmetric(k, want.rows.size(), route.tolerance());
    }
}

}  // namespace weft_test
