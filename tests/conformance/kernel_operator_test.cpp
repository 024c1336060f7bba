// SPDX-License-Identifier: Apache-2.0
// Kernel operators in every place, against a dense matrix in double: products are within the bound of the
// plan, and the same bits in all places of an API.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stop_token>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/kernel_operator_cases.hpp"
#include "conformance/kernel_operator_places.hpp"
#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using namespace weft_test;

/// The operator of features `x`, and `y` unless it is empty.
template <class In, class Place>
auto operator_of(Place& place, const weft::KernelMatrixCircuit& circuit, const std::vector<In>& x,
                 const std::vector<In>& y, const weft::KernelMatrixShape& shape,
                 const weft::KernelOperatorOptions& options) {
    const auto in_x = place.input(x), in_y = place.input(y);
    const typename Place::In rows = place.read(in_x, x.size()), others = place.read(in_y, y.size());
    return y.empty() ? operator_at(place, circuit, rows, shape, options)
                     : operator_at(place, circuit, rows, others, shape, options);
}

template <class T, class In>
struct Problem {
    explicit Problem(const OperatorCase& c)
        : circuit{.map = c.map, .scale = c.scale},
          shape{c.samples, c.others, c.qubits},
          options{.type = weft::element_type<T>(),
                  .normalize = c.normalize,
                  .jitter = c.jitter,
                  .symmetric = c.symmetric,
                  .low_rank = c.low_rank},
          x(scattered<In>(c.samples * c.qubits, 1)),
          y(scattered<In>(c.others * c.qubits, 2)),
          v(scattered<T>((c.transpose ? c.samples : shape.columns()) * c.columns, 3)),
          before(scattered<T>((c.transpose ? shape.columns() : c.samples) * c.columns, 4)) {
        for (std::vector<In>* features : {&x, &y})
            for (In& value : *features) value *= In(1.5);
        OperatorOracle oracle{c.map == weft::FeatureMap::ryrz, c.qubits, c.scale};
        oracle.square = c.others == 0;
        oracle.lambda = c.lambda;
        oracle.shrink = c.normalize ? 1 / (1 + c.jitter) : 1;
        const std::vector<double> k = oracle.matrix(x, c.others == 0 ? x : y);
        want = oracle_product(k, c.samples, shape.columns(), std::vector<double>(v.begin(), v.end()),
                              c.columns, c.transpose);
        for (std::size_t i = 0; i < want.size(); ++i)
            want[i] = c.a * want[i] + (c.b == 0 ? 0 : c.b * static_cast<double>(before[i]));
    }
    weft::KernelMatrixCircuit circuit;
    weft::KernelMatrixShape shape;
    weft::KernelOperatorOptions options;
    std::vector<In> x, y;
    std::vector<T> v, before;
    std::vector<double> want;
};

/// The largest error, in units of the bound.
template <class T>
double error_of(const OperatorCase& c, const std::vector<T>& v, const std::vector<double>& want,
                const std::vector<T>& got, double bound) {
    std::vector<double> sums(c.columns, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) sums[i % c.columns] += std::abs(static_cast<double>(v[i]));
    double most = 0;
    const double unit = sizeof(T) == 4 ? std::ldexp(1.0, -24) : std::ldexp(1.0, -53);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double allowed = std::abs(c.a) * bound * sums[i % c.columns] +
                               4 * unit * (std::abs(c.b) + std::abs(c.a * c.lambda) + std::abs(want[i]));
        const double error = std::abs(static_cast<double>(got[i]) - want[i]) / allowed;
        if (!(error <= most)) most = error;  // also NaN
    }
    return most;
}

template <class T, class In, class Place>
std::vector<T> product_at(Place& place, const OperatorCase& c, const Problem<T, In>& problem) {
    const auto k = operator_of(place, problem.circuit, problem.x, problem.y, problem.shape, problem.options);
    const double bound = k.estimate(static_cast<std::uint32_t>(c.columns)).error;
    const auto v = place.input(problem.v);
    std::vector<T> all = problem.before;
    all.resize(all.size() + kGuardBytes / sizeof(T));
    std::memset(static_cast<void*>(&all[problem.before.size()]), kGuardByte, kGuardBytes);
    Output<decltype(place.input(all))> out{place.input(all), problem.before.size()};
    const typename Place::In in = place.read(v, problem.v.size());
    const typename Place::Out to = place.write(out);
    if constexpr (Place::kHost) {
        const weft::OpReport report = call_kernel_apply(
            place, k, in, to,
            weft::KernelApplyHostOptions{
                .a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose, .batch = place.batch()});
        CHECK(report.items > 0);
        CHECK(report.method == (c.low_rank == weft::Choice::on ? "low_rank" : "product"));
    } else {
        call_kernel_apply(place, k, in, to, weft::KernelApplyOptions{c.a, c.b, c.lambda, c.transpose});
    }
    const std::vector<T> got = place.result(out);
    CHECK(error_of(c, problem.v, problem.want, got, bound) <= 1);
    return got;
}

template <class T, class In>
void run_as(weft::Backend& backend, const OperatorCase& c) {
    INFO(name_of(c) << (sizeof(T) == 8 ? ", float64" : ", float32"));
    const Problem<T, In> problem(c);
    std::vector<T> of_vulkan, of_cuda;
    on_places(backend, 0, [&](auto& place) {
        const std::vector<T> got = product_at(place, c, problem);
        std::vector<T>& first = std::remove_reference_t<decltype(place)>::kCuda ? of_cuda : of_vulkan;
        if (first.empty()) first = got;
        CHECK(got == first);
    });
}

void run(const std::vector<OperatorCase>& cases) {
    on_device([&](weft::Backend& backend) {
        for (const OperatorCase& c : cases) {
            if (c.mixed)
                run_as<float, double>(backend, c);
            else
                run_as<float, float>(backend, c);
            if (!c.float64_too || !backend.device().shader_float64) continue;
            if (c.mixed)
                run_as<double, float>(backend, c);
            else
                run_as<double, double>(backend, c);
        }
    });
}

constexpr std::uint32_t kQubits = 3;
constexpr std::size_t kSamples = 50;

std::vector<float> features(std::size_t samples = kSamples) {
    return scattered<float>(samples * kQubits, 7);
}

template <class Place, class Operator>
std::vector<float> rows_at(Place& place, const Operator& k, const std::vector<std::uint32_t>& rows) {
    auto out = place.template output<float>(rows.size() * k.shape().columns());
    const typename Place::Out to = place.write(out);
    call_kernel_rows(place, k, rows, to);
    return place.result(out);
}
template <class Place, class Operator>
std::vector<float> diagonal_at(Place& place, const Operator& k) {
    auto out = place.template output<float>(k.shape().samples);
    const typename Place::Out to = place.write(out);
    call_kernel_diagonal(place, k, to);
    return place.result(out);
}

}  // namespace

TEST_CASE("kernel operator conformance: maps, qubits and types") {
    run(qubit_cases());
}
TEST_CASE("kernel operator conformance: columns, K of X with Y, its transpose, factors") {
    run(shape_cases());
}
TEST_CASE("kernel operator conformance: symmetric products") {
    run(symmetric_cases());
}
TEST_CASE("kernel operator conformance: products by way of features") {
    run(low_rank_cases());
}

TEST_CASE("kernel operator conformance: rows of K and its diagonal") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> x = features(), y = scattered<float>(20 * kQubits, 8);
        const std::vector<std::uint32_t> rows{49, 0, 7, 7};
        OperatorOracle square_oracle{true, kQubits}, pair_oracle{true, kQubits};
        square_oracle.shrink = 1 / 1.5;
        pair_oracle.square = false;
        const auto of_x = square_oracle.states(x), of_y = square_oracle.states(y);
        on_places(backend, 0, [&](auto& place) {
            const auto square =
                operator_of(place, {}, x, {}, {kSamples, 0, kQubits}, {.normalize = true, .jitter = 0.5});
            const auto pair = operator_of(place, {}, x, y, {kSamples, 20, kQubits}, {});
            const std::vector<float> of_square = rows_at(place, square, rows),
                                     of_pair = rows_at(place, pair, rows);
            double worst = 0;
            for (std::size_t r = 0; r < rows.size(); ++r) {
                for (std::size_t j = 0; j < kSamples; ++j)
                    worst = std::max(worst, std::abs(static_cast<double>(of_square[r * kSamples + j]) -
                                                     square_oracle.value(of_x, rows[r], of_x, j)));
                for (std::size_t j = 0; j < 20; ++j)
                    worst = std::max(worst, std::abs(static_cast<double>(of_pair[r * 20 + j]) -
                                                     pair_oracle.value(of_x, rows[r], of_y, j)));
            }
            CHECK(worst < 3e-6);
            const std::vector<float> diagonal = diagonal_at(place, square);
            CHECK(std::count(diagonal.begin(), diagonal.end(), 1.0f) == kSamples);
            check_error(weft::Errc::invalid_argument, "K of X with Y has no diagonal",
                        [&] { diagonal_at(place, pair); });
            check_error(weft::Errc::invalid_argument, "no such row (got 50, need below 50)",
                        [&] { rows_at(place, pair, {50}); });
        });
    });
}

TEST_CASE("kernel operator conformance: a feature that is not finite") {
    on_device([](weft::Backend& backend) {
        std::vector<float> x = features();
        x[5 * kQubits + 1] = std::numeric_limits<float>::infinity();
        on_places(backend, 0, [&](auto& place) {
            const auto make = [&] { return operator_of(place, {}, x, {}, {kSamples, 0, kQubits}, {}); };
            if constexpr (std::remove_reference_t<decltype(place)>::kHost) {
                check_error(weft::Errc::invalid_argument, "x: row 5 column 1 is infinite", make);
            } else {
                const auto k = make();
                const std::vector<float> diagonal = diagonal_at(place, k), first = rows_at(place, k, {0});
                for (std::size_t i = 0; i < kSamples; ++i) {
                    CHECK(std::isnan(diagonal[i]) == (i == 5));
                    CHECK(std::isnan(first[i]) == (i == 5));
                }
            }
        });
    });
}

TEST_CASE("kernel operator conformance: progress counts pairs, and a product can be cancelled") {
    on_device([](weft::Backend& backend) {
        const std::size_t samples = 300;
        const std::vector<float> x = features(samples), v = scattered<float>(samples, 9);
        on_places(backend, 0, [&](auto& place) {
            using Place = std::remove_reference_t<decltype(place)>;
            if constexpr (Place::kHost) {
                const auto k = operator_of(place, {}, x, {}, {samples, 0, kQubits}, {});
                std::vector<float> out(samples);
                weft::Progress last;
                weft::KernelApplyHostOptions options{.batch = place.batch()};
                options.batch.progress = [&](const weft::Progress& progress) { last = progress; };
                const weft::ConstHostArray in(v);
                const weft::HostArray to(out);
                const weft::OpReport report = call_kernel_apply(place, k, in, to, options);
                CHECK(last.done == last.total);
                CHECK(last.total == report.items);
                if constexpr (Place::kC) return;  // a stop is another value of its callback
                std::stop_source stop;
                stop.request_stop();
                options.batch.cancel = stop.get_token();
                const std::vector<float> before = out;
                check_error(weft::Errc::cancelled, "kernel_apply",
                            [&] { call_kernel_apply(place, k, in, to, options); });
                CHECK(out == before);
            }
        });
    });
}

TEST_CASE("kernel operator conformance: products that cannot be made leave the output as it is") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> x = features();
        on_places(backend, 0, [&](auto& place) {
            using Place = std::remove_reference_t<decltype(place)>;
            const auto k = operator_of(place, {}, x, {}, {kSamples, 0, kQubits}, {});
            auto v = place.input(std::vector<float>(kSamples + 1, 1.0f));
            auto out = place.input(std::vector<float>(kSamples, 5.0f));
            const auto wide = place.input(std::vector<double>(kSamples));
            const typename Place::Out to = place.write(out, kSamples);
            const auto refused = [&](const char* text, const typename Place::In& in,
                                     const typename Place::Out& result) {
                check_error(weft::Errc::invalid_argument, text, [&] {
                    if constexpr (Place::kHost)
                        call_kernel_apply(place, k, in, result, weft::KernelApplyHostOptions{});
                    else
                        call_kernel_apply(place, k, in, result, weft::KernelApplyOptions{});
                });
            };
            if constexpr (Place::kHost || Place::kCuda)
                refused("out overlaps v", place.read(v, kSamples), place.write(v, kSamples));
            refused("v does not fit the shape", place.read(v, kSamples + 1), to);
            if constexpr (!Place::kC)  // whose vectors take bytes, not types
                refused("v is of another type than the operator", place.read(wide, kSamples), to);
            const std::vector<float> after = place.values(out);
            CHECK(std::count(after.begin(), after.end(), 5.0f) == kSamples);
        });
    });
}
