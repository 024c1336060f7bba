// SPDX-License-Identifier: Apache-2.0
#include <weft/tune/bandwidth.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include <weft/batch.hpp>
#include <weft/buffer.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

#include "base/batch_call.hpp"
#include "vulkan/device/commands.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::tune {
namespace {

using core::QueueRole;
using core::seconds_since;
using core::Token;
using std::chrono::steady_clock;

constexpr std::uint32_t kTriadSpirv[] = {
#include "shaders/stream_triad.spv.inc"
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// One direction: a copy between a page-locked and a device buffer, recorded once.
class Lane {
  public:
    Lane(std::shared_ptr<core::Context> context, QueueRole role, std::uint64_t bytes)
        : context_(std::move(context)), role_(role), bytes_(bytes) {
        if (bytes != 0) make_buffers();
        pool_ = core::make_command_pool(context_->device, context_->device.queue(role).slot.family);
        core::allocate_commands(context_->device, pool_, commands_);
        for (std::uint64_t i = 0; i < kDepth; ++i) record(i);
    }
    ~Lane() {
        if (pool_ != VK_NULL_HANDLE)
            context_->device.vk.vkDestroyCommandPool(context_->device.handle(), pool_, nullptr);
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    std::uint64_t bytes() const { return bytes_; }
    /// Submits one more copy, after waiting until fewer than kDepth are under way.
    void step() {
        if (bytes_ == 0) return;
        Token& token = tokens_[next_];
        context_->timelines.wait(token);
        token = context_->timelines.submit(role_, commands_[next_]);
        next_ = (next_ + 1) % kDepth;
    }
    void drain() {
        for (const Token& token : tokens_) context_->timelines.wait(token);
    }

    VkCommandBuffer first() const { return commands_[0]; }

  private:
    static constexpr std::uint64_t kDepth = 4;

    void make_buffers() {
        host_ =
            core::BufferObject::create(context_, core::MemoryKind::download, bytes_ * kDepth, "ceiling host");
        device_ =
            core::BufferObject::create(context_, core::MemoryKind::device, bytes_ * kDepth, "ceiling device");
        std::fill_n(host_->mapped(), bytes_ * kDepth, std::byte{1});
    }

    void record(std::uint64_t i) {
        core::Device& device = context_->device;
        core::begin_commands(device, commands_[i]);
        const VkBufferCopy region{i * bytes_, i * bytes_, bytes_};
        const bool up = role_ == QueueRole::upload;
        if (bytes_ != 0)  // Vulkan has no empty copies
            device.vk.vkCmdCopyBuffer(commands_[i], (up ? host_ : device_)->handle(),
                                      (up ? device_ : host_)->handle(), 1, &region);
        core::end_commands(device, commands_[i]);
    }

    std::shared_ptr<core::Context> context_;
    QueueRole role_;
    std::uint64_t bytes_;
    std::shared_ptr<core::BufferObject> host_, device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::array<VkCommandBuffer, kDepth> commands_{};
    std::array<Token, kDepth> tokens_{};
    std::size_t next_ = 0;
};

constexpr int kWindows = 6;

/// GB/s of both lanes stepped together. The last copies are drained inside the window, so every byte counted
/// has moved.
double rate(Lane& a, Lane& b, double window_s, const std::function<void()>& after_window) {
    std::vector<double> rates;
    for (int window = 0; window < kWindows; ++window) {
        std::uint64_t bytes = 0;
        const auto start = steady_clock::now();
        do {
            for (int i = 0; i < 4; ++i) {
                a.step();
                b.step();
                bytes += a.bytes() + b.bytes();
            }
        } while (seconds_since(start) < window_s);
        a.drain();
        b.drain();
        if (window != 0)
            rates.push_back(static_cast<double>(bytes) / seconds_since(start) / 1e9);  // first: warm-up
        after_window();
    }
    return median(std::move(rates));
}

/// Seconds of submitting the same commands to the compute queue and waiting for them.
double median_wait(core::Context& context, int repeats, VkCommandBuffer commands) {
    constexpr int kWarmUp = 10;
    std::vector<double> times;
    for (int i = 0; i < std::max(repeats, 1) + kWarmUp; ++i) {
        const auto start = steady_clock::now();
        context.timelines.wait(context.timelines.submit(QueueRole::compute, commands));
        if (i >= kWarmUp) times.push_back(seconds_since(start));
    }
    return median(std::move(times));
}

const std::shared_ptr<core::Context>& context_of(Backend& backend, const char* function) {
    const auto& context = detail::Access::backend_state(backend)->context();
    context->device.require_usable(function);
    return context;
}

}  // namespace

CopyCeiling measure_copy_ceiling(Backend& backend, std::uint64_t bytes_in, std::uint64_t bytes_out,
                                 double window_s, const ProgressCallback& progress,
                                 const std::stop_token& cancel) {
    if (bytes_in == 0 && bytes_out == 0)
        throw Error(Errc::invalid_argument, "measure_copy_ceiling: nothing to copy (got 0 bytes each way)");
    if (!(window_s > 0 && window_s <= 60))
        throw Error(Errc::invalid_argument, "measure_copy_ceiling: window out of range (got " +
                                                std::to_string(window_s) +
                                                " s, need more than 0, at most 60)");
    const auto& context = context_of(backend, "measure_copy_ceiling");
    // Large enough for full speed on a bus, small enough for several to be under way.
    constexpr std::uint64_t kLargest = std::uint64_t{16} << 20;
    const double scale = static_cast<double>(kLargest) / static_cast<double>(std::max(bytes_in, bytes_out));
    const auto sized = [&](std::uint64_t bytes) {
        const auto scaled = static_cast<std::uint64_t>(static_cast<double>(bytes) * scale) / 64 * 64;
        return bytes == 0 ? 0 : std::max<std::uint64_t>(scaled, 64);
    };
    const BatchOptions watch{.progress = progress, .cancel = cancel};
    core::ProgressMeter meter("measure_copy_ceiling", watch,
                              kWindows * (1u + (bytes_in != 0 ? 1u : 0u) + (bytes_out != 0 ? 1u : 0u)));
    meter.check();
    std::uint64_t windows = 0;
    const std::function<void()> show = [&] { meter.show(++windows); };
    Lane none(context, QueueRole::upload, 0);
    const auto alone = [&](QueueRole role, std::uint64_t bytes) {
        if (bytes == 0) return 0.0;
        Lane lane(context, role, kLargest);
        return rate(lane, none, window_s, show);
    };
    CopyCeiling ceiling;
    ceiling.upload_gb_per_s = alone(QueueRole::upload, bytes_in);
    ceiling.download_gb_per_s = alone(QueueRole::download, bytes_out);
    Lane up(context, QueueRole::upload, sized(bytes_in));
    Lane down(context, QueueRole::download, sized(bytes_out));
    ceiling.concurrent_gb_per_s = rate(up, down, window_s, show);
    return ceiling;
}

struct MemoryCeiling::Impl {
    Impl(Backend& backend, std::uint64_t count)
        : vectors(count),
          triad(backend, kTriadSpirv,
                {.name = "stream_triad", .max_workgroups = backend.device().limits.max_workgroup_count[0]}),
          a(backend, count * 4),
          b(backend, count * 4),
          c(backend, count * 4),
          stream(backend) {
        stream.fill(a.view(), 1);
        stream.fill(b.view(), 2);
        stream.dispatch(triad, {a, b, c}, vectors);
        stream.wait();
        stream.dispatch(triad, {a, b, c}, vectors);
        const auto start = steady_clock::now();
        stream.wait();
        // Several passes in one submission if a pass is short, so that the time of the submission matters
        // little.
        passes = static_cast<int>(std::clamp(0.002 / seconds_since(start), 1.0, 8.0));
    }

    int passes = 1;
    std::uint64_t vectors;
    Program triad;
    Buffer<std::uint32_t> a, b, c;
    Stream stream;
};

MemoryCeiling::MemoryCeiling(Backend& backend, std::uint64_t bytes) {
    const std::uint64_t vectors = bytes / 48;  // 16 bytes in each of three arrays
    if (vectors == 0 || vectors > 0xffffffffu)
        throw Error(Errc::invalid_argument, "MemoryCeiling: size out of range (got " + std::to_string(bytes) +
                                                " bytes, need 48 to 206158430208)");
    impl_ = std::make_unique<Impl>(backend, vectors);
}
MemoryCeiling::MemoryCeiling(MemoryCeiling&&) noexcept = default;
MemoryCeiling& MemoryCeiling::operator=(MemoryCeiling&&) noexcept = default;
MemoryCeiling::~MemoryCeiling() = default;

double MemoryCeiling::gb_per_s() {
    if (!impl_) throw Error(Errc::invalid_argument, "MemoryCeiling: used after it was moved from");
    Impl& i = *impl_;
    for (int pass = 0; pass < i.passes; ++pass) i.stream.dispatch(i.triad, {i.a, i.b, i.c}, i.vectors);
    const auto start = steady_clock::now();
    i.stream.wait();
    return static_cast<double>(i.vectors) * 48 * i.passes / seconds_since(start) / 1e9;
}

double measure_submit_wait(Backend& backend, int repeats) {
    const auto& context = context_of(backend, "measure_submit_wait");
    Lane empty(context, QueueRole::compute, 0);
    return median_wait(*context, repeats, empty.first());
}

double measure_dispatch_wait(Backend& backend, int repeats) {
    const auto& context = context_of(backend, "measure_dispatch_wait");
    // A sequential batch of one element leaves its commands in a slot. The same commands are submitted again.
    const Program triad(backend, kTriadSpirv, {.name = "stream_triad"});
    std::array<std::uint32_t, 4> a{1, 1, 1, 1}, b{2, 2, 2, 2}, c{};
    const Job job{.inputs = {a, b}, .outputs = {c}, .elements = 1};
    run_batch(backend, triad, {&job, 1}, {.mode = BatchMode::sequential, .stage_times = Choice::off});
    core::IdleRings& rings = detail::Access::backend_state(backend)->rings();
    auto ring = rings.acquire(context, 1);
    const core::Recording& recorded = *ring->slots[0]->active;
    const double seconds =
        median_wait(*context, repeats, recorded.commands[static_cast<std::size_t>(QueueRole::compute)]);
    rings.give_back(std::move(ring));
    return seconds;
}

}  // namespace weft::tune
