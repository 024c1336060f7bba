// SPDX-License-Identifier: Apache-2.0
// Kernel operators and solvers over ranks, and ranks of several devices. Completes ranks_cases.hpp.
#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "ranks_cases.hpp"

namespace ranks_test {
namespace {

/// Of the values of a product, and of those by a loop in double: |out - want| <= bound * sum of |V|.
void check_product(const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& v,
                   const std::vector<float>& out, std::uint32_t qubits, double bound, const char* what) {
    const std::size_t rows = x.size() / qubits, others = y.size() / qubits, columns = v.size() / others;
    for (std::size_t i = 0; i < rows; i += 7)
        for (std::size_t c = 0; c < columns; ++c) {
            double want = 0, sum = 0;
            for (std::size_t j = 0; j < others; ++j) {
                double k = 1;
                for (std::uint32_t q = 0; q < qubits; ++q) {
                    const double a = static_cast<double>(x[i * qubits + q]),
                                 b = static_cast<double>(y[j * qubits + q]);
                    k *= (1 + std::cos(a) * std::cos(b) + std::sin(a) * std::sin(b) * std::cos(a - b)) / 2;
                }
                want += k * static_cast<double>(v[j * columns + c]);
                sum += std::abs(static_cast<double>(v[j * columns + c]));
            }
            require(std::abs(static_cast<double>(out[i * columns + c]) - want) <= bound * sum, what);
        }
}

double norm(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(sum);
}

/// (docs/mpi.md) Two solutions, each with its residual and the rounding of its products. Returns the
/// rounding.
double require_same_solution(const weft::KernelOperator& k, const std::vector<float>& y,
                             const std::vector<float>& one, const std::vector<float>& other,
                             const weft::KernelSolveOptions& options) {
    double sum = 0;
    std::vector<float> apart(one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        apart[i] = one[i] - other[i];
        sum += std::abs(static_cast<double>(one[i])) + std::abs(static_cast<double>(other[i]));
    }
    const auto rows = static_cast<double>(k.shape().samples);
    const auto columns = static_cast<std::uint32_t>(y.size() / k.shape().samples);
    const double rounding = std::sqrt(rows) * k.estimate(columns).error * sum;
    require(norm(apart) <= (2 * options.tolerance * norm(y) + rounding) / options.lambda, "another solution");
    return rounding;
}

/// Products over ranks are those of the definition; all values of K are summed up in the order of one
/// process.
template <class Where>
void products(Run& run, Where& where) {
    constexpr std::uint32_t kQubits = 4;
    const std::vector<float> x = numbers(500 * kQubits, 0.7), y = numbers(150 * kQubits, 1.3);
    const weft::KernelMatrixShape square{500, 0, kQubits}, cross{500, 150, kQubits};
    for (const std::uint32_t columns : {1u, 3u})
        for (const weft::Choice low_rank : {weft::Choice::off, weft::Choice::on}) {
            const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off, .low_rank = low_rank};
            const weft::KernelOperator k =
                weft::mpi::kernel_operator(run.ranks, where, {}, x, square, options);
            const std::vector<float> v = numbers(500 * columns, 0.31), of_y = numbers(150 * columns, 0.31);
            std::vector<float> out(v.size()), want(v.size());
            const weft::OpReport report = weft::mpi::kernel_apply(run.ranks, where, k, v, out);
            const double bound = k.estimate(columns).error;
            check_product(x, x, v, out, kQubits, bound, "a product");
            weft::kernel_apply(where, k, v, want);
            require(out == want, "a product has other bits");
            require(run.sum(report.items) >= 500 * 500, "pairs of a product");
            const weft::KernelOperator both =
                weft::mpi::kernel_operator(run.ranks, where, {}, x, y, cross, options);
            weft::mpi::kernel_apply(run.ranks, where, both, of_y, out);
            check_product(x, y, of_y, out, kQubits, bound, "a product with Y");
            std::vector<float> across(of_y.size());
            weft::mpi::kernel_apply(run.ranks, where, both, v, across, {.transpose = true});
            check_product(y, x, v, across, kQubits, bound, "a product with the transpose");
            std::vector<float> predictions(150 * columns);
            weft::mpi::kernel_predict(run.ranks, where, {}, y, x, v, predictions, {150, 500, kQubits});
            check_product(y, x, v, predictions, kQubits, bound, "predictions");
        }
}

/// Given states: what one process makes, within the bounds of docs/mpi.md.
template <class Where>
void states(Run& run, Where& where) {
    constexpr std::uint32_t kQubits = 3;
    constexpr double kLambda = 0.1, kTolerance = 1e-3;
    const auto made = [](std::size_t rows, double step) {
        const std::vector<float> parts = numbers(rows * 16, step);
        std::vector<weft::c32> all(rows * 8);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::vector<float> row(&parts[i * 16], &parts[i * 16] + 16);
            const auto length = static_cast<float>(norm(row));
            for (std::size_t j = 0; j < 8; ++j)
                all[i * 8 + j] = {row[2 * j] / length, row[2 * j + 1] / length};
        }
        return all;
    };
    const std::vector<weft::c32> x = made(200, 0.37), y = made(150, 0.53);
    const std::vector<float> v = numbers(200, 0.31), of_y = numbers(150, 0.31);
    std::vector<float> out(200), want(200);
    const weft::KernelOperatorOptions rows{.symmetric = weft::Choice::off};
    const weft::KernelOperator k = weft::mpi::kernel_operator(run.ranks, where, x, {200, 0, kQubits}, rows);
    weft::mpi::kernel_apply(run.ranks, where, k, v, out);
    weft::kernel_apply(where, k, v, want);
    const double error = k.estimate().error;
    const auto near = [&](const std::vector<float>& got, const std::vector<float>& of) {
        double sum = 0, most = 0;
        for (const float value : of) sum += std::abs(static_cast<double>(value));
        for (std::size_t i = 0; i < got.size(); ++i)
            most = std::max(most, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
        return most <= 2 * error * sum;
    };
    require(near(out, v), "a product of states");
    const weft::KernelOperator both =
        weft::mpi::kernel_operator(run.ranks, where, x, y, {200, 150, kQubits}, rows);
    weft::mpi::kernel_apply(run.ranks, where, both, of_y, out);
    weft::kernel_apply(where, both, of_y, want);
    require(near(out, of_y), "a product of states with others");
    std::vector<float> predictions(200);
    weft::mpi::kernel_predict(run.ranks, where, x, y, of_y, predictions, {200, 150, kQubits});
    require(near(predictions, of_y), "predictions of states");
    const weft::KernelSolveOptions options{.lambda = kLambda, .tolerance = kTolerance, .rank = 20};
    require(weft::mpi::kernel_solve(run.ranks, where, k, v, out, options).converged, "a solve of states");
    weft::kernel_solve(where, k, v, want, options);
    require_same_solution(k, v, out, want, options);
}

/// The bounds of docs/mpi.md, against the answers of one process.
template <class Where>
void solves(Run& run, Where& where) {
    constexpr std::uint32_t kQubits = 4;
    constexpr double kLambda = 0.1, kTolerance = 1e-3;
    constexpr std::size_t kRows = 500, kColumns = 2, kValues = 4;
    const std::vector<float> x = numbers(kRows * kQubits, 0.7), y = numbers(kRows * kColumns, 1.7);
    const weft::KernelOperator k = weft::mpi::kernel_operator(run.ranks, where, {}, x, {kRows, 0, kQubits});
    for (const std::uint32_t rank : {0u, 60u}) {
        std::vector<float> alpha(y.size()), one(y.size()), image(y.size()), left(y.size());
        const weft::KernelSolveOptions options{.lambda = kLambda, .tolerance = kTolerance, .rank = rank};
        const weft::KernelSolveReport report =
            weft::mpi::kernel_solve(run.ranks, where, k, y, alpha, options);
        require(report.converged && report.residual() <= kTolerance, "a solve does not converge");
        weft::kernel_solve(where, k, y, one, options);
        const double rounding = require_same_solution(k, y, alpha, one, options);
        weft::kernel_apply(where, k, alpha, image, {.lambda = kLambda});
        for (std::size_t i = 0; i < y.size(); ++i) left[i] = y[i] - image[i];
        require(norm(left) <= 1.1 * kTolerance * norm(y) + rounding, "the residual of a solution");
        require(run.sum(report.iterations) ==
                    std::uint64_t{report.iterations} * static_cast<std::uint64_t>(run.ranks.size()),
                "ranks ended in other iterations");
    }
    std::vector<float> values(kValues), vectors(kRows * kValues), one(kValues), of_one(vectors.size());
    const weft::KernelEigenReport report = weft::mpi::kernel_eigen(run.ranks, where, k, values, vectors);
    weft::kernel_eigen(where, k, one, of_one);
    require(report.converged, "eigenvalues do not converge");
    for (std::size_t i = 0; i < kValues; ++i)
        require(std::abs(values[i] - one[i]) <= 2e-4f * one[0], "another eigenvalue");
    std::vector<float> images(vectors.size());
    weft::kernel_apply(where, k, vectors, images);
    for (std::size_t i = 0; i < images.size(); ++i) images[i] -= values[i % kValues] * vectors[i];
    require(norm(images) <= 2 * 1.1e-4 * static_cast<double>(values[0]), "a vector is none of K");
}

/// Ranks whose solves differ, fail or are cancelled all learn it, and go on afterwards.
void solve_refusals(Run& run) {
    const int last = run.ranks.size() - 1;
    const bool odd = run.ranks.rank() == last;
    const std::string name = "rank " + std::to_string(last), prefix = odd ? "" : name + ": ";
    const weft::Errc argument = weft::Errc::invalid_argument;
    const std::vector<float> x = numbers(300, 0.7), y = numbers(100, 1.1);
    std::vector<float> other = x, alpha(100, -3);
    other[7] = 9;
    const weft::KernelMatrixShape shape{100, 0, 3};
    const auto made = [&](const std::vector<float>& rows) {
        return weft::mpi::kernel_operator(run.ranks, run.backend, {}, rows, shape);
    };
    const weft::KernelOperator k = made(x);
    if (last != 0) {
        require(has(text_of_error(argument, [&] { made(odd ? other : x); }),
                    prefix + "KernelOperator: the ranks must agree, but differ in X (rank 0 has "),
                "an operator of another X");
        require(has(text_of_error(argument,
                                  [&] {
                                      weft::mpi::kernel_solve(run.ranks, run.backend, k, y, alpha,
                                                              {.lambda = odd ? 1.0 : 2.0});
                                  }),
                    prefix + "kernel_solve: the ranks must agree, but differ in lambda (rank 0 has 2, this"),
                "another lambda");
    }
    other[7] = std::nanf("");
    require(has(text_of_error(argument, [&] { made(other); }), "KernelOperator: x: row 2 column 1 is not"),
            "a feature that is not finite");
    // What all ranks do wrong, each says itself.
    require(has(text_of_error(
                    argument,
                    [&] { weft::mpi::kernel_solve(run.ranks, run.backend, k, y, alpha, {.lambda = 0}); }),
                "kernel_solve: lambda out of range"),
            "lambda of 0");
    require(has(text_of_error(argument,
                              [&] {
                                  weft::mpi::kernel_predict(run.ranks, run.backend, {}, x, x, y,
                                                            std::span<float>(alpha).first(99), {100, 100, 3});
                              }),
                "kernel_predict: out does not fit the shape"),
            "predictions of another size");
    // One rank stops: the others end with it, and alpha is as it was.
    weft::KernelSolveOptions stopping{.lambda = 1e-6, .tolerance = 1e-12, .rank = 0};
    if (odd)
        stopping.batch.progress = [](const weft::Progress& p) {
            if (p.done >= 2) throw std::runtime_error("enough");
        };
    bool stopped = false;
    try {
        weft::mpi::kernel_solve(run.ranks, run.backend, k, y, alpha, stopping);
    } catch (const weft::Error& error) {
        stopped = !odd && has(error.what(), name + ": enough");
    } catch (const std::runtime_error& error) {
        stopped = odd && std::string_view(error.what()) == "enough";
    }
    require(stopped && alpha == std::vector<float>(100, -3), "a callback that throws in a solve");
    run.ranks.together([] {});
}

}  // namespace

void operators(Run& run) {
    products(run, run.backend);
    states(run, run.backend);
    solves(run, run.backend);
    solve_refusals(run);
}

/// A solve that one rank stops continues to the same bits over as many ranks, and to the same answer over
/// others: over those of the call before, which left its checkpoint.
void checkpoints(Run& run) {
    constexpr std::uint32_t kQubits = 4;
    const std::vector<float> x = numbers(500 * kQubits, 0.7), y = numbers(500 * 2, 1.7);
    const weft::KernelOperator k =
        weft::mpi::kernel_operator(run.ranks, run.backend, {}, x, {500, 0, kQubits});
    std::vector<float> want(y.size()), alpha(y.size(), -3);
    weft::KernelSolveOptions options{.lambda = 0.05, .tolerance = 1e-4, .max_iterations = 200, .rank = 8};
    const auto solve = [&](std::vector<float>& to) {
        return weft::mpi::kernel_solve(run.ranks, run.backend, k, y, to, options);
    };
    const auto stopped_after = [&](std::uint32_t iterations) {
        if (run.ranks.rank() == run.ranks.size() - 1)
            options.batch.progress = [iterations](const weft::Progress& progress) {
                if (progress.done >= iterations) throw std::runtime_error("enough");
            };
        bool stopped = false;
        try {
            solve(alpha);
        } catch (const std::exception& error) {
            stopped = has(error.what(), "enough");
        }
        require(stopped && alpha == std::vector<float>(y.size(), -3), "a solve that was stopped");
        options.batch.progress = {};
    };
    const weft::KernelSolveReport whole = solve(want);
    require(whole.converged && whole.iterations > 10, "a solve without a checkpoint");
    options.checkpoint = run.folder / "of other ranks";
    options.checkpoint_every = 3;
    options.resume = true;
    if (run.sum(std::filesystem::exists(options.checkpoint) ? 1 : 0) != 0) {
        std::vector<float> other(y.size());
        const weft::KernelSolveReport report = solve(other);
        require(report.resumed == 6 && report.converged, "a checkpoint of other ranks");
        require_same_solution(k, y, other, want, options);
    }
    options.checkpoint = run.folder / "of these";
    for (const std::uint32_t stop : {2u, 5u, 8u}) stopped_after(stop);
    std::vector<float> again(y.size());
    const weft::KernelSolveReport report = solve(again);
    require(report.resumed == 6 && report.iterations == whole.iterations && again == want,
            "a solve that goes on has other bits");
    require(solve(again).iterations == whole.iterations && again == want, "a solve that had ended");
    options.lambda = 0.1;
    require(has(text_of_error(weft::Errc::invalid_argument, [&] { solve(again); }),
                "another lambda (the checkpoint has 0.05, the call has 0.1)"),
            "a checkpoint of another lambda");
    options.lambda = 0.05;
    options.checkpoint = run.folder / "none" / "solve";
    require(has(text_of_error(weft::Errc::io, [&] { solve(again); }), "cannot be written"),
            "a checkpoint that cannot be written");
    run.ranks.together([&] {
        if (run.ranks.rank() != 0) return;
        std::filesystem::remove(run.folder / "of these");
        std::filesystem::remove(run.folder / "of other ranks");
    });
    options.checkpoint = run.folder / "of other ranks";
    stopped_after(8);
    const int most = 4;
    if (run.ranks.rank() == 0 && run.ranks.size() == most) std::filesystem::remove(options.checkpoint);
}

/// A rank that drives several devices: the same results.
void devices(Run& run) {
    const weft::Config config = run.ranks.config();
    weft::Devices several(std::vector<weft::Config>{config, config});
    products(run, several);
    states(run, several);
    solves(run, several);
    constexpr std::uint32_t kQubits = 3;
    const std::vector<float> x = numbers(330 * kQubits, 0.7);
    const std::vector<double> weights{0.3, 0.7, -0.1, -0.2, 0.4, 0.9};
    const weft::KernelMatrixShape shape{330, 0, kQubits};
    const weft::KernelMatrixCircuit closed{}, reupload{.weights = weights, .reupload = true};
    const weft::KernelMatrixHostOptions tiled{.state_tile = 64, .bulk_states = weft::Choice::off};
    const std::filesystem::path file = run.folder / "devices.npy";
    for (const weft::KernelMatrixCircuit& circuit : {closed, reupload}) {
        std::vector<float> want(shape.values());
        const weft::KernelMatrixHostOptions& options =
            circuit.reupload ? tiled : weft::KernelMatrixHostOptions{};
        weft::kernel_matrix(run.backend, circuit, x, want, shape, options);
        // The threads of the devices write through MPI-IO in turns.
        Ranks ranks(run.communicator, {.map_files = circuit.reupload ? weft::Choice::off : weft::Choice::on});
        const weft::OpReport report =
            weft::mpi::kernel_matrix(ranks, several, circuit, x, file, shape, weft::kFloat32, options);
        require(same(values_in(file), want), "K of several devices has other bits");
        require(run.sum(report.items) == shape.pairs(), "pairs of several devices");
        const weft::mpi::BlockCyclic layout{run.ranks.size(), 1, 64};
        std::vector<float> k(weft::mpi::local_part(layout, run.ranks.rank(), shape).values());
        weft::mpi::kernel_matrix(run.ranks, several, circuit, x, layout, k, shape, weft::mpi::Triangle::both,
                                 options);
        std::size_t at = 0;
        for (std::size_t j = 0; j < 330; ++j)
            for (std::size_t i = 0; i < 330; ++i)
                if (static_cast<int>(i / 64) % run.ranks.size() == run.ranks.rank())
                    require(k[at++] == want[i * 330 + j], "a local part of several devices");
    }
    require(!run.ranks.configs(config).empty(), "no device for a rank");
}

}  // namespace ranks_test
