// SPDX-License-Identifier: Apache-2.0
// Kernel operators of states in every place, against a simulation in double: products are within the bound of
// the plan and the same bits in all places of an API, and rows and diagonals are those of the dense matrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/kernel_operator_cases.hpp"
#include "conformance/places.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/operator_oracle.hpp"

namespace {

using namespace weft_test;

template <class Place, class... Arguments>
auto operator_at(Place& place, const Arguments&... a) {
#ifdef WEFT_CONFORMANCE_CUDA
    if constexpr (Place::kCuda && Place::kHost)
        return weft::cuda::KernelOperator(a...);
    else if constexpr (Place::kCuda)
        return weft::cuda::KernelOperator(place.stream(), a...);
    else
#endif
        if constexpr (Place::kHost)
        return weft::KernelOperator(place.backend(), a...);
    else
        return weft::KernelOperator(place.stream(), a...);
}

Table table(std::size_t rows, std::size_t columns, std::uint32_t seed) {
    const std::vector<float> values = scattered<float>(rows * columns, seed);
    Table table(rows);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            table[i].push_back(static_cast<double>(values[i * columns + j]));
    return table;
}

/// Features, states and the dense K of a case.
struct Problem {
    explicit Problem(const StateCase& c)
        : shape{c.samples, c.others, c.qubits}, weights(flat(table(2, c.qubits, 9))) {
        OracleCircuit circuit;
        circuit.weights = table(2, c.qubits, 9);
        circuit.reupload = true;
        for (const int side : {0, 1}) {
            const Table rows = table(side == 0 ? c.samples : c.others, c.qubits, side == 0 ? 1 : 2);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                for (const double value : rows[i]) features[side].push_back(static_cast<float>(value));
                State state = oracle_state(rows[i], circuit);
                for (Amplitude& amplitude : state) {
                    if (c.given)  // as the call has it
                        amplitude = std::complex<float>(amplitude * (0.8 + 0.1 * static_cast<double>(i % 5)));
                    states[side].push_back(std::complex<float>(amplitude));
                }
                exact[side].push_back(std::move(state));
            }
        }
        const std::vector<State>& columns = exact[c.others == 0 ? 0 : 1];
        for (std::size_t i = 0; i < c.samples; ++i)
            for (std::size_t j = 0; j < columns.size(); ++j) {
                const double norms = overlap(exact[0][i], exact[0][i]) * overlap(columns[j], columns[j]);
                const double value = overlap(exact[0][i], columns[j]);
                const bool own = c.others == 0 && i == j;
                k.push_back(!c.normalize ? value : own ? 1 : value / std::sqrt(norms));
            }
    }
    weft::KernelMatrixShape shape;
    std::vector<double> weights;
    std::vector<float> features[2];
    std::vector<weft::c32> states[2];
    std::vector<State> exact[2];
    std::vector<double> k;
};

template <class Place>
auto operator_of(Place& place, const StateCase& c, const Problem& p,
                 const weft::KernelOperatorOptions& options) {
    const weft::KernelMatrixCircuit circuit{.weights = p.weights, .reupload = true};
    const auto make = [&](const auto& x, const auto& y, const auto&... of_circuit) {
        const auto in_x = place.input(x), in_y = place.input(y);
        const typename Place::In rows = place.read(in_x, x.size()), others = place.read(in_y, y.size());
        return y.empty() ? operator_at(place, of_circuit..., rows, p.shape, options)
                         : operator_at(place, of_circuit..., rows, others, p.shape, options);
    };
    return c.given ? make(p.states[0], p.states[1]) : make(p.features[0], p.features[1], circuit);
}

/// The largest error, in units of the bound.
template <class T>
double error_of(const StateCase& c, const Problem& p, const std::vector<T>& v, const std::vector<T>& before,
                const std::vector<T>& got, double bound) {
    const std::vector<double> product = oracle_product(
        p.k, c.samples, p.shape.columns(), std::vector<double>(v.begin(), v.end()), c.columns, c.transpose);
    std::vector<double> sums(c.columns, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) sums[i % c.columns] += std::abs(static_cast<double>(v[i]));
    const double unit = std::ldexp(1.0, sizeof(T) == 4 ? -24 : -53);
    double most = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double of_v = c.lambda == 0 ? 0 : c.lambda * static_cast<double>(v[i]);
        const double want = c.a * (product[i] + of_v) + (c.b == 0 ? 0 : c.b * static_cast<double>(before[i]));
        // Norms of given states are up to 1.2, and K has their fourth power.
        const double allowed = std::abs(c.a) * bound * (c.given ? 2.1 : 1) * sums[i % c.columns] +
                               4 * unit * (std::abs(c.b) + std::abs(c.a * c.lambda) + std::abs(want));
        const double error = std::abs(static_cast<double>(got[i]) - want) / allowed;
        if (!(error <= most)) most = error;  // also NaN
    }
    return most;
}

template <class T, class Place>
std::vector<T> product_at(Place& place, const StateCase& c, const Problem& p) {
    const auto k = operator_of(place, c, p,
                               {.type = weft::element_type<T>(),
                                .normalize = c.normalize,
                                .symmetric = c.symmetric,
                                .vram_fraction = c.vram_fraction});
    const std::size_t out_rows = c.transpose ? p.shape.columns() : c.samples;
    const auto values = scattered<T>((c.transpose ? c.samples : p.shape.columns()) * c.columns, 3),
               before = scattered<T>(out_rows * c.columns, 4);
    const auto v = place.input(values);
    std::vector<T> all = before;
    all.resize(all.size() + kGuardBytes / sizeof(T));
    std::memset(static_cast<void*>(&all[before.size()]), kGuardByte, kGuardBytes);
    Output<decltype(place.input(all))> out{place.input(all), before.size()};
    const typename Place::In in = place.read(v, values.size());
    const typename Place::Out to = place.write(out);
    if constexpr (Place::kHost) {
        const weft::OpReport report = call_kernel_apply(
            place, k, in, to,
            weft::KernelApplyHostOptions{.a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose});
        CHECK(report.items > 0);
        CHECK(report.method == "states");
    } else {
        call_kernel_apply(place, k, in, to, weft::KernelApplyOptions{c.a, c.b, c.lambda, c.transpose});
    }
    const std::vector<T> got = place.result(out);
    CHECK(error_of(c, p, values, before, got, k.estimate(static_cast<std::uint32_t>(c.columns)).error) <= 1);
    return got;
}

template <class T>
void run_as(weft::Backend& backend, const StateCase& c) {
    INFO(name_of(c) << (sizeof(T) == 8 ? ", float64" : ", float32"));
    const Problem p(c);
    std::vector<T> of_vulkan, of_cuda;
    on_places(backend, 0, [&](auto& place) {
        const std::vector<T> got = product_at<T>(place, c, p);
        std::vector<T>& first = std::remove_reference_t<decltype(place)>::kCuda ? of_cuda : of_vulkan;
        if (first.empty()) first = got;
        CHECK(got == first);
    });
}

}  // namespace

TEST_CASE("kernel operator conformance: products of states") {
    on_device([](weft::Backend& backend) {
        for (const StateCase& c : state_cases()) {
            run_as<float>(backend, c);
            if (c.float64_too && backend.device().shader_float64) run_as<double>(backend, c);
        }
    });
}

TEST_CASE("kernel operator conformance: rows and the diagonal of K of states") {
    on_device([](weft::Backend& backend) {
        for (const StateCase& c : {StateCase{.samples = 70}, StateCase{.samples = 70, .given = true},
                                   StateCase{.samples = 70, .others = 20, .given = true}}) {
            INFO(name_of(c));
            const Problem p(c);
            const std::vector<std::uint32_t> rows{69, 0, 7, 7};
            on_places(backend, 0, [&](auto& place) {
                const auto k = operator_of(place, c, p, {});
                auto out = place.template output<float>(rows.size() * p.shape.columns());
                const typename std::remove_reference_t<decltype(place)>::Out to = place.write(out);
                call_kernel_rows(place, k, rows, to);
                const std::vector<float> got = place.result(out);
                double worst = 0;
                for (std::size_t i = 0; i < got.size(); ++i) {
                    const std::size_t all = p.shape.columns();
                    worst = std::max(
                        worst, std::abs(static_cast<double>(got[i]) - p.k[rows[i / all] * all + i % all]));
                }
                CHECK(worst < 2e-5);
                if (c.others != 0) return;
                auto of_diagonal = place.template output<float>(c.samples);
                const typename std::remove_reference_t<decltype(place)>::Out diagonal =
                    place.write(of_diagonal);
                call_kernel_diagonal(place, k, diagonal);
                const std::vector<float> own = place.result(of_diagonal);
                for (std::size_t i = 0; i < own.size(); ++i)
                    CHECK(std::abs(static_cast<double>(own[i]) - p.k[i * c.samples + i]) < 2e-5);
            });
        }
    });
}
