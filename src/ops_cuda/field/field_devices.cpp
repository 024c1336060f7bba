// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: field vectors in host memory on several devices. A share is consecutive
// elements of the jobs.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/cuda/devices.hpp>

#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_cuda/field/streamed_field.hpp"

namespace weft::cuda {
namespace {

using kernels::FieldCall;

/// Elements of jobs that make a share.
struct Elements {
    std::vector<FieldJob> parts;
    std::vector<std::size_t> jobs;  // of each part
};

ConstHostArray part_of(const ConstHostArray& array, std::uint64_t first, std::uint64_t size) {
    if (array.empty()) return array;
    return {static_cast<const std::byte*>(array.data) + first * array.type.bytes(), size, array.type};
}

class Jobs {
  public:
    explicit Jobs(const FieldCall& call) : call_(call) {
        for (const FieldJob& job : call.jobs)
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + call.elements(job));
    }

    /// `out` of reductions is left to the caller.
    Elements cut(std::uint64_t first, std::uint64_t count) const {
        Elements share;
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), first);
        for (auto j = static_cast<std::size_t>(found - ends_.begin()); count != 0; ++j) {
            const std::uint64_t begin = j == 0 ? 0 : ends_[j - 1];
            const std::uint64_t elements = std::min(count, ends_[j] - first);
            if (elements == 0) continue;
            share.parts.push_back(part(call_.jobs[j], first - begin, elements));
            share.jobs.push_back(j);
            first += elements;
            count -= elements;
        }
        return share;
    }

  private:
    FieldJob part(const FieldJob& job, std::uint64_t first, std::uint64_t count) const {
        const std::uint64_t limbs = call_.field.limbs, from = first * limbs, size = count * limbs;
        FieldJob made{part_of(job.a, from, size), part_of(job.b, from, size), job.scalar, {}};
        if (!is_reduction(call_.op))
            made.out = {static_cast<std::byte*>(job.out.data) + from * job.out.type.bytes(), size,
                        job.out.type};
        return made;
    }

    const FieldCall& call_;
    std::vector<std::uint64_t> ends_;  // elements up to the end of each job
};

/// Sums of the parts of each job.
class Totals {
  public:
    explicit Totals(const FieldCall& call) : call_(call), sums_(call.jobs.size()) {}
    void add(std::size_t job, const void* element) {
        const std::lock_guard lock(mutex_);
        sums_[job] =
            kernels::add_on_host(call_.field.field, sums_[job], kernels::to_words(call_.field, element, 0));
    }
    void write() const {
        for (std::size_t j = 0; j < sums_.size(); ++j)
            kernels::from_words(call_.field, sums_[j], call_.jobs[j].out.data);
    }

  private:
    const FieldCall& call_;
    std::mutex mutex_;
    std::vector<kernels::FieldWords> sums_;
};

OpReport reduce(const FieldCall& call, Elements share, const FieldHostOptions& options, Totals& totals) {
    const std::size_t bytes = call.field.element_bytes;
    std::vector<std::uint64_t> results(share.parts.size() * ((bytes + 7) / 8));
    const auto result = [&](std::size_t i) { return results.data() + i * ((bytes + 7) / 8); };
    for (std::size_t i = 0; i < share.parts.size(); ++i)
        share.parts[i].out = {result(i), call.field.limbs, kernels::limb_type(call.field)};
    OpReport report = field_batch(call.field.field, call.op, share.parts, options);
    for (std::size_t i = 0; i < share.parts.size(); ++i) totals.add(share.jobs[i], result(i));
    return report;
}

bool in_place(const FieldJob& job) {
    return job.out.data != nullptr && (job.out.data == job.a.data || job.out.data == job.b.data);
}

OpReport run(Devices& devices, Field field, FieldOp op, std::span<const FieldJob> given, bool batch,
             const FieldHostOptions& options) {
    const FieldCall call = checked_host_call(field, op, given, batch, options);
    const std::string function = call.function();
    const Jobs jobs(call);
    Totals totals(call);
    const auto work = [&](const core::Share& share, core::ShareWatch& watch) {
        const FieldHostOptions each{.form = options.form, .batch = watch.options(options.batch)};
        Elements part = jobs.cut(share.first, share.count);
        if (is_reduction(op)) return reduce(call, std::move(part), each, totals);
        return field_batch(field, op, part.parts, each);
    };
    const std::uint64_t arrays = takes_b(op) ? 2 : 1;
    OpReport report = run_shares(
        devices, {.function = function.c_str(),
                  .rates = "field " + std::string(to_string(op)) + " " + std::string(call.field.name),
                  .items = call.elements(),
                  .item_bytes = call.field.element_bytes * (arrays + (is_reduction(op) ? 0 : 1)),
                  .chunk_items = wanted_chunk_elements(options.batch),
                  .repeatable = std::none_of(given.begin(), given.end(), in_place),
                  .single_job = given.size() == 1,
                  .progress_total = call.elements(),
                  .options = options.batch,
                  .worker = on_each(devices, function.c_str(), work)});
    if (is_reduction(op)) totals.write();
    report.op = kernels::field_function(op);
    report.items = call.elements();
    report.jobs = given.size();
    return report;
}

}  // namespace

OpReport field_batch(Devices& devices, Field field, FieldOp op, std::span<const FieldJob> jobs,
                     const FieldHostOptions& options) {
    return run(devices, field, op, jobs, true, options);
}

OpReport field_apply(Devices& devices, Field field, FieldOp op, const ConstHostArray& a,
                     const ConstHostArray& b, const ConstHostArray& scalar, const HostArray& out,
                     const FieldHostOptions& options) {
    const FieldJob job{a, b, scalar, out};
    return run(devices, field, op, {&job, 1}, false, options);
}

}  // namespace weft::cuda
