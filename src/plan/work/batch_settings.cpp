// SPDX-License-Identifier: Apache-2.0
#include "plan/work/batch_settings.hpp"

#include <string>

#include "base/enum_check.hpp"

namespace weft::core {
namespace {

[[noreturn]] void refuse(Errc code, const std::string& what) {
    throw Error(code, "run_batch: " + what);
}

std::string got_need(std::uint64_t got, const std::string& need) {
    return " (got " + std::to_string(got) + ", need " + need + ")";
}

void check_path(const DevicePlan& plan, const DeviceSnapshot& device, Path path) {
    const bool unified = has_unified_memory(device);
    if (path == Path::imported && !plan.external_memory_host)
        refuse(Errc::unsupported,
               "path imported needs VK_EXT_external_memory_host, which " + device.name + " lacks");
    if (path == Path::direct && !unified && !plan.memory.mapped_device)
        refuse(Errc::unsupported,
               "path direct needs unified memory or a full-size BAR, which " + device.name + " lacks");
}

}  // namespace

BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device,
                             const BatchOptions& options, std::uint64_t total_bytes) {
    check_enum("run_batch", "batch mode", options.mode, BatchMode::pipelined);
    check_enum("run_batch", "path", options.path, Path::host);
    check_enum("run_batch", "queue mode", options.queues, QueueMode::split);
    check_enum("run_batch", "stage times", options.stage_times, Choice::on);
    if (options.ring_slots > 16)
        refuse(Errc::invalid_argument,
               "BatchOptions::ring_slots out of range" + got_need(options.ring_slots, "1 to 16, or 0"));
    if (options.chunk_elements > 0xffffffffu)
        refuse(Errc::invalid_argument, "BatchOptions::chunk_elements out of range" +
                                           got_need(options.chunk_elements, "at most 4294967295"));
    check_path(plan, device, options.path);
    BatchSettings s;
    s.mode = options.mode;
    s.path = options.path;
    s.transfer = plan.transfer;
    s.total_bytes = total_bytes;
    s.split = options.queues == QueueMode::automatic ? plan.queues.split : options.queues == QueueMode::split;
    s.slots = options.mode == BatchMode::sequential ? 1
              : options.ring_slots != 0             ? options.ring_slots
                                                    : plan.ring_slots;
    s.chunk_exact = options.chunk_elements != 0 || plan.chunk_exact;
    s.chunk_elements = options.chunk_elements != 0 ? options.chunk_elements : plan.chunk_elements;
    s.chunk_bytes = s.chunk_exact ? 0 : plan.chunk_bytes;
    // Below this the queries cost more than the times are worth.
    constexpr std::uint64_t kTimesFromBytes = std::uint64_t{1} << 20;
    s.stage_times =
        plan.timestamps && (options.stage_times == Choice::on ||
                            (options.stage_times == Choice::automatic && total_bytes >= kTimesFromBytes));
    return s;
}

}  // namespace weft::core
