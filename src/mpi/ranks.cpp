// SPDX-License-Identifier: Apache-2.0
// Also completes <weft/mpi/distributed.hpp>: batches.
#include <weft/mpi/ranks.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <weft/device.hpp>
#include <weft/error.hpp>
#include <weft/mpi/distributed.hpp>

#include "base/batch_call.hpp"
#include "mpi/ranks_state.hpp"

namespace weft::mpi {
namespace {

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t comma = std::min(list.find(',', at), list.size());
        parts.push_back(list.substr(at, comma - at));
        at = comma + 1;
    }
    return parts;
}

/// The devices that the ranks of a machine share.
std::vector<std::string> devices_of_machine(const Config& config) {
    if (!config.device.empty() && config.device != "all") return split(config.device);
    std::vector<std::string> devices;
    for (const DeviceInfo& device : list_devices(config))
        if (device.type != DeviceType::cpu) devices.push_back(std::to_string(device.index));
    if (devices.empty()) devices.emplace_back("cpu");
    return devices;
}

/// Sizes of jobs as text, so that ranks can compare them.
kernels::StoreFacts job_facts(std::span<const Job> jobs) {
    kernels::ContentSum sum;
    const auto add = [&](std::uint64_t number) { sum.add(std::as_bytes(std::span(&number, 1))); };
    for (const Job& job : jobs) {
        add(job.elements);
        for (const InputSpan& span : job.inputs) add(span.bytes);
        add(~std::uint64_t{0});
        for (const OutputSpan& span : job.outputs) add(span.bytes);
    }
    return {{"number of jobs", std::to_string(jobs.size())},
            {"sizes of jobs, as a checksum", std::to_string(sum.value())}};
}

}  // namespace

Ranks::Ranks(MPI_Comm communicator, const RanksOptions& options)
    : state_(std::make_unique<RanksState>(communicator, options)) {}
Ranks::Ranks(Ranks&&) noexcept = default;
Ranks& Ranks::operator=(Ranks&&) noexcept = default;
Ranks::~Ranks() = default;

RanksState& Ranks::state() const {
    if (!state_) throw Error(Errc::invalid_argument, "Ranks: the object was moved from");
    return *state_;
}
int Ranks::rank() const {
    return state().rank();
}
int Ranks::size() const {
    return state().size();
}
int Ranks::rank_on_node() const {
    return state().rank_on_node();
}

bool Ranks::lost() const {
    return state().broken();
}

Config Ranks::config(Config config) const {
    const std::vector<std::string> devices = devices_of_machine(config);
    config.device = devices[static_cast<std::size_t>(rank_on_node()) % devices.size()];
    return config;
}

std::vector<Config> Ranks::configs(Config config) const {
    const std::vector<std::string> devices = devices_of_machine(config);
    const auto rank = static_cast<std::size_t>(rank_on_node()),
               ranks = static_cast<std::size_t>(state().ranks_on_node());
    if (devices.size() <= ranks) return {this->config(std::move(config))};
    std::vector<Config> own;
    // Neighbours in the list usually hang on one socket.
    for (std::size_t i = devices.size() * rank / ranks; i < devices.size() * (rank + 1) / ranks; ++i) {
        own.push_back(config);
        own.back().device = devices[i];
    }
    return own;
}

void Ranks::together(const std::function<void()>& step) {
    state().together(step);
}

RankBatch run_batch(Ranks& of, RankDevices devices, const Program& program, std::span<const Job> jobs,
                    const BatchOptions& options) {
    RanksState& ranks = weft::detail::Access::state(of);
    ranks.require_same("run_batch", job_facts(jobs));
    ranks.begin_count();
    const auto shares = static_cast<std::uint64_t>(ranks.size()) * 8;
    const std::uint64_t step = std::clamp<std::uint64_t>(jobs.size() / shares, 1, 64) * devices.count();
    RankBatch done;
    ranks.together([&] {
        const auto begin = std::chrono::steady_clock::now();
        core::ProgressMeter meter("run_batch", options, jobs.size());
        BatchOptions each = options;
        each.progress = {};
        try {
            for (std::uint64_t at = ranks.take(step); at < jobs.size(); at = ranks.take(step)) {
                if (ranks.count_is_stopped()) break;
                meter.show(at);
                const std::size_t count = std::min<std::uint64_t>(step, jobs.size() - at);
                devices.visit([&](auto& where) {
                    static_cast<void>(weft::run_batch(where, program, jobs.subspan(at, count), each));
                });
                for (std::size_t i = 0; i < count; ++i) done.jobs.push_back(at + i);
            }
        } catch (...) {
            ranks.stop_count();
            throw;
        }
        done.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
    return done;
}

}  // namespace weft::mpi
