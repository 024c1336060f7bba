// SPDX-License-Identifier: Apache-2.0
// Fits kernel ridge regression to rows whose kernel matrix is never stored, 50,000 of them on a GPU, and
// predicts rows that the fit has not seen.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr std::uint32_t kQubits = 6;

std::vector<float> some_rows(std::size_t rows, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> angle(-1.5f, 1.5f);
    std::vector<float> x(rows * kQubits);
    for (float& value : x) value = angle(random);
    return x;
}

/// What is to be learned.
std::vector<float> targets(const std::vector<float>& x) {
    std::vector<float> y(x.size() / kQubits);
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = std::sin(x[i * kQubits]) * std::cos(x[i * kQubits + 1]) + 0.5f * std::sin(x[i * kQubits + 5]);
    return y;
}

}  // namespace

int main() try {
    weft::Backend backend;
    const std::size_t rows = backend.device().type == weft::DeviceType::cpu ? 2000 : 50'000, fresh = 500;
    const std::vector<float> x = some_rows(rows, 1), y = targets(x);
    const weft::KernelMatrixCircuit circuit{.map = weft::FeatureMap::ry};

    const weft::KernelOperator k{backend, circuit, x, {rows, 0, kQubits}};
    std::vector<float> alpha(rows);
    const weft::KernelSolveReport report =
        weft::kernel_solve(backend, k, y, alpha, {.lambda = 0.1, .tolerance = 1e-3, .rank = 300});
    std::printf("%zu rows: residual %.1e after %u iterations, %.2f s\n", rows, report.residual(),
                report.iterations, report.wall_s);

    const std::vector<float> x_new = some_rows(fresh, 2), want = targets(x_new);
    std::vector<float> predicted(fresh);
    weft::kernel_predict(backend, circuit, x_new, x, alpha, predicted, {fresh, rows, kQubits});
    double error = 0, size = 0;
    for (std::size_t i = 0; i < fresh; ++i) {
        error += std::pow(static_cast<double>(predicted[i] - want[i]), 2);
        size += std::pow(static_cast<double>(want[i]), 2);
    }
    const double relative = std::sqrt(error / size);
    std::printf("%zu new rows: predictions are off by %.1f%%\n", fresh, 100 * relative);
    return report.converged && relative < 0.1 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
