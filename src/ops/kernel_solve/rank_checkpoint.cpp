// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/rank_checkpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "host/cpu_set.hpp"

namespace weft::kernels {
namespace {

constexpr auto kVectors = {&SolveState::solution, &SolveState::residual, &SolveState::direction};

/// What the first rank has, to all.
void from_first(const KernelRanks& ranks, std::span<std::byte> all) {
    if (ranks.size == 1) return;
    std::vector<std::uint64_t> bytes(ranks.size, 0);
    bytes[0] = all.size();
    ranks.gather(all, bytes);
}

template <class Numbers>
std::span<std::byte> memory_of(Numbers& numbers) {
    return std::as_writable_bytes(std::span(numbers));
}

std::ptrdiff_t place(std::uint64_t index) {
    return static_cast<std::ptrdiff_t>(index);
}

}  // namespace

RankCheckpoint::RankCheckpoint(const KernelRanks& ranks, std::uint64_t samples, std::uint64_t columns,
                               std::uint32_t every, const Open& open)
    : ranks_(ranks),
      samples_(samples),
      columns_(columns),
      own_(kernel_rank_rows(samples, ranks.rank, ranks.size)),
      every_(every) {
    struct {
        std::uint64_t found = 0, ranks = 0, threads = 0;
    } facts[1];
    together(ranks_, [&] {
        if (ranks_.rank != 0) return;
        file_ = open();
        const bool found = file_->found().has_value();
        facts[0].found = found ? 1 : 0;
        // Files without this fact are of one process.
        facts[0].ranks = file_->pinned("ranks", found ? 1 : ranks_.size);
        facts[0].threads = file_->pinned("threads", core::usable_cores());
        file_->pin("ranks", ranks_.size);
    });
    from_first(ranks_, memory_of(facts));
    of_other_ranks_ = facts[0].ranks != ranks_.size;
    threads_ = static_cast<std::uint32_t>(facts[0].threads);
    if (facts[0].found != 0) share_found();
}

void RankCheckpoint::share_found() {
    SolveState state;
    if (file_) state = file_->take_found();
    struct {
        std::uint64_t iterations, is_true;
        double last_true;
    } numbers[1] = {{state.iterations, state.is_true ? 1u : 0u, state.last_true}};
    from_first(ranks_, memory_of(numbers));
    state.iterations = static_cast<std::uint32_t>(numbers[0].iterations);
    state.is_true = numbers[0].is_true != 0;
    state.last_true = numbers[0].last_true;
    state.product.resize(columns_);
    from_first(ranks_, memory_of(state.product));
    for (auto vector : kVectors) {
        std::vector<double>& all = state.*vector;
        all.resize(samples_ * columns_);
        from_first(ranks_, memory_of(all));
        all.erase(all.begin() + place(own_.last * columns_), all.end());
        all.erase(all.begin(), all.begin() + place(own_.first * columns_));
        all.shrink_to_fit();
    }
    saved_ = state.iterations;
    found_ = std::move(state);
}

void RankCheckpoint::save(SolveState state) {
    if (ranks_.size > 1)
        for (auto vector : kVectors) {
            std::vector<double> all(samples_ * columns_);
            const std::vector<double>& own = state.*vector;
            std::copy(own.begin(), own.end(), all.begin() + place(own_.first * columns_));
            gather_rows(ranks_, samples_, memory_of(all));
            if (file_) state.*vector = std::move(all);
        }
    together(ranks_, [&] {
        if (file_) file_->save(state);
    });
    saved_ = state.iterations;
}

}  // namespace weft::kernels
