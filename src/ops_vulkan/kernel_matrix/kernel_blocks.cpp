// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/batch_call.hpp"
#include "ops/kernel_matrix/block_copies.hpp"
#include "ops_vulkan/kernel_matrix/kernel_packed.hpp"

namespace weft::kernels {
namespace {

/// Records a block of K.
void multiply_block(Stream& stream, PackedTiles& tiles, const KernelMatrixShape& shape, const PackedTile& x,
                    const PackedTile& y, const KernelBlock& block, const GramTarget& target) {
    if (target.place.mirror || !shape.square())
        tiles.product().multiply(stream, x.rows(block.row, block.rows), y.rows(block.column, block.columns),
                                 target);
    else
        tiles.product().square(stream, x.rows(block.row, block.rows), target);
}

/// A block of K, and its mirror image if it has one, on their way to host memory.
struct Slot {
    Words made;
    HostBuffer<std::uint32_t>& host;
    Event done{};
    KernelBlock block{};
    bool mirrored = false, busy = false;
};

/// Called with the pairs of each block that is in place.
using PairsDone = std::function<void(std::uint64_t pairs)>;

/// Writes blocks of K into the caller's memory. Three are on their way: one is made, one is copied to
/// page-locked memory, and one is copied from there by the host.
class BlockWriter {
  public:
    BlockWriter(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan, const HostArray& k,
                BlockSink sink)
        : stream_(scratch.stream),
          // A small K is not worth a submission of its own.
          copier_(one_block(plan) && block_bytes(plan) <= kSmallBytes ? scratch.stream : scratch.copier),
          memory_(scratch.memory),
          plan_(plan),
          sink_(std::move(sink)),
          copies_(plan, k, backend.plan().copy_threads, core::node_cpus(backend)),
          backend_(backend) {}

    void write(PackedTiles& tiles, const PackedTile& x, const PackedTile& y, const KernelBlock& block,
               const PairsDone& done) {
        Slot& slot = take_slot(done);
        slot.block = block;
        const std::uint64_t step = plan_.states.block;
        slot.mirrored = off_diagonal(plan_.shape, block);
        multiply_block(stream_, tiles, plan_.shape, x, y, block,
                       {slot.made, {step, 0, slot.mirrored, step * step}});
        if (Normalizer* normalizer = tiles.scaler()) {
            normalizer->scale(stream_, slot.made, 0, step, block);
            if (slot.mirrored)
                normalizer->scale(stream_, slot.made, step * step, step,
                                  {block.column, block.columns, block.row, block.rows});
        }
        if (&copier_ != &stream_) copier_.wait_for(stream_.submit());
        copy_back(slot);
        slot.done = copier_.submit();
        slot.busy = true;
    }

    void finish_all(const PairsDone& done) {
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (std::optional<Slot>& slot = slots_[(next_ + i) % slots_.size()]) finish(*slot, done);
    }

  private:
    /// The next slot. It is made when it is first needed, while the device works on what is recorded so far,
    /// because page-locked memory takes long to make.
    Slot& take_slot(const PairsDone& done) {
        std::optional<Slot>& slot = slots_[next_];
        next_ = (next_ + 1) % slots_.size();
        if (slot) {
            finish(*slot, done);
            return *slot;
        }
        if (&copier_ != &stream_) stream_.submit();
        const std::uint64_t words = block_bytes(plan_) / 4;
        slot.emplace(Slot{.made = memory_.words(words, "kernel block"),
                          .host = memory_.host_words(backend_, words, "kernel block")});
        return *slot;
    }

    void copy_back(Slot& slot) {
        const std::uint64_t words = plan_.states.block * plan_.value_bytes() / 4;  // of a row of the block
        const auto copy = [&](std::uint64_t first, std::uint64_t rows) {
            copier_.copy<std::uint32_t>(part_of(slot.made, first, rows * words),
                                        slot.host.view(first, rows * words));
        };
        copy(0, slot.block.rows);
        if (slot.mirrored) copy(plan_.states.block * words, slot.block.columns);
    }

    void finish(Slot& slot, const PairsDone& done) {
        if (!slot.busy) return;
        slot.done.wait();
        slot.busy = false;
        const KernelBlock& b = slot.block;
        scatter(slot, 0, b);
        if (slot.mirrored)
            scatter(slot, plan_.states.block * plan_.states.block, {b.column, b.columns, b.row, b.rows});
        done(pairs_of(plan_.shape, b));
    }

    void scatter(const Slot& slot, std::uint64_t origin, const KernelBlock& block) {
        const auto* from =
            reinterpret_cast<const std::byte*>(slot.host.data()) + origin * plan_.value_bytes();
        if (sink_)
            sink_(block, from, plan_.states.block);
        else
            copies_.copy(block, from);
    }

    static constexpr std::uint64_t kSmallBytes = std::uint64_t{1} << 20;

    Stream& stream_;
    Stream& copier_;
    KernelMemory& memory_;
    const KernelMatrixPlan& plan_;
    BlockSink sink_;
    BlockCopies copies_;
    Backend& backend_;
    std::array<std::optional<Slot>, kBlocksUnderWay> slots_;
    std::size_t next_ = 0;
};

}  // namespace

void blocks_resident(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                     const DeviceArray& k, const KernelMatrixOptions& options) {
    PackedTiles tiles(stream, memory, plan, source, options);
    const std::uint64_t leading = plan.shape.columns(), words = k.type().bytes() / 4;
    const GramRange range = detail::Access::make<BufferView<std::uint32_t>>(
        detail::Access::object(k), k.first() * words, k.size() * words);
    tiles.each([&](const PackedTile& x, const PackedTile& y, const KernelBlock& b) {
        multiply_block(
            stream, tiles, plan.shape, x, y, b,
            {range,
             {leading, b.row * leading + b.column, off_diagonal(plan.shape, b), b.column * leading + b.row}});
    });
    if (Normalizer* normalizer = tiles.scaler())
        normalizer->scale(stream, range, 0, leading, {0, plan.shape.samples, 0, leading});
}

struct StreamedBlocks::Impl {
    PackedTiles tiles;
    BlockWriter writer;

    void write(std::span<const HostBlock> blocks, const PairsDone& done) {
        for (const HostBlock& block : blocks)
            tiles.with(block, [&](const PackedTile& x, const PackedTile& y) {
                writer.write(tiles, x, y, block.block, done);
            });
    }
};

StreamedBlocks::StreamedBlocks(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan,
                               StateSource& source, const HostArray& k, const KernelMatrixOptions& options,
                               const BlockSink& sink)
    : impl_(new Impl{{scratch.stream, scratch.memory, plan, source, options},
                     {backend, scratch, plan, k, sink}}) {}
StreamedBlocks::~StreamedBlocks() = default;

std::uint64_t StreamedBlocks::make(std::span<const HostBlock> blocks, const BatchOptions& batch,
                                   std::uint64_t all_pairs, const InPlace& in_place) {
    core::ProgressMeter meter("kernel_matrix", batch, all_pairs);
    meter.check();
    std::uint64_t made = 0, finished = 0;
    // Blocks come in the order in which they were written.
    const PairsDone done = [&](std::uint64_t pairs) {
        if (in_place) in_place(finished++);
        meter.show(made += pairs);
    };
    impl_->write(blocks, done);
    impl_->writer.finish_all(done);
    return meter.parts();
}

void StreamedBlocks::begin(std::span<const HostBlock> blocks, const BatchOptions& batch) {
    core::ProgressMeter("kernel_matrix", batch, 0).check();
    impl_->write(blocks, [](std::uint64_t) {});
}

void StreamedBlocks::finish() {
    impl_->writer.finish_all([](std::uint64_t) {});
}

}  // namespace weft::kernels
