// SPDX-License-Identifier: Apache-2.0
#include "base/batch_call.hpp"

#include <string>

#include <weft/error.hpp>

#include "base/startup.hpp"

namespace weft::core {

void require_members(const char* function, const BatchOptions& options, const BatchMembers& honoured) {
    const BatchOptions usual;
    const auto require = [&](bool fine, const char* member, const std::string& got, const char* need) {
        if (!fine)
            throw Error(Errc::invalid_argument, std::string(function) + ": BatchOptions::" + member +
                                                    " does not apply (got " + got + ", need " + need + ")");
    };
    require(honoured.mode || options.mode == usual.mode, "mode", "sequential", "pipelined");
    require(honoured.path || options.path == usual.path, "path", to_string(options.path), "automatic");
    require(options.queues == usual.queues, "queues", to_string(options.queues), "automatic");
    require(honoured.chunk_elements || options.chunk_elements == 0, "chunk_elements",
            std::to_string(options.chunk_elements), "0");
    require(honoured.ring_slots || options.ring_slots == 0, "ring_slots", std::to_string(options.ring_slots),
            "0");
    require(honoured.stage_times || options.stage_times != Choice::on, "stage_times", "on",
            "automatic or off");
}

std::uint64_t wanted_chunk_items(const PlanReport& plan, const BatchOptions& options) noexcept {
    if (options.chunk_elements != 0) return options.chunk_elements;
    return plan.chunk_exact ? plan.chunk_elements : 0;
}

void ProgressMeter::check() const {
    if (options_.cancel.stop_requested())
        throw Error(Errc::cancelled, std::string(function_) + ": cancelled by its stop token (" +
                                         std::to_string(progress_.done) + " of " +
                                         std::to_string(progress_.total) + " were done)");
}

void ProgressMeter::show(std::uint64_t done) {
    progress_.done = done;
    ++parts_;
    if (options_.progress) {
        progress_.elapsed_s = elapsed_s();
        in_callback_ = true;
        options_.progress(progress_);
        in_callback_ = false;
    }
    if (done < progress_.total) check();
}

double ProgressMeter::elapsed_s() const {
    return seconds_since(begin_);
}

}  // namespace weft::core
