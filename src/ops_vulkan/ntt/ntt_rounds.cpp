// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/ntt/ntt_rounds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <weft/error.hpp>

#include "base/batch_call.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kRoundBytes = std::uint64_t{32} << 20;

/// Streams and buffers of one call, kept for the next one of the same sizes.
struct RoundScratch {
    struct Set {
        Buffer<std::uint32_t> in, out;
        Event made{};
        std::uint64_t first = 0, count = 0;
    };
    Stream upload, compute, download;
    std::vector<Set> sets;
    std::vector<std::byte> packed;  // columns between the host's matrix and a buffer

    RoundScratch(Backend& backend, std::uint64_t in_words, std::uint64_t out_words, std::size_t count)
        : upload(backend, {.name = "ntt upload", .queue = StreamQueue::upload}),
          compute(backend, {.name = "ntt"}),
          download(backend, {.name = "ntt download", .queue = StreamQueue::download}) {
        for (std::size_t i = 0; i < count; ++i)
            sets.push_back({Buffer<std::uint32_t>(backend, in_words, "ntt in"),
                            Buffer<std::uint32_t>(backend, out_words, "ntt out")});
    }
};

class Rounds {
  public:
    Rounds(Backend& backend, const NttHostBatch& batch, const NttRecord& record, core::ProgressMeter& meter)
        : backend_(backend), batch_(batch), record_(record), meter_(meter) {}

    /// Transforms from `next` on, `each` at a time. `next` is moved when transforms are in place.
    void run(std::uint64_t& next, std::uint64_t end, std::uint64_t each, std::size_t sets) {
        const std::uint64_t in_words = each * batch_.in_elements * batch_.element_bytes / 4,
                            out_words = each * batch_.out_elements * batch_.element_bytes / 4;
        constexpr std::uint64_t kRounds = 0x6e747472;  // no key of another family begins with it
        const core::ScratchCache::Key key{kRounds, in_words, out_words, sets};
        auto held = std::static_pointer_cast<RoundScratch>(core::scratch_cache(backend_).take(key));
        if (!held) held = std::make_shared<RoundScratch>(backend_, in_words, out_words, sets);
        const std::uint64_t begin = next;
        std::size_t current = 0;
        start(*held, held->sets[0], next, std::min(each, end - next));
        for (std::uint64_t first = next + held->sets[0].count; first < end; first += each) {
            const std::size_t other = (current + 1) % sets;
            if (sets == 1) finish(*held, held->sets[current], begin, next);
            start(*held, held->sets[other], first, std::min(each, end - first));
            if (sets != 1) finish(*held, held->sets[current], begin, next);
            current = other;
        }
        finish(*held, held->sets[current], begin, next);
        if (core::memory_limit(backend_) == 0)
            core::scratch_cache(backend_).give(key, std::move(held), sets * (in_words + out_words) * 4);
    }

  private:
    void start(RoundScratch& s, RoundScratch::Set& set, std::uint64_t first, std::uint64_t count) {
        set.first = first;
        set.count = count;
        const std::uint64_t bytes = count * batch_.in_elements * batch_.element_bytes;
        const std::byte* source = batch_.in + first * batch_.in_elements * batch_.element_bytes;
        if (batch_.layout == NttLayout::columns) {
            const std::uint64_t row = count * batch_.element_bytes,
                                pitch = batch_.pitch * batch_.element_bytes;
            s.packed.resize(bytes);
            for (std::uint64_t i = 0; i < batch_.in_elements; ++i)
                std::memcpy(s.packed.data() + i * row, batch_.in + i * pitch + first * batch_.element_bytes,
                            row);
            source = s.packed.data();
        }
        const Words in = set.in.view(0, bytes / 4);
        s.upload.upload(std::span(reinterpret_cast<const std::uint32_t*>(source), bytes / 4), in);
        s.compute.wait_for(s.upload.submit());
        record_(s.compute, count, in,
                set.out.view(0, count * batch_.out_elements * batch_.element_bytes / 4));
        set.made = s.compute.submit();
    }

    void finish(RoundScratch& s, RoundScratch::Set& set, std::uint64_t begin, std::uint64_t& next) {
        const std::uint64_t bytes = set.count * batch_.out_elements * batch_.element_bytes;
        const bool columns = batch_.layout == NttLayout::columns;
        std::byte* target = batch_.out + set.first * batch_.out_elements * batch_.element_bytes;
        if (columns) {
            s.packed.resize(bytes);
            target = s.packed.data();
        }
        s.download.wait_for(set.made);
        s.download.download<std::uint32_t>(set.out.view(0, bytes / 4),
                                           std::span(reinterpret_cast<std::uint32_t*>(target), bytes / 4));
        if (columns) {
            const std::uint64_t row = set.count * batch_.element_bytes,
                                pitch = batch_.pitch * batch_.element_bytes;
            for (std::uint64_t i = 0; i < batch_.out_elements; ++i)
                std::memcpy(batch_.out + i * pitch + set.first * batch_.element_bytes, target + i * row, row);
        }
        next = set.first + set.count;
        done_ += next - std::max(begin, set.first);
        meter_.show(done_);
    }

    Backend& backend_;
    const NttHostBatch& batch_;
    const NttRecord& record_;
    core::ProgressMeter& meter_;
    std::uint64_t done_ = 0;
};

}  // namespace

BatchReport run_ntt_rounds(Backend& backend, const char* function, const NttHostBatch& batch,
                           std::uint64_t first, std::uint64_t count, const BatchOptions& options,
                           const NttRecord& record) {
    core::ProgressMeter meter(function, options, count);
    meter.check();
    BatchReport report;
    report.jobs = 1;
    report.elements = count;
    report.bytes_in = count * batch.in_elements * batch.element_bytes;
    report.bytes_out = count * batch.out_elements * batch.element_bytes;
    report.path = Path::staged;
    std::uint64_t each = core::wanted_chunk_items(backend.plan(), options);
    if (each == 0) each = std::max<std::uint64_t>(kRoundBytes / batch.transform_bytes(), 1);
    each = std::min(each, count);
    const std::size_t sets = options.mode == BatchMode::pipelined && each < count ? 2 : 1;
    report.chunk_elements = each;
    Rounds rounds(backend, batch, record, meter);
    for (std::uint64_t next = first; next < first + count;) {
        try {
            rounds.run(next, first + count, each, sets);
        } catch (const Error& e) {
            // Other work may have taken the memory, or the driver grants less. The next rounds are smaller.
            if (e.code() != Errc::out_of_memory || meter.in_callback() || each == 1) throw;
            each = (each + 1) / 2;
            backend.trim();
        }
    }
    report.chunks = meter.parts();
    report.wall_s = meter.elapsed_s();
    return report;
}

}  // namespace weft::kernels
