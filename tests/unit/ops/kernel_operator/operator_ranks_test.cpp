// SPDX-License-Identifier: Apache-2.0
// Solves that several ranks share, which are threads here: the same answer for any number of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ops/kernel_solve/operator_eigen.hpp"
#include "ops/kernel_solve/operator_solve.hpp"
#include "support/error_text.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;

constexpr std::size_t kSamples = 300;

double value(std::size_t i, std::size_t j) {
    static const std::vector<double> by_distance = [] {
        std::vector<double> values;
        for (std::size_t apart = 0; apart < kSamples; ++apart)
            values.push_back(std::exp(-static_cast<double>(apart * apart) / 200));
        return values;
    }();
    return by_distance[i > j ? i - j : j - i];
}

/// out = (K + lambda I) v for all rows.
void multiply(double lambda, const std::vector<double>& v, std::size_t columns, std::vector<double>& out) {
    out.assign(v.size(), 0);
    for (std::size_t i = 0; i < kSamples; ++i)
        for (std::size_t j = 0; j < kSamples; ++j) {
            const double k = value(i, j) + (i == j ? lambda : 0);
            for (std::size_t c = 0; c < columns; ++c) out[i * columns + c] += k * v[j * columns + c];
        }
}

/// Threads that add up their numbers in the order of their ranks.
class Crowd {
  public:
    explicit Crowd(std::uint32_t size) : size_(size), gate_(size), numbers_(size), parts_(size) {}

    KernelRanks as(std::uint32_t rank) {
        KernelRanks ranks{rank, size_, {}, {}, {}};
        ranks.sum = [this, rank](std::span<double> numbers) {
            numbers_[rank] = numbers;
            gate_.arrive_and_wait();
            std::vector<double> all(numbers.size());
            for (const std::span<double> part : numbers_)
                for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
            gate_.arrive_and_wait();
            std::copy(all.begin(), all.end(), numbers.begin());
        };
        ranks.gather = [this, rank](std::span<std::byte> all, std::span<const std::uint64_t> bytes) {
            parts_[rank] = all;
            gate_.arrive_and_wait();
            std::size_t place = 0;
            for (std::uint32_t of = 0; of < size_; place += bytes[of++])
                if (of != rank)
                    std::copy_n(parts_[of].begin() + static_cast<std::ptrdiff_t>(place), bytes[of],
                                all.begin() + static_cast<std::ptrdiff_t>(place));
            gate_.arrive_and_wait();
        };
        ranks.together = [](const std::function<void()>& step) { step(); };
        return ranks;
    }
    /// Calls work(ranks) in a thread for each rank.
    template <class Work>
    void run(const Work& work) {
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < size_; ++rank)
            threads.emplace_back([this, rank, &work] { work(as(rank)); });
    }

  private:
    const std::uint32_t size_;
    std::barrier<> gate_;
    std::vector<std::span<double>> numbers_;
    std::vector<std::span<std::byte>> parts_;
};

SolveKernel kernel_of(const KernelRanks& ranks, double lambda) {
    SolveKernel kernel;
    kernel.samples = kSamples;
    kernel.ranks = ranks;
    const KernelRankRows own = kernel.own();
    kernel.apply = [ranks, own, lambda](std::span<const double> v, std::span<double> out,
                                        std::uint32_t columns) {
        std::vector<double> all(kSamples * columns), image;
        std::copy(v.begin(), v.end(), all.begin() + static_cast<std::ptrdiff_t>(own.first * columns));
        sum(ranks, all);
        multiply(lambda, all, columns, image);
        std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(own.first * columns), out.size(),
                    out.begin());
    };
    kernel.rows = [own](const std::vector<std::uint32_t>& rows, std::span<float> out) {
        std::size_t at = 0;
        for (const std::uint32_t row : rows)
            for (std::uint64_t j = own.first; j < own.last; ++j)
                out[at++] = static_cast<float>(value(row, j));
    };
    return kernel;
}

/// Fills the rows of each rank in.
void merge(std::vector<double>& all, const std::vector<double>& part, const KernelRankRows& rows,
           std::size_t columns) {
    std::copy(part.begin() + static_cast<std::ptrdiff_t>(rows.first * columns),
              part.begin() + static_cast<std::ptrdiff_t>(rows.last * columns),
              all.begin() + static_cast<std::ptrdiff_t>(rows.first * columns));
}

}  // namespace

TEST_CASE("rows of ranks cover all rows in multiples of 64") {
    for (const std::uint64_t rows : {1ull, 63ull, 64ull, 300ull, 1ull << 31})
        for (const std::uint32_t size : {1u, 2u, 3u, 4u, 1000u}) {
            std::uint64_t next = 0, most = 0, least = rows;
            for (std::uint32_t rank = 0; rank < size; ++rank) {
                const KernelRankRows own = kernel_rank_rows(rows, rank, size);
                CHECK(own.first == next);
                CHECK(own.last >= own.first);
                if (own.last != rows) CHECK(own.last % 64 == 0);
                most = std::max(most, own.last - own.first);
                least = std::min(least, own.last - own.first);
                next = own.last;
            }
            CHECK(next == rows);
            CHECK(most - least <= 127);
        }
    CHECK(weft_test::error_text(Errc::invalid_argument, [] { kernel_rank_rows(5, 3, 3); }) ==
          "kernel_rank_rows: no such rank (got 3 of 3, need a rank below the number of ranks)");
    CHECK(weft_test::error_text(Errc::invalid_argument, [] {
              check_ranks("kernel_solve", {0, 2, {}, {}, {}});
          }).starts_with("kernel_solve: KernelRanks: a function is missing"));
}

TEST_CASE("a solve has the same answer for any number of ranks") {
    const double lambda = 1e-2, tolerance = 1e-9;
    for (const std::size_t columns : {1u, 3u})
        for (const std::uint32_t rank : {0u, 80u})
            for (const KernelPivots pivots : {KernelPivots::random, KernelPivots::residual}) {
                std::vector<double> y(kSamples * columns), image;
                for (std::size_t i = 0; i < y.size(); ++i)
                    y[i] = std::sin(0.37 * static_cast<double>(i * i % 101));
                std::vector<std::vector<double>> answers;
                for (const std::uint32_t size : {1u, 2u, 3u, 7u}) {  // of 7, two have no rows
                    CAPTURE(size);
                    std::vector<double> x(y.size());
                    std::vector<KernelSolveReport> reports(size);
                    Crowd(size).run([&](const KernelRanks& ranks) {
                        const KernelSolveOptions options{.lambda = lambda,
                                                         .tolerance = tolerance,
                                                         .max_iterations = 600,
                                                         .rank = rank,
                                                         .pivots = pivots};
                        const SolveKernel kernel = kernel_of(ranks, lambda);
                        std::vector<double> own(y.size());
                        std::optional<LowRankInverse> inverse;
                        if (rank != 0) inverse.emplace(kernel, options);
                        conjugate_gradients(
                            kernel, inverse ? &*inverse : nullptr, y, own, options, [](std::uint32_t) {},
                            reports[ranks.rank]);
                        merge(x, own, kernel.own(), columns);
                    });
                    for (const KernelSolveReport& report : reports) {
                        CHECK(report.converged);
                        CHECK(report.iterations == reports[0].iterations);
                        CHECK(report.residuals == reports[0].residuals);
                    }
                    answers.push_back(x);
                    // Of the definition, and so of other answers: K has no negative eigenvalues.
                    multiply(lambda, x, columns, image);
                    for (std::size_t c = 0; c < columns; ++c) {
                        double left = 0, norm = 0, apart = 0;
                        for (std::size_t i = c; i < y.size(); i += columns) {
                            left += std::pow(y[i] - image[i], 2);
                            norm += y[i] * y[i];
                            apart += std::pow(x[i] - answers[0][i], 2);
                        }
                        CHECK(std::sqrt(left / norm) <= 1.01 * tolerance);
                        CHECK(std::sqrt(apart) <= 2.02 * tolerance * std::sqrt(norm) / lambda);
                    }
                }
            }
}

namespace {

struct Stopped {};

/// A solve over `size` ranks with a checkpoint, which all leave after `stop` iterations; 0: they do not.
std::vector<double> solve_with_checkpoint(std::uint32_t size, const std::filesystem::path& file,
                                          std::uint32_t stop, std::vector<KernelSolveReport>& reports) {
    const KernelSolveOptions options{.lambda = 1e-2, .tolerance = 1e-9, .max_iterations = 600, .rank = 20};
    std::vector<double> y(kSamples * 2), x(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(0.37 * static_cast<double>(i * i % 101));
    reports.assign(size, {});
    Crowd(size).run([&](const KernelRanks& ranks) {
        const SolveKernel kernel = kernel_of(ranks, options.lambda);
        RankCheckpoint checkpoint(ranks, kSamples, 2, 4, [&] {
            return std::make_unique<SolveCheckpoint>(file, true, StoreFacts{{"map", "ryrz"}});
        });
        const LowRankInverse inverse(kernel, options, checkpoint.threads());
        std::vector<double> own(y.size());
        const auto done = [&](std::uint32_t iterations) {
            if (iterations == stop) throw Stopped();
        };
        try {
            conjugate_gradients(kernel, &inverse, y, own, options, done, reports[ranks.rank], &checkpoint);
        } catch (const Stopped&) {
            return;
        }
        merge(x, own, kernel.own(), 2);
    });
    return x;
}

}  // namespace

TEST_CASE("a solve over ranks continues from its checkpoint, over any number of them") {
    const weft_test::ScratchFolder folder;
    std::vector<KernelSolveReport> reports;
    for (const std::uint32_t size : {1u, 3u, 7u}) {
        CAPTURE(size);
        const std::vector<double> want =
            solve_with_checkpoint(size, folder.path() / ("whole" + std::to_string(size)), 0, reports);
        const KernelSolveReport whole = reports[0];
        REQUIRE(whole.converged);
        REQUIRE(whole.iterations > 12);
        for (const std::uint32_t next : {size, 2u, 1u}) {
            CAPTURE(next);
            const std::filesystem::path file = folder.path() / "solve";
            std::filesystem::remove(file);
            solve_with_checkpoint(size, file, 2, reports);
            solve_with_checkpoint(size, file, 10, reports);
            const std::vector<double> x = solve_with_checkpoint(next, file, 0, reports);
            for (const KernelSolveReport& report : reports) {
                CHECK(report.converged);
                CHECK(report.resumed == 8);
                if (next == size) CHECK(report.iterations == whole.iterations);
            }
            if (next == size) {
                CHECK(x == want);
                CHECK(solve_with_checkpoint(size, file, 0, reports) == want);  // it has ended already
                CHECK(reports[0].iterations == whole.iterations);
            }
            double apart = 0, norm = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                apart += std::pow(x[i] - want[i], 2);
                norm += std::pow(std::sin(0.37 * static_cast<double>(i * i % 101)), 2);
            }
            CHECK(std::sqrt(apart) <= 2.02e-9 * std::sqrt(norm) / 1e-2);
        }
    }
}

TEST_CASE("eigenvalues are the same for any number of ranks") {
    constexpr std::size_t kWanted = 5;
    constexpr double kTolerance = 1e-9;
    std::vector<double> first;
    for (const std::uint32_t size : {1u, 2u, 3u, 4u, 7u}) {
        CAPTURE(size);
        std::vector<double> vectors(kSamples * kWanted), images;
        std::vector<std::vector<double>> values(size, std::vector<double>(kWanted));
        std::vector<KernelEigenReport> reports(size);
        Crowd(size).run([&](const KernelRanks& ranks) {
            const SolveKernel kernel = kernel_of(ranks, 0);
            std::vector<double> own(vectors.size());
            largest_eigenvalues(
                kernel, values[ranks.rank], own, {.tolerance = kTolerance}, [](std::uint32_t) {},
                reports[ranks.rank]);
            merge(vectors, own, kernel.own(), kWanted);
        });
        multiply(0, vectors, kWanted, images);
        if (size == 1) first = values[0];
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            CHECK(reports[rank].converged);
            CHECK(values[rank] == values[0]);
        }
        for (std::size_t k = 0; k < kWanted; ++k) {
            double norm = 0, apart = 0;
            for (std::size_t i = k; i < vectors.size(); i += kWanted) {
                norm += vectors[i] * vectors[i];
                apart += std::pow(images[i] - values[0][k] * vectors[i], 2);
            }
            CHECK(norm == doctest::Approx(1));
            CHECK(std::sqrt(apart) <= 1.01 * kTolerance * values[0][0]);
            CHECK(std::abs(values[0][k] - first[k]) <= 2 * kTolerance * first[0]);
        }
    }
}
