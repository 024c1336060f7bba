// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_matrix.hpp>: kernel matrices on several devices. Shares are consecutive rows of
// a closed form, or consecutive blocks of K in the order in which packed states are used again.
#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

using kernels::CircuitFacts;
using kernels::facts_of;
using kernels::KernelMatrixPlan;

/// The arguments of a call. `circuit` is null if states are given; `y` may be null.
struct Call {
    const KernelMatrixCircuit* circuit;
    const ConstHostArray& x;
    const ConstHostArray* y;
    const HostArray& k;
    const KernelMatrixShape& shape;
    const KernelMatrixOptions& options;
    const BatchOptions& batch;
    CircuitFacts facts;
};

/// The plan of each device, or why it cannot take part.
struct DevicePlans {
    std::vector<std::optional<KernelMatrixPlan>> plans;
    std::vector<std::exception_ptr> refused;

    /// Errors: what the first device reported - no device can take part.
    const KernelMatrixPlan& first() const {
        for (const auto& plan : plans)
            if (plan) return *plan;
        for (const std::exception_ptr& why : refused)
            if (why) std::rethrow_exception(why);
        throw Error(Errc::device_lost, "kernel_matrix: every device is lost");
    }
};

KernelMatrixPlan plan_on(Backend& backend, const Call& call, const KernelMatrixOptions& options) {
    const bool states = call.facts.given || kernels::effective_layers(call.facts) != 0;
    kernels::KernelMatrixDevice device = kernels::kernel_device(backend, states, options);
    KernelMatrixPlan plan = kernels::plan_that_fits(device, call.shape, call.facts, call.k.type, options);
    if (kernels::tune_before(backend, device.gram, plan, options, call.batch))
        kernels::take_measured_tile(plan, device, true, options);
    return plan;
}

bool same_kind(const DeviceInfo& a, const DeviceInfo& b) {
    return a.name == b.name && a.driver == b.driver;
}

bool is_software(const Backend& backend) {
    return backend.device().type == DeviceType::cpu;
}

/// Software devices take no part beside a GPU: measuring their tiles alone would take longer than the call.
bool is_too_slow(Devices& devices, std::size_t device) {
    if (!is_software(devices[device])) return false;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i) && !is_software(devices[i])) return true;
    return false;
}

/// Devices of one kind get one plan, so that they round alike. Devices that are lost get none.
DevicePlans plan_each(Devices& devices, const Call& call, const KernelMatrixOptions& options) {
    DevicePlans made;
    made.plans.resize(devices.size());
    made.refused.resize(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices.lost(i)) continue;
        for (std::size_t before = 0; before < i && !made.plans[i]; ++before)
            if (made.plans[before] && same_kind(devices[before].device(), devices[i].device()))
                made.plans[i] = made.plans[before];
        if (made.plans[i]) continue;
        if (is_too_slow(devices, i)) {
            made.refused[i] = std::make_exception_ptr(
                Error(Errc::unsupported, "a software device is too slow beside a GPU to save time"));
            continue;
        }
        try {
            made.plans[i] = plan_on(devices[i], call, options);
        } catch (const Error& e) {
            const Errc code = e.code();  // the device leaves the call when its worker is made
            if (code != Errc::unsupported && code != Errc::out_of_memory && code != Errc::device_lost) throw;
            made.refused[i] = std::current_exception();
        }
    }
    return made;
}

/// Plans with the same tiles of states and the same blocks, the smallest that any device has.
DevicePlans plan_together(Devices& devices, const Call& call) {
    DevicePlans made = plan_each(devices, call, call.options);
    std::uint64_t tile = made.first().states.tile;
    bool equal = true;
    for (const auto& plan : made.plans)
        if (plan) {
            equal = equal && plan->states.tile == made.first().states.tile;
            tile = std::min(tile, plan->states.tile);
        }
    if (!equal) {
        KernelMatrixOptions options = call.options;
        options.state_tile = static_cast<std::int64_t>(tile);
        made = plan_each(devices, call, options);
    }
    constexpr std::uint64_t kGpuRows = 2048, kSoftwareRows = 256;
    const bool software = is_software(core::first_backend(devices));
    std::uint64_t block = made.first().states.block;
    for (auto& plan : made.plans)
        if (plan && devices.size() > 1) {
            kernels::cut_for_devices(*plan, software ? kSoftwareRows : kGpuRows);
            block = std::min(block, plan->states.block);
        }
    for (auto& plan : made.plans)
        if (plan) plan->states.block = block;
    return made;
}

/// For the next call. A destructor must not throw.
void keep(kernels::KeptScratch& scratch) noexcept {
    try {
        scratch.keep();
    } catch (const std::bad_alloc&) {
        // The next call makes its own.
    }
}

/// Does shares on one device. What it has packed stays for its next share.
class BlockShares {
  public:
    BlockShares(Backend& backend, const KernelMatrixPlan& plan, const Call& call,
                const std::vector<kernels::HostBlock>& blocks)
        : plan_(plan), call_(call), blocks_(blocks), scratch_(backend, kernels::sizes_of(plan, call.x.type)) {
        if (call.circuit != nullptr)
            source_ = std::make_unique<kernels::CircuitStates>(
                scratch_->stream, scratch_->memory, plan_, *call.circuit,
                kernels::angle_planes(scratch_->stream, scratch_->memory, plan_, call.x, call.y,
                                      call.circuit->scale));
        else
            source_ = std::make_unique<kernels::HostStates>(scratch_->memory, plan_, call.x, call.y);
        streamed_ = std::make_unique<kernels::StreamedBlocks>(backend, *scratch_, plan_, *source_, call.k,
                                                              call.options);
    }
    ~BlockShares() {
        streamed_.reset();
        source_.reset();
        if (!failed_) keep(scratch_);
    }
    OpReport make(const core::Share& share, const BatchOptions& batch) {
        const std::span<const kernels::HostBlock> blocks(&blocks_[share.first], share.count);
        failed_ = true;
        streamed_->make(blocks, batch, ~std::uint64_t{0});
        failed_ = false;
        OpReport report;
        for (const kernels::HostBlock& block : blocks) {
            report.items += kernels::pairs_of(call_.shape, block.block);
            report.bytes_out += block.block.rows * block.block.columns * plan_.value_bytes() *
                                (block.block.row != block.block.column && call_.shape.square() ? 2 : 1);
        }
        return report;
    }

  private:
    const KernelMatrixPlan& plan_;
    const Call& call_;
    const std::vector<kernels::HostBlock>& blocks_;
    kernels::KeptScratch scratch_;
    std::unique_ptr<kernels::StateSource> source_;
    std::unique_ptr<kernels::StreamedBlocks> streamed_;
    bool failed_ = false;  // so that work may still use the scratch memory
};

/// The same for a closed form, with shares of kRowsPerItem rows an item.
class RowShares {
  public:
    static constexpr std::uint64_t kRowsPerItem = 64;
    RowShares(Backend& backend, const KernelMatrixPlan& plan, const Call& call)
        : plan_(plan),
          scratch_(backend, kernels::sizes_of(plan, call.x.type)),
          rows_(backend, *scratch_, plan_, call.x, call.y, call.k, call.circuit->scale, call.options) {}
    ~RowShares() {
        if (!failed_) keep(scratch_);
    }
    OpReport make(const core::Share& share, const BatchOptions& batch) {
        const std::uint64_t first = share.first * kRowsPerItem;
        const std::uint64_t last = std::min(plan_.shape.samples, (share.first + share.count) * kRowsPerItem);
        failed_ = true;
        rows_.make({first, last}, batch);
        failed_ = false;
        OpReport report;
        report.items = kernels::pairs_to(plan_, last) - kernels::pairs_to(plan_, first);
        report.bytes_out = (last - first) * plan_.shape.columns() * plan_.value_bytes();
        return report;
    }

  private:
    const KernelMatrixPlan& plan_;
    kernels::KeptScratch scratch_;
    kernels::StreamedRows rows_;
    bool failed_ = false;
};

/// Blocks or rows below which a share is not worth its start: those of a few milliseconds.
std::uint64_t least_items(const KernelMatrixPlan& plan, std::uint64_t items, DeviceType type) {
    const double least_bytes = 64e6;
    const double least_flops = type == DeviceType::cpu ? 2e9 : 5e10;
    const double flops = kernels::gram_flops(plan) / static_cast<double>(items);
    const double bytes = static_cast<double>(plan.matrix_bytes()) / static_cast<double>(items);
    const double wanted =
        std::min(plan.method == KernelMatrixMethod::states ? least_flops / flops : least_bytes / bytes,
                 static_cast<double>(items));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted)));
}

OpReport run(Devices& devices, const Call& call) {
    const DevicePlans made = plan_together(devices, call);
    const KernelMatrixPlan& plan = made.first();
    const bool closed = plan.method == KernelMatrixMethod::product;
    std::vector<kernels::HostBlock> blocks;
    if (!closed) blocks = kernels::host_blocks(plan);
    const std::uint64_t items =
        closed ? (call.shape.samples + RowShares::kRowsPerItem - 1) / RowShares::kRowsPerItem : blocks.size();
    const auto shares_of = [&](auto shares) -> core::ShareWorker {
        return [shares, &call](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return shares->make(share, watch.options(call.batch));
        };
    };
    const auto worker = [&](std::size_t device) -> core::ShareWorker {
        if (!made.plans[device]) std::rethrow_exception(made.refused[device]);
        const KernelMatrixPlan& own = *made.plans[device];
        if (closed) return shares_of(std::make_shared<RowShares>(devices[device], own, call));
        return shares_of(std::make_shared<BlockShares>(devices[device], own, call, blocks));
    };
    const OpReport shared = core::run_shares(
        devices, {.function = "kernel_matrix",
                  .rates = std::string("kernel_matrix ") + to_string(plan.method) + " " +
                           std::to_string(call.shape.qubits),
                  .items = items,
                  .least_items = least_items(plan, items, core::first_backend(devices).device().type),
                  .single_job = true,
                  .refused = made.refused,
                  .progress_total = call.shape.pairs(),
                  .options = call.batch,
                  .worker = worker});
    OpReport report = kernels::kernel_report(call.shape, plan.method, call.x, call.y, call.k);
    report.wall_s = shared.wall_s;
    report.devices = shared.devices;
    return report;
}

OpReport of_features(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                     const ConstHostArray* y, const HostArray& k, const KernelMatrixShape& shape,
                     const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    kernels::check_host_features(x, y, k, shape, circuit.scale,
                                 core::first_backend(devices).plan().copy_threads);
    return run(devices, {&circuit, x, y, k, shape, options, host.batch, facts});
}

OpReport of_states(Devices& devices, const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_host_states(x, y, k, shape, core::first_backend(devices).plan().copy_threads);
    return run(devices, {nullptr, x, y, k, shape, options, host.batch, kernels::state_facts(x.type, true)});
}

}  // namespace

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return of_states(devices, states, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_states(devices, states, &others, k, shape, options);
}

}  // namespace weft
