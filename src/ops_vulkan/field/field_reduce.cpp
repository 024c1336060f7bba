// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/field/field_reduce.hpp"

#include <algorithm>
#include <vector>

#include <weft/job.hpp>
#include <weft/program.hpp>

#include "ops/field/field_scalar.hpp"
#include "ops_vulkan/field/field_programs.hpp"
#include "ops/field/field_plan.hpp"

namespace weft::kernels {
namespace {

// The engine cuts jobs between elements, and an element of its jobs is a block here. What is left behind the
// last whole block is a job of its own, with one block.
template <class Limb>
class Reduction {
  public:
    Reduction(const FieldInfo& field, FieldOp op, std::span<const FieldVectors<Limb>> jobs)
        : field_(field), limbs_(field.limbs), jobs_(jobs) {
        std::size_t blocks = 0;
        for (const FieldVectors<Limb>& job : jobs) {
            first_block_.push_back(blocks);
            blocks += (elements(job) + kFieldStreamedBlock - 1) / kFieldStreamedBlock;
        }
        first_block_.push_back(blocks);
        totals_.resize(blocks * limbs_);
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            const std::size_t n = elements(jobs[j]), whole = n / kFieldStreamedBlock;
            if (whole != 0) add_part(op, j, 0, whole * kFieldStreamedBlock, whole, first_block_[j]);
            if (n % kFieldStreamedBlock != 0)
                add_part(op, j, whole * kFieldStreamedBlock, n % kFieldStreamedBlock, 1,
                         first_block_[j] + whole);
        }
    }

    std::span<const Job> parts() const { return parts_; }
    std::size_t job_of(std::size_t part) const { return part < owner_.size() ? owner_[part] : jobs_.size(); }

    std::uint64_t elements() const {
        std::uint64_t all = 0;
        for (const FieldVectors<Limb>& job : jobs_) all += elements(job);
        return all;
    }

    void write_results() const {
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            FieldWords sum{};
            for (std::size_t block = first_block_[j]; block < first_block_[j + 1]; ++block)
                sum = add_on_host(field_.field, sum,
                                  to_words(std::span<const Limb>(totals_).subspan(block * limbs_, limbs_)));
            from_words(sum, jobs_[j].out);
        }
    }

  private:
    std::size_t elements(const FieldVectors<Limb>& job) const { return job.a.size() / limbs_; }

    void add_part(FieldOp op, std::size_t j, std::size_t first, std::size_t count, std::size_t blocks,
                  std::size_t block) {
        Job job;
        for (const std::span<const Limb> in : {jobs_[j].a, jobs_[j].b})
            if (!in.empty()) job.inputs.push_back(InputSpan(in.subspan(first * limbs_, count * limbs_)));
        job.outputs.push_back(OutputSpan(std::span(totals_).subspan(block * limbs_, blocks * limbs_)));
        job.elements = blocks;
        job.parameters = block_parameters(kFieldStreamedBlock);
        job.name = to_string(op);
        parts_.push_back(job);
        owner_.push_back(j);
    }

    const FieldInfo& field_;
    std::size_t limbs_;
    std::span<const FieldVectors<Limb>> jobs_;
    std::vector<std::size_t> first_block_;  // of each job, and the number of all
    std::vector<Limb> totals_;              // of the blocks
    std::vector<Job> parts_;
    std::vector<std::size_t> owner_;  // of each part
};

}  // namespace

template <class Limb>
BatchReport reduce_batch(Backend& backend, Field field, FieldOp op, std::span<const FieldVectors<Limb>> jobs,
                         const FieldOptions& options) {
    const FieldInfo& info = field_info(field);
    const Reduction<Limb> work(info, op, jobs);
    const Program program =
        make_field_program(backend, field, op, 0, {.form = options.form, .shader = options.shader});
    BatchOptions batch = options.batch;
    // Chunks that the user asked for are in elements of the field.
    const std::uint64_t configured = backend.plan().chunk_elements;
    if (batch.chunk_elements == 0 && configured != kDefaultChunkElements) batch.chunk_elements = configured;
    if (batch.chunk_elements != 0)
        batch.chunk_elements = std::max<std::uint64_t>(batch.chunk_elements / kFieldStreamedBlock, 1);
    std::size_t told = 0;
    const auto report_progress = [&](std::size_t done) {
        for (; options.batch.progress && told < done; ++told) options.batch.progress(told + 1, jobs.size());
    };
    batch.progress = [&](std::size_t parts_done, std::size_t) { report_progress(work.job_of(parts_done)); };
    BatchReport report = run_batch(backend, program, work.parts(), batch);
    work.write_results();
    report_progress(jobs.size());
    report.jobs = jobs.size();
    report.elements = work.elements();
    for (StageInterval& interval : report.intervals)
        interval.job = static_cast<std::uint32_t>(work.job_of(interval.job));
    return report;
}

template BatchReport reduce_batch(Backend&, Field, FieldOp, std::span<const FieldJob>, const FieldOptions&);
template BatchReport reduce_batch(Backend&, Field, FieldOp, std::span<const Field31Job>, const FieldOptions&);

}  // namespace weft::kernels
