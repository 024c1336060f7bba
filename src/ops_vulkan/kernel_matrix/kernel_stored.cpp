// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_store.hpp>: kernel matrices into a store, on one device and on several.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/ops/kernel_store.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/tile_store.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"

namespace weft {
namespace {

using kernels::DevicePlans;
using kernels::HostMatrixCall;
using kernels::MatrixItems;
using kernels::StoreFacts;
using kernels::StorePin;
using kernels::TileStore;

template <class Where>
OpReport into_store(Where& where, HostMatrixCall call, KernelMatrixStore& into) {
    TileStore& store = detail::Access::state(into);
    if (store.begun())
        throw Error(Errc::invalid_argument,
                    "kernel_matrix: the store has been used already (make another KernelMatrixStore)");
    StoreFacts facts = kernels::file_facts(call.shape, store.type());
    for (auto& fact : kernels::call_facts(call.circuit, call.x, call.y, call.shape, call.options))
        facts.push_back(std::move(fact));
    store.require(facts);
    std::optional<StorePin> pin;
    if (store.has_facts()) pin = kernels::read_pin(store.facts());
    if (pin) call.options = kernels::pinned(call.options, *pin);
    DevicePlans plans = kernels::plan_together(where, call);
    for (auto& fact : kernels::facts_of_devices(where, plans)) facts.push_back(std::move(fact));
    store.require(facts);
    if (!pin) pin = kernels::pin_of(plans.first(), store.tile_bytes());
    if (const std::string what = kernels::pin_plans(where, call, plans, *pin); !what.empty())
        throw Error(Errc::invalid_argument,
                    "kernel_matrix: the tile store is of other " + what + "; remove it to begin again");
    kernels::add_pin(facts, *pin);
    store.begin(std::move(facts), kernels::store_tiles(plans.first(), *pin));
    const std::vector<std::size_t> missing = store.missing();
    call.k = into.values();
    OpReport report = kernels::kernel_report(call.shape, plans.first().method, call.x, call.y, call.k);
    const MatrixItems items = kernels::items_of(plans.first(), store.tiles(), missing);
    if (!missing.empty())
        report = kernels::share_items(where, call, plans, items,
                                      [&](std::uint64_t item) { store.put(missing[item]); });
    report.items = items.pairs(plans.first());
    return report;
}

/// K of the store's type for the checks, which do not read it: its file is not mapped yet.
HostArray unmapped(const TileStore& store) {
    alignas(16) static std::byte nothing[16];
    return {nothing, 1, store.type()};
}

template <class Where>
OpReport of_features(Where& where, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                     const ConstHostArray* y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                     const KernelMatrixHostOptions& host) {
    const TileStore& store = detail::Access::state(k);
    return into_store(
        where,
        kernels::checked_features(circuit, x, y, unmapped(store), {store.shape().values(), store.type()},
                                  shape, host, core::first_backend(where).plan().copy_threads),
        k);
}

template <class Where>
OpReport of_states(Where& where, const ConstHostArray& x, const ConstHostArray* y, KernelMatrixStore& k,
                   const KernelMatrixShape& shape, const KernelMatrixHostOptions& host) {
    const TileStore& store = detail::Access::state(k);
    return into_store(where,
                      kernels::checked_states(x, y, unmapped(store), {store.shape().values(), store.type()},
                                              shape, host, core::first_backend(where).plan().copy_threads),
                      k);
}

}  // namespace

OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(backend, circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(backend, circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const ConstHostArray& states, KernelMatrixStore& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return of_states(backend, states, nullptr, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_states(backend, states, &others, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, KernelMatrixStore& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return of_states(devices, states, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, KernelMatrixStore& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_states(devices, states, &others, k, shape, options);
}

}  // namespace weft
