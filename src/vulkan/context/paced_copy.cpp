// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/paced_copy.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <string>

#include "vulkan/context/command_list.hpp"

namespace weft::core {
namespace {

using std::chrono::steady_clock;

constexpr std::uint32_t kPacedCopySpirv[] = {
#include "shaders/paced_copy.spv.inc"
};

/// Copies in one direction, over and over, kDepth under way.
class Lane {
  public:
    /// By the copy engine, or with `shader` by that many workgroups of it.
    Lane(const std::shared_ptr<Context>& context, QueueRole role, const BufferRange& from,
         const BufferRange& to, const Pipeline* shader = nullptr, std::uint32_t bundles = 0)
        : context_(*context), role_(role), bytes_(from.bytes / kDepth) {
        for (std::uint64_t i = 0; i < kDepth; ++i) {
            lists_[i] = std::make_unique<CommandList>(context, role);
            lists_[i]->set_name("calibration of copies");
            lists_[i]->begin(true);
            const BufferRange part_from{from.buffer, from.offset + i * bytes_, bytes_},
                part_to{to.buffer, to.offset + i * bytes_, bytes_};
            if (shader == nullptr)
                lists_[i]->copy(part_from, part_to);
            else
                dispatch(*lists_[i], *shader, part_from, part_to, bundles);
            lists_[i]->end();
        }
    }
    ~Lane() {
        for (const Token& token : tokens_) context_.timelines.drain(token);
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    /// Submits what there is room for; bytes seen to be over since the last call.
    std::uint64_t turn() {
        std::uint64_t over = 0;
        while (context_.timelines.passed(tokens_[next_])) {
            if (tokens_[next_].value != 0) over += bytes_;
            tokens_[next_] = context_.timelines.submit(role_, lists_[next_]->handle());
            next_ = (next_ + 1) % kDepth;
            if (over >= kDepth * bytes_) break;  // a device as fast as the host must not keep it here
        }
        return over;
    }
    void drain() {
        for (Token& token : tokens_) {
            context_.timelines.wait(token);
            token = {};
        }
    }

  private:
    static constexpr std::uint64_t kDepth = 4;
    static void dispatch(CommandList& list, const Pipeline& shader, const BufferRange& from,
                         const BufferRange& to, std::uint32_t bundles) {
        const std::array<BoundArgument, 2> arguments{{{from, 0, Access::read}, {to, 1, Access::write}}};
        const auto units = static_cast<std::uint32_t>(from.bytes / PacedCopy::kUnit);
        std::array<std::byte, 4> push{};
        std::memcpy(push.data(), &units, sizeof units);
        list.dispatch({.pipeline = &shader,
                       .program = "paced_copy",
                       .arguments = arguments,
                       .bundles = {bundles, 1, 1},
                       .push = push});
    }

    Context& context_;
    QueueRole role_;
    std::uint64_t bytes_;
    std::array<std::unique_ptr<CommandList>, kDepth> lists_;
    std::array<Token, kDepth> tokens_{};
    std::size_t next_ = 0;
};

/// Bytes a second of lanes that run at once; a null one rests.
DuplexTrial measure(Lane* up, Lane* down) {
    constexpr auto kWarmUp = std::chrono::milliseconds(1), kWindow = std::chrono::milliseconds(5);
    const auto run = [&](auto length) {
        DuplexTrial bytes;
        const auto begin = steady_clock::now();
        do {
            if (up != nullptr) bytes.up += static_cast<double>(up->turn());
            if (down != nullptr) bytes.down += static_cast<double>(down->turn());
        } while (steady_clock::now() - begin < length);
        const double seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
        return DuplexTrial{0, bytes.up / seconds, bytes.down / seconds};
    };
    run(kWarmUp);
    const DuplexTrial rates = run(kWindow);
    if (up != nullptr) up->drain();
    if (down != nullptr) down->drain();
    return rates;
}

DuplexCalibration measure_all(const std::shared_ptr<Context>& context, const Pipeline& shader) {
    constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;
    constexpr std::uint32_t kFewest = 2, kMost = 8;
    const auto range = [&](MemoryKind kind) {
        return BufferRange{BufferObject::create(context, kind, kBytes, "calibration of copies"), 0, kBytes};
    };
    const BufferRange host_in = range(MemoryKind::upload), host_out = range(MemoryKind::download),
                      device_in = range(MemoryKind::device), device_out = range(MemoryKind::device);
    std::memset(host_in.buffer->mapped(), 1, kBytes);
    std::memset(host_out.buffer->mapped(), 1, kBytes);
    host_in.buffer->flush(0, kBytes);
    host_out.buffer->flush(0, kBytes);
    DuplexCalibration rates;
    Lane up(context, QueueRole::upload, host_in, device_in);
    {
        Lane down(context, QueueRole::download, device_out, host_out);
        rates.up_alone = measure(&up, nullptr).up;
        rates.down_alone = measure(nullptr, &down).down;
        rates.engine = measure(&up, &down);
    }
    for (std::uint32_t bundles = kFewest; bundles <= kMost && try_more(rates.shader); ++bundles) {
        Lane down(context, QueueRole::compute, device_out, host_out, &shader, bundles);
        rates.shader.push_back(measure(&up, &down));
        rates.shader.back().bundles = bundles;
    }
    return rates;
}

std::string text_of(const DuplexCalibration& rates) {
    const auto gb = [](double rate) {
        const std::string text = std::to_string(rate / 1e9);
        return text.substr(0, text.find('.') + 2);
    };
    std::string text = "downloads beside uploads, GB/s up and down: copy engine " + gb(rates.engine.up) +
                       " " + gb(rates.engine.down);
    for (const DuplexTrial& trial : rates.shader)
        text += "; " + std::to_string(trial.bundles) + " workgroups " + gb(trial.up) + " " + gb(trial.down);
    return text + "; alone " + gb(rates.up_alone) + " " + gb(rates.down_alone);
}

}  // namespace

const Pipeline& PacedCopy::pipeline(PipelineCache& pipelines) {
    const std::lock_guard lock(mutex_);
    if (pipeline_ == nullptr) pipeline_ = &pipelines.get(kPacedCopySpirv, {.name = "paced_copy"});
    return *pipeline_;
}

const DuplexCalibration& PacedCopy::calibration(const std::shared_ptr<Context>& context) {
    if (calibrated_) return calibration_;
    const std::lock_guard lock(calibrating_);
    if (calibrated_) return calibration_;
    try {
        calibration_ = measure_all(context, pipeline(context->pipelines));
        context->device.log().write(LogLevel::info, text_of(calibration_));
    } catch (const Error& e) {
        if (e.code() == Errc::device_lost) throw;
        context->device.log().write(LogLevel::info,
                                    std::string("downloads by the copy engine: no calibration, ") + e.what());
    }
    calibrated_ = true;
    return calibration_;
}

}  // namespace weft::core
