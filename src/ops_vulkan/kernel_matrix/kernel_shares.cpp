// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <span>

#include <weft/version.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

namespace weft::kernels {
namespace {

/// For the next call. A destructor must not throw.
void keep(KeptScratch& scratch) noexcept {
    try {
        scratch.keep();
    } catch (const std::bad_alloc&) {
        // The next call makes its own.
    }
}

/// `in_place` of items that begin at `first`.
InPlace counted_from(std::uint64_t first, const InPlace& in_place) {
    if (!in_place) return {};
    return [first, &in_place](std::uint64_t index) { in_place(first + index); };
}

class BlockShares final : public MatrixShares {
  public:
    BlockShares(Backend& backend, const KernelMatrixPlan& plan, const HostMatrixCall& call,
                const MatrixItems& items)
        : plan_(plan), items_(items), scratch_(backend, sizes_of(plan, call.x.type)) {
        if (call.circuit != nullptr)
            source_ = std::make_unique<CircuitStates>(
                scratch_->stream, scratch_->memory, plan_, *call.circuit,
                angle_planes(scratch_->stream, scratch_->memory, plan_, call.x, call.y, call.circuit->scale));
        else
            source_ = std::make_unique<HostStates>(scratch_->memory, plan_, call.x, call.y);
        streamed_ = std::make_unique<StreamedBlocks>(backend, *scratch_, plan_, *source_, call.k,
                                                     call.options, call.sink);
    }
    ~BlockShares() override {
        streamed_.reset();
        source_.reset();
        if (!failed_) keep(scratch_);
    }
    OpReport make(const core::Share& share, const BatchOptions& batch, std::uint64_t all_pairs,
                  const InPlace& in_place) override {
        const std::span<const HostBlock> blocks(&items_.blocks[share.first], share.count);
        OpReport report = items_.report(plan_, share.first, share.count);
        failed_ = true;
        report.chunks = streamed_->make(blocks, batch, all_pairs, counted_from(share.first, in_place));
        failed_ = false;
        return report;
    }
    void begin(const core::Share& share, const BatchOptions& batch) override {
        failed_ = true;
        streamed_->begin({&items_.blocks[share.first], share.count}, batch);
    }
    void finish() override {
        streamed_->finish();
        failed_ = false;
    }

  private:
    const KernelMatrixPlan& plan_;
    const MatrixItems& items_;
    KeptScratch scratch_;
    std::unique_ptr<StateSource> source_;
    std::unique_ptr<StreamedBlocks> streamed_;
    bool failed_ = false;  // so that work may still use the scratch memory
};

class RowShares final : public MatrixShares {
  public:
    RowShares(Backend& backend, const KernelMatrixPlan& plan, const HostMatrixCall& call,
              const MatrixItems& items)
        : plan_(plan),
          call_(call),
          items_(items),
          buffer_(bytes_for_sink()),
          k_(call.sink ? HostArray(buffer_.data(), buffer_.size() / call.k.type.bytes(), call.k.type)
                       : call.k),
          scratch_(backend, sizes_of(plan, call.x.type)),
          rows_(backend, *scratch_, plan_, call.x, call.y, k_, call.circuit->scale, call.options) {}
    ~RowShares() override {
        if (!failed_) keep(scratch_);
    }
    OpReport make(const core::Share& share, const BatchOptions& batch, std::uint64_t all_pairs,
                  const InPlace& in_place) override {
        const std::span<const RowRange> ranges(&items_.rows[share.first], share.count);
        OpReport report = items_.report(plan_, share.first, share.count);
        failed_ = true;
        if (call_.sink) {
            report.chunks = make_for_sink(ranges, batch, all_pairs);
        } else if (in_place) {
            report.chunks = rows_.make(ranges, batch, all_pairs, counted_from(share.first, in_place));
        } else {  // items of a share follow each other, so that jobs may span several
            const RowRange all{ranges.front().first, ranges.back().last};
            report.chunks = rows_.make({&all, 1}, batch, all_pairs);
        }
        failed_ = false;
        return report;
    }
    void begin(const core::Share& share, const BatchOptions& batch) override {
        make(share, batch, ~std::uint64_t{0}, {});
    }
    void finish() override {}

  private:
    std::size_t bytes_for_sink() const {
        if (!call_.sink) return 0;
        std::uint64_t rows = 0;
        for (const RowRange& range : items_.rows) rows = std::max(rows, range.last - range.first);
        return rows * plan_.shape.columns() * plan_.value_bytes();
    }
    std::uint64_t make_for_sink(std::span<const RowRange> ranges, const BatchOptions& batch,
                                std::uint64_t all_pairs) {
        std::uint64_t chunks = 0;
        for (const RowRange& range : ranges) {
            rows_.begin_at(range.first);
            chunks += rows_.make({&range, 1}, batch, all_pairs);
            call_.sink({range.first, range.last - range.first, 0, plan_.shape.columns()}, buffer_.data(),
                       plan_.shape.columns());
        }
        return chunks;
    }

    const KernelMatrixPlan& plan_;
    const HostMatrixCall& call_;
    const MatrixItems& items_;
    std::vector<std::byte> buffer_;  // of a range, for the sink
    const HostArray k_;
    KeptScratch scratch_;
    StreamedRows rows_;
    bool failed_ = false;
};

}  // namespace

std::unique_ptr<MatrixShares> make_shares(Backend& backend, const KernelMatrixPlan& plan,
                                          const HostMatrixCall& call, const MatrixItems& items) {
    if (plan.method == KernelMatrixMethod::product)
        return std::make_unique<RowShares>(backend, plan, call, items);
    return std::make_unique<BlockShares>(backend, plan, call, items);
}

KernelMatrixPlan plan_on(Backend& backend, const HostMatrixCall& call, const KernelMatrixOptions& options) {
    const bool states = call.facts.given || effective_layers(call.facts) != 0;
    KernelMatrixDevice device = kernel_device(backend, states, options, few_rows(call.shape, call.facts));
    KernelMatrixPlan plan = plan_that_fits(device, call.shape, call.facts, call.k.type, options);
    if (tune_before(backend, device.gram, plan, options, call.batch))
        take_measured_tile(plan, device, true, options);
    return plan;
}

DevicePlans plan_together(Backend& backend, const HostMatrixCall& call) {
    DevicePlans plans;
    plans.plans.emplace_back(plan_on(backend, call, call.options));
    return plans;
}

OpReport share_items(Backend& backend, const HostMatrixCall& call, const DevicePlans& plans,
                     const MatrixItems& items, const InPlace& in_place) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelMatrixPlan& plan = plans.first();
    const OpReport made = make_shares(backend, plan, call, items)
                              ->make({0, items.count()}, call.batch, items.pairs(plan), in_place);
    OpReport report = report_of(call, plan);
    report.chunks = made.chunks;
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

StoreFacts device_facts(const DeviceInfo& device) {
    return {{"device", device.name + ", " + device.driver}, {"weft", WEFT_VERSION_STRING}};
}

std::string pin_plan(Backend& backend, const HostMatrixCall& call, KernelMatrixPlan& plan,
                     const StorePin& pin) {
    const bool states = plan.method == KernelMatrixMethod::states;
    return apply_pin(plan, pin, kernel_device(backend, states, call.options).gram);
}

}  // namespace weft::kernels
