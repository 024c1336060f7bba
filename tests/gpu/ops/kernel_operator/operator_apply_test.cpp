// SPDX-License-Identifier: Apache-2.0
// Products with kernel operators against a dense matrix in double, for all maps, types, places and variants.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/ops/kernel_operator.hpp>
#include <weft/stream.hpp>

#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::OperatorOracle;
using weft_test::scattered;

struct Case {
    weft::FeatureMap map = weft::FeatureMap::ryrz;
    std::uint32_t qubits = 8;
    std::size_t samples = 100, others = 0, columns = 1;
    weft::Choice symmetric = weft::Choice::automatic;
    bool transpose = false;
    double a = 1, b = 0, lambda = 0;
    bool normalize = false;
    double jitter = 0, scale = 1;
};

std::string name_of(const Case& c) {
    return std::string(weft::to_string(c.map)) + " " + std::to_string(c.qubits) + " qubits, " +
           std::to_string(c.samples) + " x " + std::to_string(c.others) + ", " + std::to_string(c.columns) +
           " columns" + (c.transpose ? ", transposed" : "") +
           (c.symmetric == weft::Choice::on ? ", symmetric" : "");
}

weft::KernelMatrixShape shape_of(const Case& c) {
    return {c.samples, c.others, c.qubits};
}
weft::KernelMatrixCircuit circuit_of(const Case& c) {
    return {.map = c.map, .scale = c.scale};
}
template <class T>
weft::KernelOperatorOptions options_of(const Case& c) {
    return {.type = weft::element_type<T>(),
            .normalize = c.normalize,
            .jitter = c.jitter,
            .symmetric = c.symmetric};
}

template <class T>
struct Problem {
    explicit Problem(const Case& c)
        : x(scattered<T>(c.samples * c.qubits, 1)),
          y(scattered<T>(c.others * c.qubits, 2)),
          columns_of_k(c.others == 0 ? c.samples : c.others),
          v(scattered<T>((c.transpose ? c.samples : columns_of_k) * c.columns, 3)),
          before(scattered<T>((c.transpose ? columns_of_k : c.samples) * c.columns, 4)) {
        for (std::vector<T>* features : {&x, &y})
            for (T& value : *features) value *= T(1.5);
        OperatorOracle oracle{c.map == weft::FeatureMap::ryrz, c.qubits, c.scale};
        oracle.square = c.others == 0;
        oracle.lambda = c.lambda;
        oracle.shrink = c.normalize ? 1 / (1 + c.jitter) : 1;
        const std::vector<double> k = oracle.matrix(x, c.others == 0 ? x : y);
        want = weft_test::oracle_product(k, c.samples, columns_of_k, std::vector<double>(v.begin(), v.end()),
                                         c.columns, c.transpose);
        for (std::size_t i = 0; i < want.size(); ++i)
            want[i] = c.a * want[i] + (c.b == 0 ? 0 : c.b * static_cast<double>(before[i]));
    }
    std::vector<T> x, y;
    std::size_t columns_of_k;
    std::vector<T> v, before;
    std::vector<double> want;
};

/// The largest error, in units of the bound.
template <class T>
double error_of(const Case& c, const Problem<T>& problem, const std::vector<T>& got, double bound) {
    std::vector<double> sums(c.columns, 0.0);
    for (std::size_t i = 0; i < problem.v.size(); ++i)
        sums[i % c.columns] += std::abs(static_cast<double>(problem.v[i]));
    double most = 0;
    const double unit = sizeof(T) == 4 ? std::ldexp(1.0, -24) : std::ldexp(1.0, -53);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double allowed =
            std::abs(c.a) * bound * sums[i % c.columns] +
            4 * unit * (std::abs(c.b) + std::abs(c.a * c.lambda) + std::abs(problem.want[i]));
        const double error = std::abs(static_cast<double>(got[i]) - problem.want[i]) / allowed;
        if (!(error <= most)) most = error;  // also NaN
    }
    return most;
}

template <class T>
weft::KernelOperator operator_on(weft::Backend& backend, const Case& c, const Problem<T>& p) {
    if (c.others == 0) return {backend, circuit_of(c), p.x, shape_of(c), options_of<T>(c)};
    return {backend, circuit_of(c), p.x, p.y, shape_of(c), options_of<T>(c)};
}

template <class T>
void check_case(weft::Backend& backend, const Case& c) {
    INFO(name_of(c) << (sizeof(T) == 8 ? ", float64" : ", float32"));
    const Problem<T> problem(c);
    const weft::KernelOperator k = operator_on(backend, c, problem);
    const double bound = k.estimate(static_cast<std::uint32_t>(c.columns)).error;
    std::vector<T> out = problem.before;
    const weft::OpReport report = weft::kernel_apply(
        backend, k, problem.v, out, {.a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose});
    CHECK(report.items > 0);
    CHECK(error_of(c, problem, out, bound) <= 1);

    weft::Stream stream{backend};
    weft::Buffer<T> v{backend, problem.v.size()}, resident{backend, out.size()};
    stream.upload(problem.v, v);
    stream.upload(problem.before, resident);
    weft::kernel_apply(stream, k, v, resident,
                       {.a = c.a, .b = c.b, .lambda = c.lambda, .transpose = c.transpose});
    CHECK(stream.download(resident) == out);  // the same bits
}

void check_both(weft::Backend& backend, const Case& c) {
    check_case<float>(backend, c);
    check_case<double>(backend, c);
}

}  // namespace

TEST_CASE("kernel operators agree with dense matrices for all maps, qubits and column counts") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const weft::FeatureMap map : {weft::FeatureMap::ry, weft::FeatureMap::ryrz})
            for (const std::uint32_t qubits : {1u, 3u, 8u}) check_both(backend, {map, qubits, 131, 0, 2});
        for (const std::size_t columns : {1u, 3u, 16u, 17u})
            check_both(backend, {weft::FeatureMap::ryrz, 4, 200, 0, columns});
        check_case<float>(backend, {weft::FeatureMap::ryrz, 4, 150, 0, 64});
    });
}

TEST_CASE("samples of more qubits than registers hold are taken in parts") {
    weft_test::on_device([](weft::Backend& backend) {
        check_both(backend, {weft::FeatureMap::ryrz, 25, 140, 0, 1});
        check_case<float>(backend, {weft::FeatureMap::ryrz, 24, 70, 0, 1});
        check_both(backend, {weft::FeatureMap::ry, 40, 70, 33, 2});
    });
}

TEST_CASE("K of X with Y, and its transpose") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const bool transpose : {false, true})
            for (const std::size_t others : {1u, 77u}) {
                Case c{weft::FeatureMap::ryrz, 5, 65, others, 3};
                c.transpose = transpose;
                check_both(backend, c);
            }
    });
}

TEST_CASE("factors, lambda, normalising and scale") {
    weft_test::on_device([](weft::Backend& backend) {
        Case c{weft::FeatureMap::ryrz, 4, 90, 0, 2};
        c.a = -2.5;
        c.b = 0.75;
        c.lambda = 0.125;
        c.normalize = true;
        c.jitter = 0.5;
        c.scale = 1.7;
        check_both(backend, c);
    });
}

TEST_CASE("symmetric products") {
    weft_test::on_device([](weft::Backend& backend) {
        for (const std::size_t columns : {1u, 7u}) {
            Case c{weft::FeatureMap::ryrz, 4, 1100, 0, columns, weft::Choice::on};
            c.b = 0.5;
            c.lambda = 0.25;
            check_case<float>(backend, c);
        }
        Case c{weft::FeatureMap::ry, 5, 700, 0, 1, weft::Choice::on};
        c.normalize = true;
        c.jitter = 0.25;
        check_both(backend, c);
    });
}

TEST_CASE("two thousand rows") {
    weft_test::on_device([](weft::Backend& backend) {
        check_case<float>(backend, {weft::FeatureMap::ryrz, 8, 2000, 0, 1});
        check_case<float>(backend, {weft::FeatureMap::ryrz, 8, 1999, 0, 1, weft::Choice::on});
    });
}
