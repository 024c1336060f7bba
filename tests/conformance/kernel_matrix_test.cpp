// SPDX-License-Identifier: Apache-2.0
// The tables of kernel matrices in every place: values are within the stated bound and symmetric to the bit,
// and the general properties of kernel matrices hold.
#include "conformance/kernel_matrix_cases.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/places.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_routes.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;

template <class Out, class In, class Place, class... First>
std::vector<double> call(Place& place, const std::vector<In>& x, const std::vector<In>& y,
                         const weft::KernelMatrixShape& shape, const weft::KernelMatrixOptions& options,
                         const First&... circuit) {
    const auto in_x = place.input(x), in_y = place.input(y);
    auto out = place.template output<Out>(shape.values());
    const typename Place::In rows = place.read(in_x, x.size()), others = place.read(in_y, y.size());
    const typename Place::Out k = place.write(out);
    if constexpr (Place::kHost) {
        const weft::KernelMatrixHostOptions host = on_host(options, place.batch());
        const weft::OpReport report =
            shape.square() ? call_kernel_matrix(place, circuit..., rows, k, shape, host)
                           : call_kernel_matrix(place, circuit..., rows, others, k, shape, host);
        CHECK(report.items == shape.pairs());
    } else if (shape.square()) {
        call_kernel_matrix(place, circuit..., rows, k, shape, options);
    } else {
        call_kernel_matrix(place, circuit..., rows, others, k, shape, options);
    }
    const std::vector<Out> values = place.result(out);
    return {values.begin(), values.end()};
}

template <class In, class Out, class Place>
std::vector<double> kernel_at(Place& place, const Table& x, const Table& y, const OracleCircuit& oracle,
                              const weft::KernelMatrixOptions& options = {}) {
    const CircuitArguments arguments = circuit_arguments(oracle);
    const std::vector<double> wide_x = flat(x), wide_y = flat(y);
    return call<Out>(
        place, std::vector<In>(wide_x.begin(), wide_x.end()), std::vector<In>(wide_y.begin(), wide_y.end()),
        {x.size(), y.size(), static_cast<std::uint32_t>(x.front().size())}, options, arguments.circuit);
}

// Calls body(In{}, Out{}) for every type of features and of K.
template <class Body>
void for_types(const weft::Backend& backend, bool float32_too, bool float64_too, Body&& body) {
    body(double{}, float{});
    if (float32_too) body(float{}, float{});
    if (!float64_too || !backend.device().shader_float64) return;
    body(double{}, double{});
    if (float32_too) body(float{}, double{});
}

void run(weft::Backend& backend, const KernelCase& c) {
    INFO("case: " << c.name << ", " << c.circuit.map);
    CAPTURE(c.x.size());
    CAPTURE(c.y.size());
    CAPTURE(c.x.front().size());
    CAPTURE(c.state_tile);
    weft::KernelMatrixOptions options;
    options.state_tile = c.state_tile;
    options.bulk_states = c.bulk_states;
    for_types(backend, c.float32_too, c.float64_too, [&]<class In, class Out>(In, Out) {
        const bool wide_in = std::is_same_v<In, double>, wide_out = std::is_same_v<Out, double>;
        CAPTURE(wide_in);
        CAPTURE(wide_out);
        const KernelMatrixRoute route{.wide_in = wide_in, .wide_out = wide_out};
        const Table x = seen_by(route, c.x), y = c.y.empty() ? x : seen_by(route, c.y);
        const std::vector<double> want = c.judge == KernelJudge::product ? product_kernel(x, y, c.circuit)
                                                                         : oracle_kernel(x, y, c.circuit);
        const double bound = wide_out ? c.bound64 : c.bound32;
        on_places(backend, 0, [&](auto& place) {
            const std::vector<double> k = kernel_at<In, Out>(place, c.x, c.y, c.circuit, options);
            check_close(k, want, bound);
            if (c.y.empty()) check_symmetric(k, c.x.size(), bound);
            if (!c.values.empty())
                check_close(c.y.empty() ? upper(k, c.x.size()) : k, c.values,
                            wide_in && wide_out ? 1e-12 : 2e-6);
        });
    });
}

// Whether K + shift * 1 has a Cholesky factor: its smallest eigenvalue is above -shift.
bool positive(std::vector<double> k, std::size_t rows, double shift) {
    for (std::size_t i = 0; i < rows; ++i) k[i * rows + i] += shift;
    for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t m = 0; m < j; ++m) k[j * rows + j] -= k[j * rows + m] * k[j * rows + m];
        if (!(k[j * rows + j] > 0)) return false;
        const double root = k[j * rows + j] = std::sqrt(k[j * rows + j]);
        for (std::size_t i = j + 1; i < rows; ++i) {
            for (std::size_t m = 0; m < j; ++m) k[i * rows + j] -= k[i * rows + m] * k[j * rows + m];
            k[i * rows + j] /= root;
        }
    }
    return true;
}

// Calls body(circuit, kernel, bound) for a circuit that cancels and for one that needs states; kernel(x)
// computes K in float32 and float64 from features in float64.
template <class Body>
void for_kernels(weft::Backend& backend, std::size_t qubits, Body&& body) {
    for (const OracleCircuit& c : {circuit("ryrz", {}, false), reupload("ryrz", wave_weights(2, qubits))}) {
        CAPTURE(c.reupload);
        on_places(backend, 0, [&](auto& place) {
            for_types(backend, false, true, [&]<class In, class Out>(In, Out) {
                body(
                    c, [&](const Table& x) { return kernel_at<In, Out>(place, x, {}, c); },
                    std::is_same_v<Out, double> ? 1e-12 : 2e-6);
            });
        });
    }
}

// K of given states, also divided by the values of both rows with themselves. Arithmetic is float64 if K or
// the states are 64 bits wide.
template <class Amplitude, class Out>
void check_given(weft::Backend& backend, const KernelStatesCase& c) {
    CAPTURE(c.rows);
    CAPTURE(c.others);
    CAPTURE(c.qubits);
    CAPTURE(c.unit);
    const std::uint64_t size = std::uint64_t{1} << c.qubits;
    const auto states = [&](std::uint64_t count, std::uint64_t seed) {
        std::vector<Amplitude> s(count * size);
        for (std::uint64_t r = 0; r < count; ++r)
            for (std::uint64_t i = 0; i < size; ++i) {
                const double t = static_cast<double>((r * 37 + i * 11 + seed) % 1013);
                const double modulus =
                    c.unit ? 1 / std::sqrt(static_cast<double>(size)) : 0.3 + 0.001 * t / 32;
                s[r * size + i] = Amplitude(std::polar(modulus, 0.05 * t));
            }
        return s;
    };
    const std::vector<Amplitude> x = states(c.rows, 1), y = c.others == 0 ? x : states(c.others, 5);
    const weft::KernelMatrixShape shape{c.rows, c.others, c.qubits};
    const auto value = [&](const Amplitude* left, const Amplitude* right) {
        c64 sum = 0;
        for (std::uint64_t a = 0; a < size; ++a) sum += c64(left[a]) * std::conj(c64(right[a]));
        return std::norm(sum);
    };
    const auto own = [&](const std::vector<Amplitude>& rows) {
        std::vector<double> values;
        for (std::uint64_t i = 0; i < rows.size(); i += size) values.push_back(value(&rows[i], &rows[i]));
        return values;
    };
    const std::vector<double> own_x = own(x), own_y = own(y);
    std::vector<double> want, divided;
    double most = 0;
    for (std::uint64_t i = 0; i < c.rows; ++i)
        for (std::uint64_t j = 0; j < shape.columns(); ++j) {
            want.push_back(value(&x[i * size], &y[j * size]));
            divided.push_back(want.back() / std::sqrt(own_x[i] * own_y[j]));
            most = std::max(most, want.back());
        }
    // The last one is a rounding to float, and a second one where K is divided.
    const double bound = std::is_same_v<Out, double> ? 1e-12 : std::is_same_v<Amplitude, c32> ? 2e-6 : 1.2e-7;
    on_places(backend, 0, [&](auto& place) {
        check_close(call<Out>(place, x, y, shape, {}), want, bound * most);
        check_close(call<Out>(place, x, y, shape, {.normalize = true}), divided, bound);
    });
}

}  // namespace

TEST_CASE("kernel matrix conformance: published values") {
    on_device([](weft::Backend& backend) {
        for (const KernelCase& c : published_kernels()) {
            // This checks the oracle itself.
            const std::vector<double> k =
                c.y.empty() ? oracle_kernel(c.x, c.circuit) : oracle_kernel(c.x, c.y, c.circuit);
            check_close(c.y.empty() ? upper(k, c.x.size()) : k, c.values, 1e-14);
            run(backend, c);
        }
    });
}

TEST_CASE("kernel matrix conformance: the table") {
    on_device([](weft::Backend& backend) {
        for (const KernelCase& c : kernel_cases()) run(backend, c);
    });
}

TEST_CASE("kernel matrix conformance: given states, square and not, of norm 1 and of any") {
    on_device([](weft::Backend& backend) {
        for (const KernelStatesCase& c : kernel_states_cases()) {
            check_given<c32, float>(backend, c);
            if (!backend.device().shader_float64 || c.rows > 1000) continue;
            check_given<c32, double>(backend, c);
            check_given<c64, double>(backend, c);
            check_given<c64, float>(backend, c);
        }
    });
}

TEST_CASE("kernel matrix conformance: orthogonal states give zero, and equal ones exactly one") {
    on_device([](weft::Backend& backend) {
        on_places(backend, 0, [&](auto& place) {
            const std::vector<double> k =
                kernel_at<double, float>(place, {{0}, {std::acos(-1.0)}, {0}}, {}, circuit("ry", {}, false));
            CHECK(k[1] <= 1e-13);
            CHECK(k[0] == 1);
            CHECK(k[2] == 1);
            CHECK(k[6] == 1);
        });
    });
}

TEST_CASE("kernel matrix conformance: equal rows have equal kernels, and one with each other") {
    on_device([](weft::Backend& backend) {
        Table x = wave_rows(140, 5);
        x[131] = x[3];
        for_kernels(backend, 5, [&](const OracleCircuit& c, const auto& kernel, double bound) {
            const std::vector<double> k = kernel(x);
            // With states, a row is the left factor in one pair and the right factor in another, so the last
            // bit may differ.
            const double slack = c.reupload ? bound : 0;
            CHECK(std::abs(k[3 * 140 + 131] - 1) <= slack);
            double apart = 0;
            for (std::size_t j = 0; j < 140; ++j)
                apart = std::max(apart, std::abs(k[3 * 140 + j] - k[131 * 140 + j]));
            CHECK(apart <= slack / 10);
        });
    });
}

TEST_CASE("kernel matrix conformance: turns added to features change nothing") {
    on_device([](weft::Backend& backend) {
        const double turn = 2 * std::acos(-1.0);
        const Table x = wave_rows(20, 4);
        Table shifted = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
            shifted[i][i % 4] += turn;
            shifted[i][(i + 1) % 4] -= turn;
        }
        for_kernels(backend, 4, [&](const OracleCircuit&, const auto& kernel, double bound) {
            check_close(kernel(shifted), kernel(x), bound);
        });
    });
}

TEST_CASE("kernel matrix conformance: positive semidefinite up to rounding") {
    on_device([](weft::Backend& backend) {
        // K of 4 qubits has a rank of at most 16 x 16, and less for product states: many rows include
        // eigenvalues of 0.
        constexpr std::size_t kRows = 200;
        for_kernels(backend, 4, [&](const OracleCircuit&, const auto& kernel, double bound) {
            const std::vector<double> k = kernel(wave_rows(kRows, 4));
            CHECK(positive(k, kRows, bound < 1e-9 ? 1e-12 * kRows : 1e-5));
            std::vector<double> negative = k;
            negative[0] = -1;  // shows that the check detects such a matrix
            CHECK_FALSE(positive(negative, kRows, 1e-5));
        });
    });
}

TEST_CASE("kernel matrix conformance: normalising divides by the jitter and sets the diagonal") {
    on_device([](weft::Backend& backend) {
        const struct {
            OracleCircuit circuit;
            std::vector<double> values;  // above the diagonal
        } rows[] = {{circuit("ryrz", {}, false),
                     {0.881398184544714 / 1.01, 0.219039574114769 / 1.01, 0.401203388635380 / 1.01}},
                    {reupload("ryrz", two_qubit_weights()),
                     {0.506319608824447, 0.311606454834439, 0.831032349033618}}};
        for (const auto& row : rows)
            on_places(backend, 0, [&](auto& place) {
                for_types(backend, true, true, [&]<class In, class Out>(In, Out) {
                    const double bound =
                        std::is_same_v<In, double> && std::is_same_v<Out, double> ? 1e-12 : 2e-6;
                    const weft::KernelMatrixOptions options{.normalize = true, .jitter = 0.01};
                    const std::vector<double> k =
                        kernel_at<In, Out>(place, two_qubit_rows(), {}, row.circuit, options);
                    check_close(upper(k, 3), row.values, bound);
                    for (std::size_t i = 0; i < 3; ++i) CHECK(k[4 * i] == 1);
                });
            });
        // In a cross kernel matrix both rows' values with themselves are 1.
        on_places(backend, 0, [&](auto& place) {
            const OracleCircuit c = circuit("ryrz", {}, false);
            check_close(kernel_at<double, float>(place, two_qubit_rows(), {{0, 0}}, c, {.normalize = true}),
                        std::vector{0.987560267580271, 0.901737655666900, 0.224827593488711}, 2e-6);
        });
        // Over several tiles.
        const Table x = wave_rows(200, 3);
        const OracleCircuit c = reupload("ryrz", wave_weights(2, 3));
        const std::vector<double> want = oracle_kernel(x, c);
        on_places(backend, 0, [&](auto& place) {
            const weft::KernelMatrixOptions options{
                .state_tile = 64, .bulk_states = weft::Choice::off, .normalize = true};
            const std::vector<double> k = kernel_at<double, float>(place, x, {}, c, options);
            check_close(k, want, 2e-6);
            check_symmetric(k, 200, 0);
        });
    });
}
