// SPDX-License-Identifier: Apache-2.0
// Operators whose K has no closed form: circuits with re-upload, and states that are given, against dense
// matrices in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/encode_error.hpp>
#include <weft/ops/kernel_operator.hpp>
#include <weft/ops/kernel_solve.hpp>
#include <weft/stream.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::flat;
using weft_test::scattered;
using weft_test::Table;

struct Case {
    std::uint32_t qubits = 4;
    std::size_t samples = 130, others = 0, columns = 2, layers = 2;
    bool given = false;  ///< states, of norms around 1
    bool transpose = false, normalize = false;
    double jitter = 0, a = 1, b = 0, lambda = 0;
    weft::Choice symmetric = weft::Choice::automatic;
    double vram_fraction = 0.85;
    std::size_t columns_of_k() const { return others == 0 ? samples : others; }
    weft::KernelMatrixShape shape() const { return {samples, others, qubits}; }
};

std::string name_of(const Case& c) {
    return std::to_string(c.qubits) + " qubits, " + std::to_string(c.samples) + " x " +
           std::to_string(c.columns_of_k()) + ", " + std::to_string(c.columns) + " columns, " +
           (c.given ? "given" : std::to_string(c.layers) + " layers") + (c.transpose ? ", transposed" : "");
}

Table rows_of(std::size_t rows, std::size_t columns, std::uint32_t seed) {
    const std::vector<float> values = scattered<float>(rows * columns, seed);
    Table table(rows);
    for (std::size_t i = 0; i < rows; ++i)
        table[i].assign(values.begin() + static_cast<std::ptrdiff_t>(i * columns),
                        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
    return table;
}

/// X, Y and the dense K of a case, in double.
struct Problem {
    explicit Problem(const Case& c) {
        weft_test::OracleCircuit circuit;
        weights = rows_of(c.layers, c.qubits, 9);
        circuit.weights = weights;
        circuit.reupload = true;
        for (const bool of_y : {false, true}) {
            const std::size_t rows = of_y ? c.others : c.samples;
            Table& features = of_y ? y : x;
            features = rows_of(rows, c.qubits, of_y ? 2 : 1);
            for (std::size_t i = 0; i < rows; ++i) {
                weft_test::State state = weft_test::oracle_state(features[i], circuit);
                const double norm = 1 + 0.1 * static_cast<double>(i % 5) - 0.2;
                if (c.given)
                    for (auto& amplitude : state)
                        amplitude = std::complex<float>(amplitude * norm);  // as the call has it
                states[of_y ? 1 : 0].push_back(std::move(state));
            }
        }
        const auto& columns = states[c.others == 0 ? 0 : 1];
        k.resize(c.samples * c.columns_of_k());
        for (std::size_t i = 0; i < c.samples; ++i)
            for (std::size_t j = 0; j < columns.size(); ++j) {
                double& value = k[i * columns.size() + j];
                value = weft_test::overlap(states[0][i], columns[j]);
                if (!c.normalize) continue;
                const auto own = [&](const weft_test::State& s) {
                    return weft_test::overlap(s, s) + c.jitter;
                };
                value = c.others == 0 && i == j ? 1 : value / std::sqrt(own(states[0][i]) * own(columns[j]));
            }
    }
    template <class T>
    std::vector<std::complex<T>> flat_states(int side) const {
        std::vector<std::complex<T>> values;
        for (const weft_test::State& state : states[side])
            for (const auto& amplitude : state) values.push_back(std::complex<T>(amplitude));
        return values;
    }
    Table x, y, weights;
    std::vector<weft_test::State> states[2];
    std::vector<double> k;
};

template <class T>
class Made {
  public:
    template <class Where>
    Made(Where& backend, const Case& c, const Problem& p) {
        for (const double value : flat(p.x)) x_.push_back(static_cast<float>(value));
        for (const double value : flat(p.y)) y_.push_back(static_cast<float>(value));
        weights_ = flat(p.weights);
        const weft::KernelOperatorOptions options{.type = weft::element_type<T>(),
                                                  .normalize = c.normalize,
                                                  .jitter = c.jitter,
                                                  .symmetric = c.symmetric,
                                                  .vram_fraction = c.vram_fraction};
        if (c.given) {
            const auto a = p.flat_states<float>(0), b = p.flat_states<float>(1);
            if (c.others == 0)
                k_.emplace(backend, a, c.shape(), options);
            else
                k_.emplace(backend, a, b, c.shape(), options);
            return;
        }
        circuit_.weights = weights_;
        circuit_.reupload = true;
        if (c.others == 0)
            k_.emplace(backend, circuit_, x_, c.shape(), options);
        else
            k_.emplace(backend, circuit_, x_, y_, c.shape(), options);
    }
    const weft::KernelOperator& k() const { return *k_; }

  private:
    std::vector<float> x_, y_;
    std::vector<double> weights_;
    weft::KernelMatrixCircuit circuit_{.reupload = true};
    std::optional<weft::KernelOperator> k_;
};

template <class T>
void check_case(weft::Backend& backend, const Case& c) {
    INFO(name_of(c) << (sizeof(T) == 8 ? ", float64" : ", float32"));
    const Problem p(c);
    const Made<T> made(backend, c, p);
    const std::size_t in_rows = c.transpose ? c.samples : c.columns_of_k(),
                      out_rows = c.transpose ? c.columns_of_k() : c.samples;
    const std::vector<T> v = scattered<T>(in_rows * c.columns, 3),
                         before = scattered<T>(out_rows * c.columns, 4);
    std::vector<double> want = weft_test::oracle_product(
        p.k, c.samples, c.columns_of_k(), std::vector<double>(v.begin(), v.end()), c.columns, c.transpose);
    for (std::size_t i = 0; i < want.size(); ++i)
        want[i] = c.a * (want[i] + (c.lambda == 0 ? 0 : c.lambda * static_cast<double>(v[i]))) +
                  (c.b == 0 ? 0 : c.b * static_cast<double>(before[i]));
    std::vector<T> out = before;
    const weft::OpReport report = weft::kernel_apply(
        backend, made.k(), v, out, {.a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose});
    CHECK(report.method == "states");
    CHECK(report.items > 0);
    // Norms of given states are up to 1.2, and K has their fourth power.
    const double bound = made.k().estimate(static_cast<std::uint32_t>(c.columns)).error * (c.given ? 2.1 : 1);
    std::vector<double> sums(c.columns, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) sums[i % c.columns] += std::abs(static_cast<double>(v[i]));
    const double unit = std::ldexp(1.0, sizeof(T) == 4 ? -24 : -53);
    double most = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double allowed = std::abs(c.a) * bound * sums[i % c.columns] +
                               4 * unit * (std::abs(c.b) + std::abs(c.a * c.lambda) + std::abs(want[i]));
        const double error = std::abs(static_cast<double>(out[i]) - want[i]) / allowed;
        if (!(error <= most)) most = error;  // also NaN
    }
    CHECK(most <= 1);
    weft::Stream stream{backend};
    weft::Buffer<T> device_v{backend, v.size()}, resident{backend, out.size()};
    stream.upload(v, device_v);
    stream.upload(before, resident);
    weft::kernel_apply(stream, made.k(), device_v, resident,
                       {.a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose});
    CHECK(stream.download(resident) == out);  // the same bits
}

void check_both(weft::Backend& backend, const Case& c) {
    check_case<float>(backend, c);
    if (backend.device().shader_float64) check_case<double>(backend, c);
}

}  // namespace

TEST_CASE("circuits with re-upload agree with dense matrices") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const std::uint32_t qubits : {1u, 3u, 6u}) check_both(backend, {.qubits = qubits});
        for (const std::size_t columns : {1u, 16u, 17u, 64u})
            check_case<float>(backend, {.samples = 65, .columns = columns, .layers = 3});
        check_case<float>(backend, {.qubits = 3, .samples = 1, .columns = 1});
        check_both(backend, {.samples = 1100, .columns = 3, .a = -2.5, .b = 0.75, .lambda = 0.125});
        check_case<float>(
            backend,
            {.samples = 1100, .columns = 3, .b = 0.5, .lambda = 0.25, .symmetric = weft::Choice::off});
    });
}

TEST_CASE("states that are given agree with dense matrices") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const bool normalize : {false, true}) {
            Case c{.qubits = 5, .samples = 200, .columns = 3, .given = true, .normalize = normalize};
            c.jitter = normalize ? 0.25 : 0;
            check_both(backend, c);
            c.samples = 600;
            c.lambda = 0.5;
            check_case<float>(backend, c);
        }
    });
}

TEST_CASE("K of states of X with those of Y, and its transpose") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const bool transpose : {false, true})
            for (const bool given : {false, true})
                for (const std::size_t others : {1u, 77u, 700u})
                    check_both(backend, {.qubits = 3,
                                         .samples = 65,
                                         .others = others,
                                         .columns = 3,
                                         .given = given,
                                         .transpose = transpose,
                                         .normalize = given});
    });
}

TEST_CASE("two thousand rows of a circuit with re-upload") {
    weft_test::on_device([](weft::Backend& backend) {
        check_case<float>(backend, {.qubits = 4, .samples = 1999, .columns = 2});
    });
}

TEST_CASE("states that do not fit together are made tile by tile, and have the same values") {
    weft_test::on_device([](weft::Backend& backend) {
        Case c{.qubits = 7, .samples = 300, .columns = 2, .lambda = 0.5};
        const std::vector<double> weights = flat(Problem(c).weights);
        const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
        const auto held = [&](double fraction) {
            const weft::KernelOperatorEstimate plan =
                weft::estimate_kernel_operator(backend, circuit, c.shape(), 2, {.vram_fraction = fraction});
            return plan.fits ? plan.sample_bytes : 0;
        };
        const std::uint64_t all = held(c.vram_fraction);
        double too_little = 0;  // the least memory in which the operator fits, whatever the device has
        for (int i = 0; i < 60; ++i) {
            const double middle = (too_little + c.vram_fraction) / 2;
            (held(middle) == 0 ? too_little : c.vram_fraction) = middle;
        }
        c.vram_fraction *= 1.1;  // other processes change what the device has left
        REQUIRE(held(c.vram_fraction) < all / 4);
        check_case<float>(backend, c);
    });
}

TEST_CASE("rows and the diagonal of an operator of states") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<std::uint32_t> rows{129, 0, 64, 64, 7};
        for (const bool normalize : {false, true}) {
            const Case c{.samples = 130, .given = true, .normalize = normalize};
            const Problem p(c);
            const Made<float> made(backend, c, p);
            std::vector<float> got(rows.size() * c.samples), diagonal(c.samples);
            weft::kernel_rows(backend, made.k(), rows, got);
            weft::kernel_diagonal(backend, made.k(), diagonal);
            double most = 0;
            for (std::size_t r = 0; r < rows.size(); ++r)
                for (std::size_t j = 0; j < c.samples; ++j)
                    most = std::max(most, std::abs(static_cast<double>(got[r * c.samples + j]) -
                                                   p.k[rows[r] * c.samples + j]));
            for (std::size_t i = 0; i < c.samples; ++i)
                most = std::max(most, std::abs(static_cast<double>(diagonal[i]) - p.k[i * c.samples + i]));
            CHECK(most < 5e-6);
        }
        const Case c{.samples = 20, .others = 33};
        const Problem p(c);
        const Made<float> made(backend, c, p);
        std::vector<float> got(33);
        weft::kernel_rows(backend, made.k(), {11}, got);
        for (std::size_t j = 0; j < 33; ++j)
            CHECK(std::abs(static_cast<double>(got[j]) - p.k[11 * 33 + j]) < 3e-6);
    });
}

namespace {

/// The bound of the error of a value of a product with V, whose column has this sum of |V|.
double allowed(const Case& c, double error, double sum, double value) {
    return std::abs(c.a) * error * (c.given ? 2.1 : 1) * sum + 4 * std::ldexp(5 + std::abs(value), -24);
}

std::vector<double> sums_of_columns(const std::vector<float>& v, std::size_t columns) {
    std::vector<double> sums(columns, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) sums[i % columns] += std::abs(static_cast<double>(v[i]));
    return sums;
}

}  // namespace

TEST_CASE("several devices share the rows of a product of states") {
    weft_test::on_devices(4096, [](weft::Devices& devices) {
        const Case c{.qubits = 2, .samples = 3000, .columns = 2, .given = true, .a = 2, .b = 3, .lambda = 1};
        const Problem p(c);
        const std::vector<std::complex<float>> states = p.flat_states<float>(0);
        const std::vector<float> v = scattered<float>(c.samples * c.columns, 3);
        const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off};
        const weft::KernelOperator shared{devices, states, c.shape(), options},
            single{devices[0], states, c.shape(), options};
        std::vector<float> out(v.size(), 1.0f), alone = out;
        const weft::KernelApplyHostOptions scales{.a = c.a, .b = c.b, .lambda = c.lambda};
        weft::kernel_apply(devices, shared, v, out, scales);
        weft::kernel_apply(devices[0], single, v, alone, scales);
        // Blocks of other sizes are summed in another order, so that each of the two has an error of its own.
        const double error = shared.estimate(2).error + single.estimate(2).error;
        const std::vector<double> sums = sums_of_columns(v, c.columns);
        double most = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double value = static_cast<double>(alone[i]);
            const double apart =
                std::abs(static_cast<double>(out[i]) - value) / allowed(c, error, sums[i % c.columns], value);
            if (!(apart <= most)) most = apart;  // also NaN
        }
        CHECK(most <= 1);
    });
}

namespace {

/// A product by shares of pairs, compared with the dense matrix.
void check_pairs(weft::Devices& devices, const Case& c, const Problem& p) {
    INFO(name_of(c));
    const Made<float> shared(devices, c, p);
    const std::vector<float> v = scattered<float>(c.samples * c.columns, 3),
                             before = scattered<float>(v.size(), 4);
    const weft::KernelOperatorEstimate plan = shared.k().estimate(static_cast<std::uint32_t>(c.columns));
    CHECK(plan.symmetric);
    CHECK(plan.reasons.at(2).find("symmetric over ") == 0);
    std::vector<float> out = before, again = before;
    const weft::KernelApplyHostOptions options{.a = c.a, .b = c.b, .lambda = c.lambda};
    const weft::OpReport report = weft::kernel_apply(devices, shared.k(), v, out, options);
    CHECK(report.items == c.samples * (c.samples + 1) / 2);
    CHECK(report.method == "states");
    for (const weft::DeviceReport& row : report.devices) CHECK(row.items != 0);
    weft::kernel_apply(devices, shared.k(), v, again, options);
    CHECK(again == out);  // the same bits
    const std::vector<double> product =
        weft_test::oracle_product(p.k, c.samples, c.samples, {v.begin(), v.end()}, c.columns);
    const std::vector<double> sums = sums_of_columns(v, c.columns);
    double most = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double want =
            c.a * (product[i] + c.lambda * static_cast<double>(v[i])) + c.b * static_cast<double>(before[i]);
        const double error =
            std::abs(static_cast<double>(out[i]) - want) / allowed(c, plan.error, sums[i % c.columns], want);
        if (!(error <= most)) most = error;  // also NaN
    }
    CHECK(most <= 1);
}

}  // namespace

TEST_CASE("several devices share the pairs of a product of states, each of which is made once") {
    weft_test::on_devices(16, [](weft::Devices& devices) {
        Case c{.qubits = 3, .samples = 1300, .a = 2, .b = 3, .lambda = 0.5, .symmetric = weft::Choice::on};
        for (const bool given : {false, true}) {
            c.given = given;
            const Problem p(c);
            for (const std::size_t columns : {1u, 17u}) {
                c.columns = columns;
                check_pairs(devices, c, p);
            }
        }
        // States that are made tile by tile.
        Case tiles{.qubits = 7, .samples = 300, .symmetric = weft::Choice::on};
        const Problem p(tiles);
        const std::vector<double> weights = flat(p.weights);
        const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
        const auto held = [&] {
            return weft::estimate_kernel_operator(
                       devices, circuit, tiles.shape(), 2,
                       {.symmetric = tiles.symmetric, .vram_fraction = tiles.vram_fraction})
                .sample_bytes;
        };
        for (const std::uint64_t all = held(); held() == all;) tiles.vram_fraction *= 0.99;
        check_pairs(devices, tiles, p);
        // A state of norm 0 cannot be normalized, and is NaN as on one device.
        std::vector<std::complex<float>> states(600 * 4, 0.5f);
        std::fill_n(states.begin(), 4, 0.0f);
        const weft::KernelOperatorOptions options{.normalize = true, .symmetric = weft::Choice::on};
        const std::vector<float> v(600, 1.0f);
        std::vector<float> out(600), alone(600);
        weft::kernel_apply(devices, weft::KernelOperator(devices, states, {600, 0, 2}, options), v, out);
        weft::kernel_apply(devices[0], weft::KernelOperator(devices[0], states, {600, 0, 2}, options), v,
                           alone);
        CHECK(std::isnan(out[0]) == std::isnan(alone[0]));
        CHECK(std::isnan(out[1]) == std::isnan(alone[1]));
    });
}

TEST_CASE("ridge regression with states, and its predictions") {
    weft_test::on_device([](weft::Backend& backend) {
        const Case c{.qubits = 4, .samples = 200, .others = 30, .columns = 1, .given = true};
        const Problem p(c);
        const auto x = p.flat_states<float>(0), x_new = p.flat_states<float>(1);
        const std::vector<float> y = scattered<float>(c.samples, 5);
        const weft::KernelOperator k{backend, x, {c.samples, 0, c.qubits}};
        std::vector<float> alpha(y.size()), image(y.size()), predicted(c.others);
        const weft::KernelSolveReport report =
            weft::kernel_solve(backend, k, y, alpha, {.lambda = 0.1, .tolerance = 1e-4, .rank = 50});
        CHECK(report.converged);
        weft::kernel_apply(backend, k, alpha, image, {.lambda = 0.1});
        double apart = 0, size = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            apart += std::pow(static_cast<double>(image[i]) - static_cast<double>(y[i]), 2);
            size += std::pow(static_cast<double>(y[i]), 2);
        }
        CHECK(std::sqrt(apart / size) < 3e-4);
        weft::kernel_predict(backend, x_new, x, alpha, predicted, {c.others, c.samples, c.qubits});
        for (std::size_t i = 0; i < c.others; ++i) {
            double want = 0;
            for (std::size_t j = 0; j < c.samples; ++j)
                want += weft_test::overlap(p.states[1][i], p.states[0][j]) * static_cast<double>(alpha[j]);
            CHECK(std::abs(static_cast<double>(predicted[i]) - want) < 1e-3 * (1 + std::abs(want)));
        }
    });
}

TEST_CASE("operators of states that cannot be made") {
    weft_test::on_device([](weft::Backend& backend) {
        std::vector<std::complex<float>> states(3 * 4, {0.5f, 0});
        const weft::KernelMatrixShape shape{3, 0, 2};
        const auto refused = [&](const std::string& text, auto make) {
            weft_test::check_error(weft::Errc::invalid_argument, text, make);
        };
        refused("low_rank does not apply to products of states",
                [&] { weft::KernelOperator(backend, states, shape, {.low_rank = weft::Choice::on}); });
        refused("KernelOperator: x does not fit the shape (got 12 values, need 8)", [&] {
            weft::KernelOperator(backend, states, weft::KernelMatrixShape{2, 0, 2});
        });
        refused("KernelOperator: states are of type float32",
                [&] { weft::KernelOperator(backend, std::vector<float>(12), shape); });
        states[7] = {std::numeric_limits<float>::quiet_NaN(), 0};
        refused("KernelOperator: x", [&] { weft::KernelOperator(backend, states, shape); });
        weft_test::check_error(weft::Errc::out_of_memory, "KernelOperator: does not fit", [&] {
            states[7] = {0.5f, 0};
            weft::KernelOperator(backend, states, shape, {.vram_fraction = 1e-9});
        });
        const weft::KernelOperatorEstimate plan =
            weft::estimate_kernel_operator(backend, weft::kComplex64, {1u << 28, 0, 20});
        CHECK_FALSE(plan.fits);
        CHECK(plan.method == weft::KernelOperatorMethod::states);
    });
}
