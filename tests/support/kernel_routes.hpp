// SPDX-License-Identifier: Apache-2.0
// One function for all ways to compute a kernel matrix. Outputs hold NaN before, so that a value that is not
// written is found.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/kernel_oracle.hpp"

namespace weft_test {

struct KernelMatrixRoute {
    bool resident = false, wide_in = false, wide_out = false;
    weft::KernelMatrixOptions options = {};
    weft::BatchOptions batch = {};

    double tolerance() const { return wide_out ? 1e-12 : 2e-6; }
    std::string name() const {
        return std::string(resident ? "resident" : "streamed") + (wide_in ? " float64" : " float32") +
               " to " + (wide_out ? "float64" : "float32");
    }
};

/// The same for a call on host memory.
inline weft::KernelMatrixHostOptions on_host(const weft::KernelMatrixOptions& options,
                                             const weft::BatchOptions& batch = {}) {
    return {options.state_tile,
            options.autotune,
            options.bulk_states,
            options.vram_fraction,
            options.normalize,
            options.jitter,
            batch};
}

inline std::vector<KernelMatrixRoute> kernel_routes(const weft::Backend& backend) {
    std::vector<KernelMatrixRoute> routes;
    for (const bool resident : {false, true})
        for (const bool wide_in : {true, false})
            for (const bool wide_out : {false, true})
                if (!wide_out || backend.device().shader_float64)
                    routes.push_back({resident, wide_in, wide_out});
    return routes;
}

struct CircuitArguments {
    std::vector<double> weights;
    weft::KernelMatrixCircuit circuit;
};

inline CircuitArguments circuit_arguments(const OracleCircuit& oracle) {
    CircuitArguments arguments{flat(oracle.weights), {}};
    arguments.circuit = {weft::feature_map(oracle.map), weft::ConstHostArray(arguments.weights),
                         oracle.reupload, oracle.scale};
    return arguments;
}

template <class In, class Out>
std::vector<double> kernel_by(weft::Backend& backend, const KernelMatrixRoute& route, const Table& x,
                              const Table& y, const OracleCircuit& oracle) {
    const CircuitArguments arguments = circuit_arguments(oracle);
    const std::vector<double> wide_x = flat(x), wide_y = flat(y);
    const std::vector<In> in_x(wide_x.begin(), wide_x.end()), in_y(wide_y.begin(), wide_y.end());
    const weft::KernelMatrixShape shape{x.size(), y.size(), static_cast<std::uint32_t>(x.front().size())};
    std::vector<Out> k(shape.values(), std::numeric_limits<Out>::quiet_NaN());
    if (!route.resident) {
        const weft::OpReport report = y.empty()
                                          ? weft::kernel_matrix(backend, arguments.circuit, in_x, k, shape,
                                                                on_host(route.options, route.batch))
                                          : weft::kernel_matrix(backend, arguments.circuit, in_x, in_y, k,
                                                                shape, on_host(route.options, route.batch));
        CHECK(report.items == shape.pairs());
    } else {
        weft::Stream stream{backend};
        const weft::Buffer<In> buffer_x(backend, in_x.size()),
            buffer_y(backend, std::max<std::size_t>(1, in_y.size()));
        const weft::Buffer<Out> buffer_k(backend, k.size());
        stream.upload(in_x, buffer_x);
        stream.upload(k, buffer_k);
        if (y.empty()) {
            weft::kernel_matrix(stream, arguments.circuit, buffer_x, buffer_k, shape, route.options);
        } else {
            stream.upload(in_y, buffer_y);
            weft::kernel_matrix(stream, arguments.circuit, buffer_x, buffer_y, buffer_k, shape,
                                route.options);
        }
        k = stream.download(buffer_k);
    }
    return std::vector<double>(k.begin(), k.end());
}

/// K of x with y, or of x with itself if y is empty.
inline std::vector<double> kernel_by(weft::Backend& backend, const KernelMatrixRoute& route, const Table& x,
                                     const Table& y, const OracleCircuit& oracle) {
    if (route.wide_in)
        return route.wide_out ? kernel_by<double, double>(backend, route, x, y, oracle)
                              : kernel_by<double, float>(backend, route, x, y, oracle);
    return route.wide_out ? kernel_by<float, double>(backend, route, x, y, oracle)
                          : kernel_by<float, float>(backend, route, x, y, oracle);
}

/// The rows that the route reads: rounded to float32 if it reads float32.
inline Table seen_by(const KernelMatrixRoute& route, Table rows) {
    if (!route.wide_in)
        for (auto& row : rows)
            for (double& value : row) value = static_cast<double>(static_cast<float>(value));
    return rows;
}

inline void check_close(std::span<const double> got, std::span<const double> want, double tolerance) {
    REQUIRE(got.size() == want.size());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(got[i] - want[i]);
        worst = std::isnan(error) ? error : std::max(worst, error);
        if (std::isnan(worst)) break;
    }
    CHECK(worst <= tolerance);
}

/// The allowed distance of the diagonal from 1 for states of circuits: matrix units truncate the bits that
/// they shift out.
inline double diagonal_slack(const weft::Backend& backend, const weft::KernelMatrixShape& shape,
                             const OracleCircuit& circuit) {
    const CircuitArguments arguments = circuit_arguments(circuit);
    const weft::KernelMatrixEstimate plan = weft::estimate_kernel_matrix(backend, arguments.circuit, shape);
    return plan.gram_method.starts_with("matrix") && shape.qubits > 10 ? 1e-5 : 2e-6;
}

/// Checks that K equals its transpose bit for bit and has ones on the diagonal.
inline void check_symmetric(std::span<const double> k, std::size_t rows, double tolerance) {
    std::size_t differences = 0;
    double worst = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) differences += k[i * rows + j] != k[j * rows + i] ? 1 : 0;
        worst = std::max(worst, std::abs(k[i * rows + i] - 1));
    }
    CHECK(differences == 0);
    CHECK(worst <= tolerance);
}

}  // namespace weft_test
