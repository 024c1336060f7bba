// SPDX-License-Identifier: Apache-2.0
// Kernel matrices on both back ends against gate-by-gate simulation and direct sums, within the bounds that
// both state; and the same errors.
#include <weft/cuda/encode.hpp>
#include <weft/cuda/kernel_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <weft/weft.hpp>

#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_routes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;

template <class In, class Out>
std::vector<double> by_cuda(const Table& x, const Table& y, const OracleCircuit& oracle,
                            const weft::KernelMatrixOptions& options) {
    const CircuitArguments arguments = circuit_arguments(oracle);
    const std::vector<double> wide_x = flat(x), wide_y = flat(y);
    const std::vector<In> in_x(wide_x.begin(), wide_x.end()), in_y(wide_y.begin(), wide_y.end());
    const weft::KernelMatrixShape shape{x.size(), y.size(), static_cast<std::uint32_t>(x.front().size())};
    const CudaStream stream;
    const CudaArray<In> cx(in_x), cy(in_y);
    const CudaArray<Out> ck(std::vector<Out>(shape.values(), std::numeric_limits<Out>::quiet_NaN()));
    if (y.empty())
        weft::cuda::kernel_matrix(stream, arguments.circuit, cx.span(), ck.span(), shape, options);
    else
        weft::cuda::kernel_matrix(stream, arguments.circuit, cx.span(), cy.span(), ck.span(), shape, options);
    stream.wait();
    const std::vector<Out> k = ck.download();
    return {k.begin(), k.end()};
}

constexpr double kManyQubits = 1e-5;  // of more than ten in float32: matrix units cut off what they shift out

void check_circuit(weft::Backend& backend, const Table& rows, const Table& others,
                   const OracleCircuit& circuit, const weft::KernelMatrixOptions& options = {}) {
    CAPTURE(circuit.map);
    CAPTURE(rows.size());
    CAPTURE(rows.front().size());
    CAPTURE(circuit.weights.size());
    for (const bool wide_in : {false, true})
        for (const bool wide_out : {false, true}) {
            const KernelMatrixRoute route{true, wide_in, wide_out, options};
            INFO("route: " << route.name());
            const Table x = seen_by(route, rows), y = seen_by(route, others);
            const auto cuda = wide_in ? (wide_out ? by_cuda<double, double>(x, y, circuit, options)
                                                  : by_cuda<double, float>(x, y, circuit, options))
                                      : (wide_out ? by_cuda<float, double>(x, y, circuit, options)
                                                  : by_cuda<float, float>(x, y, circuit, options));
            const double tolerance = x.front().size() > 10 && !wide_out ? kManyQubits : route.tolerance();
            if (!options.normalize)
                check_close(cuda, y.empty() ? oracle_kernel(x, circuit) : oracle_kernel(x, y, circuit),
                            tolerance);
            check_close(cuda, kernel_by(backend, route, x, y, circuit), 2 * tolerance);
            if (others.empty()) check_symmetric(cuda, x.size(), tolerance);
        }
}

}  // namespace

TEST_CASE("conformance: closed forms of product states") {
    on_device([](weft::Backend& backend) {
        for (const char* map : {"ry", "ryrz"}) {
            check_circuit(backend, two_qubit_rows(), {}, {map, two_qubit_weights(), false, 1, {}});
            check_circuit(backend, wave_rows(70, 5), {}, {map, {}, false, 0.7, {}});
            check_circuit(backend, wave_rows(67, 6), wave_rows(130, 6), {map, {}, false, 1, {}});
        }
    });
}

TEST_CASE("conformance: products of many qubits, and normalised ones, are those of the other back end") {
    on_device([](weft::Backend& backend) {
        const OracleCircuit circuit{"ryrz", {}, false, 1, {}};
        for (const std::size_t qubits : {31u, 40u, 100u}) {
            const KernelMatrixRoute route{true, false, false, {}};
            const Table x = wave_rows(65, qubits, 0.2);
            const auto cuda = by_cuda<float, float>(x, {}, circuit, {});
            check_close(cuda, kernel_by(backend, route, x, {}, circuit), 2e-6);
            check_symmetric(cuda, 65, 2e-6);
        }
        check_circuit(backend, wave_rows(33, 4), {}, circuit, {.normalize = true, .jitter = 0.25});
    });
}

TEST_CASE("conformance: circuits with layers, built as states") {
    on_device([](weft::Backend& backend) {
        for (const char* map : {"ry", "ryrz"})
            for (const std::size_t qubits : {1u, 2u, 3u, 5u, 8u, 10u}) {
                const Table weights = wave_rows(3, qubits, 1);
                check_circuit(backend, wave_rows(7, qubits), {}, {map, weights, true, 1, {}});
                check_circuit(backend, wave_rows(5, qubits), wave_rows(9, qubits),
                              {map, weights, true, 0.5, {}});
            }
        check_circuit(backend, wave_rows(3, 13), {}, {"ryrz", wave_rows(3, 13, 1), true, 1, {}});
        check_circuit(backend, wave_rows(130, 4), {}, {"ryrz", wave_rows(2, 4, 1), true, 1, {}},
                      {.state_tile = 64});
        check_circuit(backend, wave_rows(20, 4), {}, {"ryrz", wave_rows(2, 4, 1), true, 1, {}},
                      {.normalize = true});
    });
}

namespace {

template <class Amplitude, class Out>
void check_given(weft::Backend& backend, std::uint64_t rows, std::uint64_t others, std::uint32_t qubits,
                 bool unit) {
    CAPTURE(rows);
    CAPTURE(others);
    CAPTURE(qubits);
    const std::uint64_t size = std::uint64_t{1} << qubits;
    const auto states = [&](std::uint64_t count, int seed) {
        std::vector<Amplitude> s(count * size);
        for (std::uint64_t r = 0; r < count; ++r)
            for (std::uint64_t i = 0; i < size; ++i) {
                const double t =
                    static_cast<double>((r * 37 + i * 11 + static_cast<std::uint64_t>(seed)) % 1013);
                const double modulus = unit ? 1 / std::sqrt(static_cast<double>(size)) : 0.3 + 0.001 * t / 32;
                s[r * size + i] = Amplitude(std::polar(modulus, 0.05 * t));
            }
        return s;
    };
    const std::vector<Amplitude> x = states(rows, 1), y = others == 0 ? x : states(others, 5);
    const weft::KernelMatrixShape shape{rows, others, qubits};
    std::vector<double> want;
    double most = 0;
    for (std::uint64_t i = 0; i < rows; ++i)
        for (std::uint64_t j = 0; j < shape.columns(); ++j) {
            std::complex<double> sum = 0;
            for (std::uint64_t a = 0; a < size; ++a)
                sum +=
                    std::complex<double>(x[i * size + a]) * std::conj(std::complex<double>(y[j * size + a]));
            want.push_back(std::norm(sum));
            most = std::max(most, want.back());
        }
    const CudaStream stream;
    const CudaArray<Amplitude> cx(x), cy(y);
    const CudaArray<Out> ck(shape.values());
    weft::Buffer<Amplitude> vx(backend, x.size()), vy(backend, y.size());
    weft::Buffer<Out> vk(backend, shape.values());
    weft::Stream vulkan(backend);
    vulkan.upload(x, vx);
    vulkan.upload(y, vy);
    if (others == 0) {
        weft::cuda::kernel_matrix(stream, cx.span(), ck.span(), weft::StateShape{rows, qubits});
        weft::kernel_matrix(vulkan, vx, vk, weft::StateShape{rows, qubits});
    } else {
        weft::cuda::kernel_matrix(stream, cx.span(), cy.span(), ck.span(), shape);
        weft::kernel_matrix(vulkan, vx, vy, vk, shape);
    }
    stream.wait();
    const std::vector<Out> cuda = ck.download(), other = vulkan.download(vk);
    const double bound =
        (std::is_same_v<Amplitude, c64> && std::is_same_v<Out, double> ? 1e-12 : 2e-6) * most;
    check_close(std::vector<double>(cuda.begin(), cuda.end()), want, bound);
    check_close(std::vector<double>(cuda.begin(), cuda.end()),
                std::vector<double>(other.begin(), other.end()), 2 * bound);
}

}  // namespace

TEST_CASE("conformance: given states, square and not, of norm 1 and of any") {
    on_device([](weft::Backend& backend) {
        for (const bool unit : {false, true})
            for (const std::uint32_t qubits : {1u, 3u, 4u, 7u, 10u}) {
                check_given<c32, float>(backend, 130, 0, qubits, unit);
                check_given<c32, float>(backend, 33, 70, qubits, unit);
                check_given<c32, double>(backend, 65, 0, qubits, unit);
                check_given<c64, double>(backend, 66, 0, qubits, unit);
                check_given<c64, float>(backend, 33, 100, qubits, unit);
            }
        check_given<c32, float>(backend, 20, 0, 14, true);
        check_given<c32, float>(backend, 1700, 0, 3, false);  // planned with tiles of 128 x 64
    });
}

TEST_CASE("conformance: the same errors for the same bad input") {
    on_device([](weft::Backend& backend) {
        const CudaStream cuda;
        weft::Stream vulkan(backend);
        const weft::Buffer<float> vx(backend, 64), vk(backend, 64);
        const weft::Buffer<double> vd(backend, 64);
        const CudaArray<float> cx(64), ck(64);
        const CudaArray<double> cd(64);
        const auto both = [&](const auto& call) {
            check_same_error(
                [&] {
                    call(
                        vulkan, [&](std::size_t n) { return vx.view(0, n); },
                        [&](std::size_t n) { return vk.view(0, n); }, vd.view());
                },
                [&] {
                    call(
                        cuda, [&](std::size_t n) { return cx.span(0, n); },
                        [&](std::size_t n) { return ck.span(0, n); }, cd.span());
                });
        };
        using weft::KernelMatrixShape, weft::kernel_matrix;
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(8), KernelMatrixShape{3, 0, 2}); });
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(9), KernelMatrixShape{4, 0, 2}); });
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), x(6), k(9), KernelMatrixShape{3, 2, 2}); });
        both([](auto& s, auto x, auto k, auto d) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), d, k(9), KernelMatrixShape{3, 32, 2}); });
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(9), KernelMatrixShape{3, 3, 2}); });
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(9), KernelMatrixShape{3, 0, 0}); });
        both([](auto& s, auto x, auto k, auto) { kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(9), KernelMatrixShape{0, 0, 2}); });
        both([](auto& s, auto x, auto k, auto) {
            const std::vector<double> weights{0.3, 0.7, -0.2};
            kernel_matrix(s, {.weights = weft::ConstHostArray(weights)}, x(6), k(9), KernelMatrixShape{3, 0, 2});
        });
        both([](auto& s, auto x, auto k, auto) {
            kernel_matrix(s, weft::KernelMatrixCircuit{}, x(6), k(9), KernelMatrixShape{3, 0, 2}, {.vram_fraction = 2});
        });
    });
}
