// SPDX-License-Identifier: Apache-2.0
// Kernel operators and solvers over ranks, and ranks of several devices. Completes ranks_cases.hpp.
#include <unistd.h>

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
            std::uint64_t made = report.items, sum = 0;
            MPI_Allreduce(&made, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            require(sum >= 500 * 500, "pairs of a product");
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

/// The bounds of docs/mpi.md, against the answers of one process.
template <class Where>
void solves(Run& run, Where& where) {
    constexpr std::uint32_t kQubits = 4;
    constexpr double kLambda = 0.1, kTolerance = 1e-3;
    constexpr std::size_t kRows = 500, kColumns = 2, kValues = 4;
    const std::vector<float> x = numbers(kRows * kQubits, 0.7), y = numbers(kRows * kColumns, 1.7);
    const weft::KernelOperator k = weft::mpi::kernel_operator(run.ranks, where, {}, x, {kRows, 0, kQubits});
    const double error = k.estimate(kColumns).error;
    for (const std::uint32_t rank : {0u, 60u}) {
        std::vector<float> alpha(y.size()), one(y.size()), image(y.size()), left(y.size());
        const weft::KernelSolveOptions options{.lambda = kLambda, .tolerance = kTolerance, .rank = rank};
        const weft::KernelSolveReport report =
            weft::mpi::kernel_solve(run.ranks, where, k, y, alpha, options);
        require(report.converged && report.residual() <= kTolerance, "a solve does not converge");
        weft::kernel_solve(where, k, y, one, options);
        // (docs/mpi.md) The solutions of two solves, each with its residual and the rounding of its products.
        double sum = 0;
        std::vector<float> apart(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
            apart[i] = alpha[i] - one[i];
            sum += std::abs(static_cast<double>(alpha[i])) + std::abs(static_cast<double>(one[i]));
        }
        const double rounding = std::sqrt(static_cast<double>(kRows)) * error * sum;
        require(norm(apart) <= (2 * kTolerance * norm(y) + rounding) / kLambda, "another solution");
        weft::kernel_apply(where, k, alpha, image, {.lambda = kLambda});
        for (std::size_t i = 0; i < y.size(); ++i) left[i] = y[i] - image[i];
        require(norm(left) <= 1.1 * kTolerance * norm(y) + rounding, "the residual of a solution");
        std::uint32_t iterations = report.iterations, most = 0;
        MPI_Allreduce(&iterations, &most, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
        require(iterations == most, "ranks ended in other iterations");
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
                "kernel_apply: out does not fit the shape"),
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
    solves(run, run.backend);
    solve_refusals(run);
}

/// A rank that drives several devices: the same results.
void devices(Run& run) {
    const weft::Config config = run.ranks.config();
    weft::Devices several(std::vector<weft::Config>{config, config});
    products(run, several);
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
        const weft::OpReport report =
            weft::mpi::kernel_matrix(run.ranks, several, circuit, x, file, shape, weft::kFloat32, options);
        require(same(values_in(file), want), "K of several devices has other bits");
        std::uint64_t made = report.items, sum = 0;
        MPI_Allreduce(&made, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        require(sum == shape.pairs(), "pairs of several devices");
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

/// The last rank leaves in the middle of a solve: the others name it.
void silent_in_a_solve(Run& run) {
    Ranks ranks(MPI_COMM_WORLD, {.timeout_s = 2});
    const int last = ranks.size() - 1;
    const std::vector<float> x = numbers(300, 0.7), y = numbers(100, 1.1);
    std::vector<float> alpha(100);
    const weft::KernelOperator k = weft::mpi::kernel_operator(ranks, run.backend, {}, x, {100, 0, 3});
    weft::KernelSolveOptions options{.lambda = 1e-6, .tolerance = 1e-12, .rank = 0};
    if (ranks.rank() == last)
        options.batch.progress = [](const weft::Progress& p) {
            while (p.done >= 2) pause();
        };
    const std::string text = text_of_error(
        weft::Errc::device_lost, [&] { weft::mpi::kernel_solve(ranks, run.backend, k, y, alpha, options); });
    require(ranks.lost() && has(text, "rank " + std::to_string(last) + " of " + std::to_string(ranks.size()) +
                                          " has not come within 2 s"),
            "the missing rank has no name");
    std::printf("NAMED\n");
    std::fflush(stdout);
    abort_after_all();
}

}  // namespace ranks_test
