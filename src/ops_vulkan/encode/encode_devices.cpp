// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/encode.hpp>: encodes on several devices. Each share is an encode_batch on one device,
// of consecutive samples of the arrays.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/encode.hpp>

#include "base/batch_call.hpp"
#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft {
namespace {

/// Samples of the arrays that make a share, and where they come from.
struct Samples {
    std::vector<EncodeJob> parts;
    std::vector<std::uint64_t> first;  ///< of each part, counted over all arrays
};

class Arrays {
  public:
    Arrays(std::span<const EncodeJob> arrays, std::uint32_t qubits, std::uint64_t features)
        : arrays_(arrays),
          value_bytes_(arrays.empty() ? 0 : features * arrays[0].values.type.bytes()),
          state_bytes_(arrays.empty() ? 0 : std::uint64_t{arrays[0].states.type.bytes()} << qubits),
          features_(features),
          qubits_(qubits) {
        for (const EncodeJob& array : arrays) ends_.push_back(samples() + array.samples);
    }

    std::uint64_t samples() const { return ends_.empty() ? 0 : ends_.back(); }
    std::uint64_t sample_bytes() const { return value_bytes_ + state_bytes_; }

    Samples cut(std::uint64_t first, std::uint64_t count) const {
        Samples share;
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), first);
        for (auto array = static_cast<std::size_t>(found - ends_.begin()); count != 0; ++array) {
            const std::uint64_t begin = array == 0 ? 0 : ends_[array - 1], row = first - begin;
            const std::uint64_t rows = std::min(count, ends_[array] - first);
            share.parts.push_back(part(arrays_[array], row, rows));
            share.first.push_back(first);
            first += rows;
            count -= rows;
        }
        return share;
    }

  private:
    EncodeJob part(const EncodeJob& array, std::uint64_t row, std::uint64_t rows) const {
        const auto* values = static_cast<const std::byte*>(array.values.data) + row * value_bytes_;
        auto* states = static_cast<std::byte*>(array.states.data) + row * state_bytes_;
        return {{values, rows * features_, array.values.type},
                {states, rows << qubits_, array.states.type},
                rows};
    }

    std::span<const EncodeJob> arrays_;
    std::uint64_t value_bytes_, state_bytes_, features_;  // of a sample
    std::uint32_t qubits_;
    std::vector<std::uint64_t> ends_;  // samples up to the end of each array
};

/// The samples that failed on any device, counted over all arrays.
class Failures {
  public:
    void add(const EncodeError& error, const Samples& share) {
        const std::lock_guard lock(mutex_);
        for (EncodeFailure failure : error.failures()) {
            failure.sample += share.first[failure.job];
            failure.job = 0;
            all_.push_back(failure);
        }
    }
    std::vector<EncodeFailure> sorted() {
        std::sort(all_.begin(), all_.end(),
                  [](const EncodeFailure& a, const EncodeFailure& b) { return a.sample < b.sample; });
        return std::move(all_);
    }

  private:
    std::mutex mutex_;
    std::vector<EncodeFailure> all_;
};

/// Arrays and options have been checked. `batch`: failures name jobs.
OpReport encode_arrays(Devices& devices, EncodeMethod method, std::span<const EncodeJob> given,
                       std::uint32_t qubits, std::uint64_t features, const EncodeHostOptions& options,
                       bool batch) {
    const PlanReport& plan = core::first_backend(devices).plan();
    const Arrays arrays(given, qubits, features);
    if (options.check_values)
        kernels::require_no_failures(
            method, kernels::find_job_faults(method, qubits, features, given, plan.copy_threads), false,
            batch);
    Failures failures;
    const auto worker = [&](std::size_t) -> core::ShareWorker {
        return [&](Backend& backend, const core::Share& share, core::ShareWatch& watch) {
            const Samples samples = arrays.cut(share.first, share.count);
            try {
                return encode_batch(backend, method, samples.parts, qubits,
                                    {.batch = watch.options(options.batch)});
            } catch (const EncodeError& error) {
                failures.add(error, samples);
                return OpReport();
            }
        };
    };
    // Shares begin where every device can bind the arrays.
    constexpr std::uint64_t kStep = 64;
    OpReport report = core::run_shares(
        devices, {.function = batch ? "encode_batch" : "encode",
                  .rates = std::string("encode ") + to_string(method) + " " + std::to_string(qubits),
                  .items = arrays.samples(),
                  .step = arrays.sample_bytes() < (std::uint64_t{1} << 20) ? kStep : 1,
                  .item_bytes = arrays.sample_bytes(),
                  .chunk_items = core::wanted_chunk_items(plan, options.batch),
                  .single_job = !batch,
                  .progress_total = arrays.samples(),
                  .options = options.batch,
                  .worker = worker});
    std::vector<EncodeFailure> failed = failures.sorted();
    if (batch) kernels::name_jobs(given, failed);
    kernels::require_no_failures(method, std::move(failed), true, batch);
    report.op = "encode";
    report.method = to_string(method);
    report.items = arrays.samples();
    report.jobs = 1;
    return report;
}

void check_options(Devices& devices, const BatchOptions& options) {
    core::check_batch_options(core::first_backend(devices), options);
    core::require_members("encode", options, {.mode = true, .chunk_elements = true});
}

}  // namespace

OpReport encode(Devices& devices, EncodeMethod method, const ConstHostArray& values, const HostArray& states,
                const StateShape& shape, const EncodeHostOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans(values, states);
    check_options(devices, options.batch);
    const EncodeJob array{values, states, shape.samples};
    return encode_arrays(devices, method, {&array, 1}, shape.qubits, features, options, false);
}

OpReport encode_batch(Devices& devices, EncodeMethod method, std::span<const EncodeJob> jobs,
                      std::uint32_t qubits, const EncodeHostOptions& options) {
    const std::uint64_t features = kernels::check_encode_jobs(method, jobs, qubits);
    check_options(devices, options.batch);
    OpReport report = encode_arrays(devices, method, jobs, qubits, features, options, true);
    report.op = "encode_batch";
    report.method = to_string(method);
    report.jobs = jobs.size();
    return report;
}

}  // namespace weft
