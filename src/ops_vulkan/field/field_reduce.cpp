// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/field/field_reduce.hpp"

#include <algorithm>
#include <vector>

#include <weft/job.hpp>
#include <weft/program.hpp>

#include "base/batch_call.hpp"
#include "ops/field/field_plan.hpp"
#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {
namespace {

// The engine cuts jobs between elements, and an element of its jobs is a block here. The rest after the last
// whole block is a job of its own with one block.
class Reduction {
  public:
    explicit Reduction(const FieldCall& call) : call_(call) {
        std::uint64_t blocks = 0;
        for (const FieldJob& job : call.jobs) {
            first_block_.push_back(blocks);
            blocks += (call.elements(job) + kFieldStreamedBlock - 1) / kFieldStreamedBlock;
        }
        first_block_.push_back(blocks);
        totals_.resize(blocks * call.field.element_bytes);
        for (std::size_t j = 0; j < call.jobs.size(); ++j) {
            const std::uint64_t n = call.elements(call.jobs[j]), whole = n / kFieldStreamedBlock;
            if (whole != 0) add_part(j, 0, whole * kFieldStreamedBlock, whole, first_block_[j]);
            if (n % kFieldStreamedBlock != 0)
                add_part(j, whole * kFieldStreamedBlock, n % kFieldStreamedBlock, 1, first_block_[j] + whole);
        }
    }

    std::span<const Job> parts() const { return parts_; }
    std::size_t job_of(std::size_t part) const { return owner_[part]; }
    std::uint64_t elements(std::size_t part) const { return elements_[part]; }

    void write_results() const {
        for (std::size_t j = 0; j < call_.jobs.size(); ++j) {
            FieldWords sum{};
            for (std::uint64_t block = first_block_[j]; block < first_block_[j + 1]; ++block)
                sum = add_on_host(call_.field.field, sum, to_words(call_.field, totals_.data(), block));
            from_words(call_.field, sum, call_.jobs[j].out.data);
        }
    }

  private:
    void add_part(std::size_t j, std::uint64_t first, std::uint64_t count, std::uint64_t blocks,
                  std::uint64_t block) {
        const std::uint64_t bytes = call_.field.element_bytes;
        Job job;
        for (const ConstHostArray* in : {&call_.jobs[j].a, &call_.jobs[j].b})
            if (!in->empty())
                job.inputs.push_back(
                    {static_cast<const std::byte*>(in->data) + first * bytes, count * bytes});
        job.outputs.push_back({totals_.data() + block * bytes, blocks * bytes});
        job.elements = blocks;
        job.parameters = block_parameters(kFieldStreamedBlock);
        job.name = to_string(call_.op);
        parts_.push_back(job);
        owner_.push_back(j);
        elements_.push_back(count);
    }

    const FieldCall& call_;
    std::vector<std::uint64_t> first_block_;  // of each job, and the number of all
    std::vector<std::byte> totals_;           // of the blocks
    std::vector<Job> parts_;
    std::vector<std::size_t> owner_;       // of each part
    std::vector<std::uint64_t> elements_;  // of each part
};

// The user gives the size of chunks in elements of the field.
std::uint64_t chunk_blocks(const Backend& backend, const BatchOptions& options) {
    const std::uint64_t wanted = core::wanted_chunk_items(backend.plan(), options);
    return wanted == 0 ? 0 : std::max<std::uint64_t>(wanted / kFieldStreamedBlock, 1);
}

template <class Where>
BatchReport reduce(Where& where, const FieldCall& call, const FieldHostOptions& options) {
    const Reduction work(call);
    const Program program = make_field_program(where, call.field.field, call.op, 0,
                                               {.form = options.form, .shader = options.shader});
    BatchOptions batch = options.batch;
    batch.chunk_elements = chunk_blocks(core::first_backend(where), batch);
    const std::uint64_t total = call.elements();
    // The last progress is reported when the results are in place.
    if (batch.progress)
        batch.progress = [&](const Progress& parts) {
            if (parts.done != parts.total) options.batch.progress(parts);
        };
    BatchReport report = core::run_counted(where, program, work.parts(), batch,
                                           [&](std::size_t part) { return work.elements(part); });
    work.write_results();
    if (batch.progress && !call.jobs.empty()) options.batch.progress({total, total, report.wall_s});
    report.jobs = call.jobs.size();
    report.elements = total;
    report.chunk_elements = std::min(report.chunk_elements * kFieldStreamedBlock, total);
    // Blocks were counted, and the last one of a job may have fewer elements.
    for (DeviceReport& row : report.devices)
        row.items = row.bytes_in / (call.field.element_bytes * (takes_b(call.op) ? 2 : 1));
    for (StageInterval& interval : report.intervals)
        interval.job = static_cast<std::uint32_t>(work.job_of(interval.job));
    return report;
}

}  // namespace

BatchReport reduce_batch(Backend& backend, const FieldCall& call, const FieldHostOptions& options) {
    return reduce(backend, call, options);
}
BatchReport reduce_batch(Devices& devices, const FieldCall& call, const FieldHostOptions& options) {
    return reduce(devices, call, options);
}

}  // namespace weft::kernels
