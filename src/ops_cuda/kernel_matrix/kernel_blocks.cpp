// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_blocks.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/slot_ring.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_matrix/block_copies.hpp"
#include "ops_cuda/kernel_matrix/kernel_packed.hpp"

namespace weft::cuda {
namespace {

using kernels::KernelBlock;
using kernels::KernelMatrixPlan;
using kernels::PackedSide;
using kernels::StateRows;

constexpr const char* kFunction = "kernel_matrix";

/// Called with the pairs of each block that is in place.
using PairsDone = std::function<void(std::uint64_t pairs)>;

/// Writes blocks of K into the caller's memory. Three are on their way: one is made, one is copied to
/// page-locked memory, and one is copied from there by the host. Page-locked K is copied in place.
class BlockWriter {
  public:
    BlockWriter(StreamHandle stream, const KernelMatrixPlan& plan, const HostArray& k)
        : stream_(stream),
          plan_(plan),
          target_(static_cast<std::byte*>(k.data)),
          in_place_(is_page_locked(k.data)),
          lease_(kFunction, kernels::kBlocksUnderWay),
          copies_(plan, k, in_place_ ? 1 : copy_threads()),
          blocks_(kernels::kBlocksUnderWay) {
        check(cudaEventCreateWithFlags(&made_, cudaEventDisableTiming), kFunction,
              "cudaEventCreateWithFlags");
    }
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;
    ~BlockWriter() {
        static_cast<void>(cudaStreamSynchronize(stream_));  // it writes to the slots
        static_cast<void>(cudaEventDestroy(made_));
    }

    void write(const PackedTiles& tiles, const kernels::HostBlock& host, const PairsDone& done) {
        RingSlot& slot = lease_.slots()[next_];
        finish(next_, done);
        blocks_[next_] = host.block;
        next_ = (next_ + 1) % blocks_.size();
        const KernelBlock& block = host.block;
        const std::uint64_t step = plan_.states.block, bytes = kernels::block_bytes(plan_);
        slot.device.reserve(kFunction, bytes, true);
        if (!in_place_) slot.staging.reserve(kFunction, bytes, false);
        tiles.multiply(block, host.own,
                       {slot.device.data, {step, 0, kernels::off_diagonal(plan_.shape, block), step * step}});
        each_image(block, [&](std::uint64_t first, const KernelBlock& image) {
            tiles.scale(slot.device.data + first, image, step);
        });
        check(cudaEventRecord(made_, stream_), kFunction, "cudaEventRecord");
        slot.busy = true;
        check(cudaStreamWaitEvent(slot.stream, made_, 0), kFunction, "cudaStreamWaitEvent");
        each_image(block, [&](std::uint64_t first, const KernelBlock& image) {
            check(copy_back(slot, first, image), kFunction, "cudaMemcpyAsync");
        });
    }

    void finish_all(const PairsDone& done) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) finish((next_ + i) % blocks_.size(), done);
    }

  private:
    /// Calls use(byte of the slot, block) for the block, and for its mirror image if it has one.
    template <class Use>
    void each_image(const KernelBlock& b, const Use& use) const {
        use(0, b);
        if (kernels::off_diagonal(plan_.shape, b))
            use(plan_.states.block * plan_.states.block * plan_.value_bytes(),
                KernelBlock{b.column, b.columns, b.row, b.rows});
    }

    cudaError_t copy_back(const RingSlot& slot, std::uint64_t first, const KernelBlock& block) const {
        const std::uint64_t unit = plan_.value_bytes(), row = plan_.states.block * unit;
        const std::byte* const from = slot.device.data + first;
        if (!in_place_)
            return cudaMemcpyAsync(slot.staging.data + first, from, block.rows * row, cudaMemcpyDeviceToHost,
                                   slot.stream);
        const std::uint64_t columns = plan_.shape.columns();
        return cudaMemcpy2DAsync(target_ + (block.row * columns + block.column) * unit, columns * unit, from,
                                 row, block.columns * unit, block.rows, cudaMemcpyDeviceToHost, slot.stream);
    }

    void finish(std::size_t index, const PairsDone& done) {
        RingSlot& slot = lease_.slots()[index];
        if (!slot.busy) return;
        check(cudaStreamSynchronize(slot.stream), kFunction, "cudaStreamSynchronize");
        slot.busy = false;
        if (!in_place_)
            each_image(blocks_[index], [&](std::uint64_t first, const KernelBlock& image) {
                copies_.copy(image, slot.staging.data + first);
            });
        done(kernels::pairs_of(plan_.shape, blocks_[index]));
    }

    StreamHandle stream_;
    const KernelMatrixPlan& plan_;
    std::byte* const target_;
    const bool in_place_;
    RingLease lease_;
    kernels::BlockCopies copies_;
    std::vector<KernelBlock> blocks_;  // of each slot
    std::size_t next_ = 0;
    cudaEvent_t made_ = nullptr;
};

}  // namespace

void launch_blocks(StreamHandle stream, const KernelMatrixPlan& plan, StateSource& source,
                   const DeviceArray& k, const KernelMatrixOptions& options) {
    PackedTiles tiles(stream, plan, source, options);
    auto* const values = static_cast<std::byte*>(k.data);
    const std::uint64_t leading = plan.shape.columns();
    kernels::each_tile_pair(
        plan.shape, plan.states.tile,
        [&](PackedSide side, const StateRows& rows) { tiles.fill(side, rows, rows.row + rows.count); },
        [&](const KernelBlock& b, bool own) {
            tiles.multiply(b, own,
                           {values,
                            {leading, b.row * leading + b.column, kernels::off_diagonal(plan.shape, b),
                             b.column * leading + b.row}});
        });
    tiles.scale(values, {0, plan.shape.samples, 0, leading}, leading);
}

struct StreamedBlocks::Impl {
    PackedTiles tiles;
    BlockWriter writer;
};

StreamedBlocks::StreamedBlocks(StreamHandle stream, const KernelMatrixPlan& plan, StateSource& source,
                               const HostArray& k, const KernelMatrixOptions& options)
    : impl_(new Impl{{stream, plan, source, options}, {stream, plan, k}}) {}
StreamedBlocks::~StreamedBlocks() = default;

std::uint64_t StreamedBlocks::make(std::span<const kernels::HostBlock> blocks, const BatchOptions& batch,
                                   std::uint64_t all_pairs) {
    core::ProgressMeter meter(kFunction, batch, all_pairs);
    meter.check();
    std::uint64_t made = 0;
    const PairsDone done = [&](std::uint64_t pairs) { meter.show(made += pairs); };
    for (const kernels::HostBlock& block : blocks) {
        impl_->tiles.fill(block);
        impl_->writer.write(impl_->tiles, block, done);
    }
    impl_->writer.finish_all(done);
    return meter.parts();
}

}  // namespace weft::cuda
