// SPDX-License-Identifier: Apache-2.0
// Completes <weft/mpi/distributed.hpp> and <weft/mpi/block_cyclic.hpp>: kernel matrices over ranks.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/mpi/block_cyclic.hpp>
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

using kernels::DevicePlans;
using kernels::facts_of;
using kernels::HostMatrixCall;
using kernels::MatrixItems;
using kernels::StoreFacts;
using kernels::StorePin;

constexpr std::uint64_t kTileBytes = std::uint64_t{128} << 20;

/// K's type for the checks, which do not read it: it goes to a file.
HostArray of_type(ElementType type) {
    alignas(16) static std::byte nothing[16];
    return {nothing, 1, type};
}

/// The items of a share.
MatrixItems some(const MatrixItems& items, const core::Share& share) {
    const auto cut = [&](const auto& list) {
        if (list.empty()) return list;
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(share.first);
        return std::decay_t<decltype(list)>(first, first + static_cast<std::ptrdiff_t>(share.count));
    };
    return {cut(items.blocks), cut(items.rows)};
}

/// One plan for all ranks: that of the smallest device, as the first rank has it. `rows`: of a tile, or 0.
template <class Where>
std::pair<DevicePlans, StorePin> plan_for_all(RanksState& ranks, Where& where, HostMatrixCall call,
                                              std::uint64_t rows) {
    DevicePlans plans;
    ranks.together([&] { plans = kernels::plan_together(where, call); });
    const kernels::StatePlan& states = plans.first().states;
    std::uint64_t tile = ranks.least(states.tile);
    const bool bulk = ranks.least(states.bulk ? 1 : 0) != 0;
    if (rows != 0 && !bulk && tile > rows) tile = tile / rows * rows;  // blocks begin at multiples of `rows`
    const StorePin smallest{.rows = 64, .tile = tile, .bulk = bulk};
    ranks.together([&] {
        if (states.tile == tile && states.bulk == bulk) return;
        call.options = kernels::pinned(call.options, smallest);
        plans = kernels::plan_together(where, call);
    });
    StoreFacts facts;
    StorePin own = kernels::pin_of(plans.first(), kTileBytes);
    if (rows != 0) own.rows = rows;
    add_pin(facts, own);
    const StorePin pin = kernels::read_pin(ranks.from_first(facts));
    ranks.together([&] {
        if (const std::string what = kernels::pin_plans(where, call, plans, pin); !what.empty())
            throw Error(Errc::unsupported, "kernel_matrix: the ranks must agree, but differ in " + what);
    });
    return {std::move(plans), pin};
}

/// Makes items of a call with what a rank drives. All arguments must outlive it.
class ItemMaker {
  public:
    ItemMaker(Backend& backend, const HostMatrixCall& call, const DevicePlans& plans,
              const MatrixItems& items)
        : maker_([&, this](const core::Share& share) {
              // What it has packed stays for the next items.
              if (!shares_) shares_ = kernels::make_shares(backend, plans.first(), call, items);
              shares_->begin(share, call.batch);
          }) {}
    ItemMaker(Devices& devices, const HostMatrixCall& call, const DevicePlans& plans,
              const MatrixItems& items)
        : maker_([&](const core::Share& share) {
              kernels::share_items(devices, call, plans, some(items, share));
          }) {}
    ItemMaker(const ItemMaker&) = delete;
    ItemMaker& operator=(const ItemMaker&) = delete;

    /// The last blocks may be on their way when it returns, so that the device need not wait for the next.
    void make(const core::Share& share) { maker_(share); }
    /// All are in place.
    void finish() {
        if (shares_) shares_->finish();
    }

  private:
    std::unique_ptr<kernels::MatrixShares> shares_;
    std::function<void(const core::Share&)> maker_;
};

/// Makes tiles as long as there are any. Returns those of this rank.
template <class Where>
std::vector<core::Share> make_tiles(RanksState& ranks, Where& where, const HostMatrixCall& call,
                                    const DevicePlans& plans, const MatrixItems& items) {
    const std::uint64_t count = items.count(), devices = RankDevices(where).count();
    const auto all_ranks = static_cast<std::uint64_t>(ranks.size());
    // Several tiles overlap with each other; few leave less to wait for at the end. One device goes on with
    // the next tiles while the last ones are copied. Several devices begin anew, so they take half of their
    // rank's part of what is left.
    const auto step_at = [&](std::uint64_t at) {
        return devices == 1 ? std::clamp<std::uint64_t>(count / (all_ranks * 8), 1, 4)
                            : std::max(devices, (count - at) / (2 * all_ranks));
    };
    core::ProgressMeter meter("kernel_matrix", call.batch, count);
    BatchOptions each = call.batch;
    each.progress = {};
    const HostMatrixCall quiet{call.circuit, call.x, call.y,     call.k,   call.shape,
                               call.options, each,   call.facts, call.sink};
    ItemMaker maker(where, quiet, plans, items);
    std::vector<core::Share> made;
    try {
        std::uint64_t step = step_at(0);
        for (std::uint64_t at = ranks.take(step); at < count; at = ranks.take(step)) {
            if (ranks.count_is_stopped()) break;
            meter.show(at);
            made.push_back({at, std::min(step, count - at)});
            maker.make(made.back());
            step = step_at(at);
        }
        maker.finish();
    } catch (...) {
        ranks.stop_count();
        throw;
    }
    return made;
}

template <class Where>
void require_same_call(RanksState& ranks, Where& where, const HostMatrixCall& call, StoreFacts facts) {
    const auto add = [&](StoreFacts more) {
        for (kernels::StoreFact& fact : more) facts.push_back(std::move(fact));
    };
    add(kernels::file_facts(call.shape, call.k.type));
    add(kernels::call_facts(call.circuit, call.x, call.y, call.shape, call.options));
    add(kernels::device_facts(core::first_backend(where).device()));
    ranks.require_same("kernel_matrix", facts);
}

OpReport report_of(const HostMatrixCall& call, const DevicePlans& plans, std::uint64_t pairs,
                   std::chrono::steady_clock::time_point begin) {
    OpReport report = kernels::kernel_report(call.shape, plans.first().method, call.x, call.y, call.k);
    report.items = pairs;
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

/// Threads of several devices write through MPI-IO, one at a time.
void require_threads(const RanksState& ranks, const RankDevices& devices) {
    if (ranks.maps_files()) return;
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (devices.count() > 1 && level < MPI_THREAD_SERIALIZED)
        throw Error(Errc::unsupported,
                    "kernel_matrix: several devices of a rank cannot write into a file, because MPI was "
                    "initialized for one thread (need MPI_THREAD_SERIALIZED of MPI_Init_thread)");
}

template <class Where>
OpReport into_file(RanksState& ranks, Where& where, HostMatrixCall call, const std::filesystem::path& path) {
    const auto begin = std::chrono::steady_clock::now();
    ranks.together([&] { require_threads(ranks, where); });
    require_same_call(ranks, where, call, {{"file", path.string()}});
    const auto [plans, pin] = plan_for_all(ranks, where, call, 0);
    ranks.together([&] { static_cast<void>(kernels::facts_of_devices(where, plans)); });
    const std::vector<kernels::StoreTile> tiles = kernels::store_tiles(plans.first(), pin);
    std::vector<std::size_t> all(tiles.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const MatrixItems items = kernels::items_of(plans.first(), tiles, all);
    SharedFile file(ranks, path, call.shape, call.k.type);
    if (const HostArray mapped = file.mapped(); mapped.size != 0)
        call.k = mapped;
    else
        call.sink = [&](const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) {
            file.write(block, values, leading);
        };
    ranks.begin_count();
    std::vector<core::Share> made;
    ranks.together([&] { made = make_tiles(ranks, where, call, plans, items); });
    file.finish();
    OpReport report = report_of(call, plans, 0, begin);
    report.elements = 0;
    for (const core::Share& share : made) {
        report.items += some(items, share).pairs(plans.first());
        for (std::uint64_t i = share.first; i < share.first + share.count; ++i)
            report.elements += tiles[i].block.rows * tiles[i].block.columns * (tiles[i].mirrored ? 2 : 1);
    }
    report.bytes_out = report.elements * call.k.type.bytes();
    return report;
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

template <class Where>
OpReport into_local(RanksState& ranks, Where& where, HostMatrixCall call, const LocalTarget& target) {
    const auto begin = std::chrono::steady_clock::now();
    ranks.together([&] { check_target(ranks, call, target); });
    const BlockCyclic& layout = target.layout;
    require_same_call(
        ranks, where, call,
        {{"grid", std::to_string(layout.grid_rows) + " x " + std::to_string(layout.grid_columns)},
         {"block", std::to_string(layout.block)},
         {"triangle", target.triangle == Triangle::lower ? "lower" : "both"}});
    const auto [plans, pin] = plan_for_all(ranks, where, call, layout.block);
    LocalBlocks local(layout, ranks.rank(), call.shape, target.k, target.triangle == Triangle::lower);
    const std::vector<kernels::StoreTile> tiles = kernels::store_tiles(plans.first(), pin);
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < tiles.size(); ++i)
        if (local.needs(tiles[i])) own.push_back(i);
    const MatrixItems items = kernels::items_of(plans.first(), tiles, own);
    call.sink = [&](const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) {
        local.put(block, values, leading);
    };
    ranks.together([&] {
        if (items.count() != 0) kernels::share_items(where, call, plans, items);
    });
    OpReport report = report_of(call, plans, items.pairs(plans.first()), begin);
    report.elements = target.k.size;
    report.bytes_out = target.k.bytes();
    return report;
}

std::uint32_t copy_threads_of(const RankDevices& devices) {
    return devices.visit([](auto& where) { return core::first_backend(where).plan().copy_threads; });
}

/// Checks a call with features, or with states, and passes it to `into`.
template <class Into>
OpReport of_features(Ranks& of, const RankDevices& devices, const KernelMatrixCircuit& circuit,
                     const ConstHostArray& x, const ConstHostArray* y, const KernelMatrixShape& shape,
                     ElementType type, const KernelMatrixHostOptions& host, const Into& into) {
    RanksState& ranks = weft::detail::Access::state(of);
    KernelMatrixOptions options;
    kernels::CircuitFacts facts;
    ranks.together([&] {
        options = kernels::host_options(host, false);
        kernels::check_real_type("K", type);
        kernels::check_features(facts_of(x), facts_of(y), {shape.values(), type}, shape, options);
        facts = kernels::circuit_facts(shape, circuit, true);
        kernels::check_host_features(x, y, of_type(type), shape, circuit.scale, copy_threads_of(devices));
    });
    return into(ranks, HostMatrixCall{&circuit, x, y, of_type(type), shape, options, host.batch, facts});
}

template <class Into>
OpReport of_states(Ranks& of, const RankDevices& devices, const ConstHostArray& x, const ConstHostArray* y,
                   const KernelMatrixShape& shape, ElementType type, const KernelMatrixHostOptions& host,
                   const Into& into) {
    RanksState& ranks = weft::detail::Access::state(of);
    KernelMatrixOptions options;
    ranks.together([&] {
        options = kernels::host_options(host, false);
        kernels::check_real_type("K", type);
        kernels::check_states(facts_of(x), facts_of(y), {shape.values(), type}, shape, options);
        kernels::check_host_states(x, y, of_type(type), shape, copy_threads_of(devices));
    });
    return into(ranks, HostMatrixCall{nullptr, x, y, of_type(type), shape, options, host.batch,
                                      kernels::state_facts(x.type, true)});
}

auto to_file(const RankDevices& devices, const std::filesystem::path& k) {
    return [&](RanksState& ranks, const HostMatrixCall& call) {
        return devices.visit([&](auto& where) { return into_file(ranks, where, call, k); });
    };
}
auto to_local(const RankDevices& devices, const BlockCyclic& layout, const HostArray& k, Triangle triangle) {
    return [&, triangle](RanksState& ranks, const HostMatrixCall& call) {
        return devices.visit([&](auto& where) {
            return into_local(ranks, where, call, {layout, k, triangle});
        });
    };
}

}  // namespace

OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, devices, circuit, x, nullptr, shape, type, options, to_file(devices, k));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const std::filesystem::path& k,
                       const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, devices, circuit, x, &y, shape, type, options, to_file(devices, k));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                       const std::filesystem::path& k, const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_states(ranks, devices, states, nullptr, shape, type, options, to_file(devices, k));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const std::filesystem::path& k, const KernelMatrixShape& shape, ElementType type,
                       const KernelMatrixHostOptions& options) {
    return of_states(ranks, devices, states, &others, shape, type, options, to_file(devices, k));
}

OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const BlockCyclic& layout, const HostArray& k,
                       const KernelMatrixShape& shape, Triangle triangle,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, devices, circuit, x, nullptr, shape, k.type, options,
                       to_local(devices, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const KernelMatrixCircuit& circuit,
                       const ConstHostArray& x, const ConstHostArray& y, const BlockCyclic& layout,
                       const HostArray& k, const KernelMatrixShape& shape, Triangle triangle,
                       const KernelMatrixHostOptions& options) {
    return of_features(ranks, devices, circuit, x, &y, shape, k.type, options,
                       to_local(devices, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices, const ConstHostArray& states,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle, const KernelMatrixHostOptions& options) {
    return of_states(ranks, devices, states, nullptr, shape, k.type, options,
                     to_local(devices, layout, k, triangle));
}
OpReport kernel_matrix(Ranks& ranks, RankDevices devices,
                       const weft::detail::GivenStates<ConstHostArray>& states, const ConstHostArray& others,
                       const BlockCyclic& layout, const HostArray& k, const KernelMatrixShape& shape,
                       Triangle triangle, const KernelMatrixHostOptions& options) {
    return of_states(ranks, devices, states, &others, shape, k.type, options,
                     to_local(devices, layout, k, triangle));
}

}  // namespace weft::mpi
