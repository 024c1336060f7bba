// SPDX-License-Identifier: Apache-2.0
// Completes <weft/mpi/distributed.hpp>: kernel matrices over ranks.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/mpi/distributed.hpp>

#include "base/batch_call.hpp"
#include "mpi/block_cyclic.hpp"
#include "mpi/ranks_state.hpp"
#include "mpi/shared_file.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"

namespace weft::mpi {
namespace {

using kernels::facts_of;
using kernels::HostMatrixCall;
using kernels::KernelMatrixPlan;
using kernels::MatrixItems;
using kernels::StoreFacts;
using kernels::StorePin;

constexpr std::uint64_t kTileBytes = std::uint64_t{128} << 20;

/// K's type for the checks, which do not read it: it goes to a file.
HostArray of_type(ElementType type) {
    alignas(16) static std::byte nothing[16];
    return {nothing, 1, type};
}

/// One plan for all ranks: that of the smallest device, as the first rank has it. `rows`: of a tile, or 0.
std::pair<KernelMatrixPlan, StorePin> plan_for_all(RanksState& ranks, Backend& backend,
                                                   const HostMatrixCall& call, std::uint64_t rows) {
    KernelMatrixPlan plan;
    ranks.together([&] { plan = kernels::plan_on(backend, call, call.options); });
    std::uint64_t tile = ranks.least(plan.states.tile);
    const bool bulk = ranks.least(plan.states.bulk ? 1 : 0) != 0;
    if (rows != 0 && !bulk && tile > rows) tile = tile / rows * rows;  // blocks begin at multiples of `rows`
    const StorePin smallest{.rows = 64, .tile = tile, .bulk = bulk};
    ranks.together([&] {
        if (plan.states.tile == tile && plan.states.bulk == bulk) return;
        plan = kernels::plan_on(backend, call, kernels::pinned(call.options, smallest));
    });
    StoreFacts facts;
    StorePin own = kernels::pin_of(plan, kTileBytes);
    if (rows != 0) own.rows = rows;
    add_pin(facts, own);
    const StorePin pin = kernels::read_pin(ranks.from_first(facts));
    ranks.together([&] {
        if (const std::string what = kernels::pin_plan(backend, call, plan, pin); !what.empty())
            throw Error(Errc::unsupported, "kernel_matrix: the ranks must agree, but differ in " + what);
    });
    return {std::move(plan), pin};
}

/// Makes tiles as long as there are any. Returns the pairs of this rank's.
OpReport make_tiles(RanksState& ranks, Backend& backend, const HostMatrixCall& call,
                    const KernelMatrixPlan& plan, const MatrixItems& items) {
    const std::uint64_t count = items.count();
    const auto shares = static_cast<std::uint64_t>(ranks.size()) * 8;
    // Several tiles overlap with each other; few leave less to wait for at the end.
    const std::uint64_t step = std::clamp<std::uint64_t>(count / shares, 1, 4);
    core::ProgressMeter meter("kernel_matrix", call.batch, count);
    BatchOptions each = call.batch;
    each.progress = {};
    std::unique_ptr<kernels::MatrixShares> maker;
    OpReport sum;
    try {
        for (std::uint64_t at = ranks.take(step); at < count; at = ranks.take(step)) {
            if (ranks.count_is_stopped()) break;
            meter.show(at);
            if (!maker) maker = kernels::make_shares(backend, plan, call, items);
            const OpReport made = maker->make({at, std::min(step, count - at)}, each, call.shape.pairs(), {});
            sum.items += made.items;
            sum.bytes_out += made.bytes_out;
        }
    } catch (...) {
        ranks.stop_count();
        throw;
    }
    return sum;
}

void require_same_call(RanksState& ranks, Backend& backend, const HostMatrixCall& call, StoreFacts facts) {
    const auto add = [&](StoreFacts more) {
        for (kernels::StoreFact& fact : more) facts.push_back(std::move(fact));
    };
    add(kernels::file_facts(call.shape, call.k.type));
    add(kernels::call_facts(call.circuit, call.x, call.y, call.shape, call.options));
    add(kernels::device_facts(backend.device()));
    ranks.require_same("kernel_matrix", facts);
}

OpReport report_of(const HostMatrixCall& call, const KernelMatrixPlan& plan, const OpReport& made,
                   std::chrono::steady_clock::time_point begin) {
    OpReport report = kernels::kernel_report(call.shape, plan.method, call.x, call.y, call.k);
    report.items = made.items;
    report.bytes_out = made.bytes_out;
    report.elements = made.bytes_out / call.k.type.bytes();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

OpReport into_file(RanksState& ranks, Backend& backend, HostMatrixCall call,
                   const std::filesystem::path& path) {
    const auto begin = std::chrono::steady_clock::now();
    require_same_call(ranks, backend, call, {{"file", path.string()}});
    const auto [plan, pin] = plan_for_all(ranks, backend, call, 0);
    const std::vector<kernels::StoreTile> tiles = kernels::store_tiles(plan, pin);
    std::vector<std::size_t> all(tiles.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const MatrixItems items = kernels::items_of(plan, tiles, all);
    SharedFile file(ranks, path, call.shape, call.k.type);
    call.sink = [&](const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) {
        file.write(block, values, leading);
    };
    ranks.begin_count();
    OpReport made;
    ranks.together([&] { made = make_tiles(ranks, backend, call, plan, items); });
    file.finish();
    return report_of(call, plan, made, begin);
}

/// Where a call puts its blocks in local memory.
struct LocalTarget {
    const BlockCyclic& layout;
    const HostArray& k;
    Triangle triangle;
};

void check_target(const RanksState& ranks, const HostMatrixCall& call, const LocalTarget& target) {
    const BlockCyclic& layout = target.layout;
    const auto refuse = [](const std::string& what) {
        throw Error(Errc::invalid_argument, "kernel_matrix: " + what);
    };
    if (layout.grid_rows < 1 || layout.grid_columns < 1 ||
        std::int64_t{layout.grid_rows} * layout.grid_columns != ranks.size())
        refuse("the grid does not have the ranks (got " + std::to_string(layout.grid_rows) + " x " +
               std::to_string(layout.grid_columns) + ", need " + std::to_string(ranks.size()) + " in all)");
    if (layout.block == 0 || layout.block % 64 != 0)
        refuse("block is out of range (got " + std::to_string(layout.block) + ", need a multiple of 64)");
    if (target.triangle == Triangle::lower && !call.shape.square())
        refuse("Triangle::lower is of a square K (got Y, need Triangle::both)");
    const std::uint64_t need = local_part(layout, ranks.rank(), call.shape).values();
    if (target.k.size != need)
        refuse("k is not this rank's part (got " + std::to_string(target.k.size) + " values, need " +
               std::to_string(need) + ")");
    if (need != 0 && target.k.data == nullptr) refuse("k is null");
}

OpReport into_local(RanksState& ranks, Backend& backend, HostMatrixCall call, const LocalTarget& target) {
    const auto begin = std::chrono::steady_clock::now();
    ranks.together([&] { check_target(ranks, call, target); });
    const BlockCyclic& layout = target.layout;
    require_same_call(
        ranks, backend, call,
        {{"grid", std::to_string(layout.grid_rows) + " x " + std::to_string(layout.grid_columns)},
         {"block", std::to_string(layout.block)},
         {"triangle", target.triangle == Triangle::lower ? "lower" : "both"}});
    const auto [plan, pin] = plan_for_all(ranks, backend, call, layout.block);
    LocalBlocks local(layout, ranks.rank(), call.shape, target.k, target.triangle == Triangle::lower);
    const std::vector<kernels::StoreTile> tiles = kernels::store_tiles(plan, pin);
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < tiles.size(); ++i)
        if (local.needs(tiles[i])) own.push_back(i);
    const MatrixItems items = kernels::items_of(plan, tiles, own);
    call.sink = [&](const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) {
        local.put(block, values, leading);
    };
    OpReport made;
    ranks.together([&] {
        if (items.count() != 0)
            made = kernels::make_shares(backend, plan, call, items)
                       ->make({0, items.count()}, call.batch, items.pairs(plan), {});
    });
    OpReport report = report_of(call, plan, made, begin);
    report.elements = target.k.size;
    return report;
}

/// Checks a call with features, or with states, and passes it to `into`.
template <class Into>
OpReport of_features(Ranks& of, Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                     const ConstHostArray* y, const KernelMatrixShape& shape, ElementType type,
                     const KernelMatrixHostOptions& host, const Into& into) {
    RanksState& ranks = weft::detail::Access::state(of);
    KernelMatrixOptions options;
    kernels::CircuitFacts facts;
    ranks.together([&] {
        options = kernels::host_options(host, false);
        kernels::check_real_type("K", type);
        kernels::check_features(facts_of(x), facts_of(y), {shape.values(), type}, shape, options);
        facts = kernels::circuit_facts(shape, circuit, true);
        kernels::check_host_features(x, y, of_type(type), shape, circuit.scale, backend.plan().copy_threads);
    });
    return into(ranks, HostMatrixCall{&circuit, x, y, of_type(type), shape, options, host.batch, facts});
}

template <class Into>
OpReport of_states(Ranks& of, Backend& backend, const ConstHostArray& x, const ConstHostArray* y,
                   const KernelMatrixShape& shape, ElementType type, const KernelMatrixHostOptions& host,
                   const Into& into) {
    RanksState& ranks = weft::detail::Access::state(of);
    KernelMatrixOptions options;
    ranks.together([&] {
        options = kernels::host_options(host, false);
        kernels::check_real_type("K", type);
        kernels::check_states(facts_of(x), facts_of(y), {shape.values(), type}, shape, options);
        kernels::check_host_states(x, y, of_type(type), shape, backend.plan().copy_threads);
    });
    return into(ranks, HostMatrixCall{nullptr, x, y, of_type(type), shape, options, host.batch,
                                      kernels::state_facts(x.type, true)});
}

auto to_file(Backend& backend, const std::filesystem::path& k) {
    return
        [&](RanksState& ranks, HostMatrixCall call) { return into_file(ranks, backend, std::move(call), k); };
}
auto to_local(Backend& backend, const BlockCyclic& layout, const HostArray& k, Triangle triangle) {
    return [&, triangle](RanksState& ranks, HostMatrixCall call) {
        return into_local(ranks, backend, std::move(call), {layout, k, triangle});
    };
}

}  // namespace

OpReport kernel_matrix(Ranks& ranks, Backend& backend, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, backend, circuit, x, nullptr, shape, type, options, to_file(backend, k));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, backend, circuit, x, &y, shape, type, options, to_file(backend, k));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend, const ConstHostArray& states,
                       const std::filesystem::path& k, const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_states(ranks, backend, states, nullptr, shape, type, options, to_file(backend, k));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const std::filesystem::path& k, const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_states(ranks, backend, states, &others, shape, type, options, to_file(backend, k));
}

OpReport kernel_matrix(Ranks& ranks, Backend& backend, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const BlockCyclic& layout, const HostArray& k,
                       const KernelMatrixShape& shape, Triangle triangle,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, backend, circuit, x, nullptr, shape, k.type, options,
                       to_local(backend, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const BlockCyclic& layout,
                       const HostArray& k, const KernelMatrixShape& shape, Triangle triangle,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, backend, circuit, x, &y, shape, k.type, options,
                       to_local(backend, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend, const ConstHostArray& states,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle, const KernelMatrixHostOptions& options) {
    return of_states(ranks, backend, states, nullptr, shape, k.type, options,
                     to_local(backend, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, Backend& backend,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle, const KernelMatrixHostOptions& options) {
    return of_states(ranks, backend, states, &others, shape, k.type, options,
                     to_local(backend, layout, k, triangle));
}

}  // namespace weft::mpi
