// SPDX-License-Identifier: Apache-2.0
// Completes ops_vulkan/encode/encode_streamed.hpp: encode_by_jobs.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/host_buffer.hpp>
#include <weft/job.hpp>

#include "base/batch_call.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops_vulkan/encode/encode_programs.hpp"
#include "ops_vulkan/encode/encode_streamed.hpp"
#include "shaders/encode/encode_parameters.h"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {
namespace {

/// Rows [row, row + rows) of an array; `at` is the first of them among the rows of all arrays.
Job make_job(const EncodePlan& plan, const EncodeJob& array, std::uint32_t* status, std::uint32_t* tasks,
             std::uint64_t at, std::uint64_t row, std::uint64_t rows) {
    const bool by_element = plan.whole_rows();
    Job job;
    job.inputs.push_back({static_cast<const std::byte*>(array.values.data) + row * plan.row_bytes_in(),
                          rows * plan.row_bytes_in(), !by_element});
    job.outputs.push_back({static_cast<std::byte*>(array.states.data) + row * plan.row_bytes_out(),
                           rows * plan.row_bytes_out()});
    job.elements = rows << plan.block_bits();
    job.outputs.push_back({status + 2 * (at << plan.block_bits()), job.elements * kStatusBytes});
    if (plan.task_words != 0) {
        const std::uint64_t words = plan.task_words;
        job.inputs.push_back({tasks + words * at, words * rows * 4});
        job.outputs.push_back({tasks + words * at, words * rows * 4});
    }
    job.parameters = shared::EncodeParameters{
        static_cast<std::uint32_t>(plan.features),          plan.qubits, plan.parameter_bits(), 0, 0, 0,
        plan.features % 2 == 0 ? shared::kEncodePaired : 0u};
    return job;
}

/// Words that the device writes in addition to the states. They are page-locked for large calls, because the
/// engine treats a chunk as ordinary memory if one span of it is.
class StatusWords {
  public:
    StatusWords(Backend& backend, std::uint64_t count, std::uint64_t bytes_moved) {
        constexpr std::uint64_t kLeastMoved = std::uint64_t{1} << 20, kMostLocked = std::uint64_t{16} << 20;
        if (bytes_moved >= kLeastMoved && count != 0 && count <= kMostLocked)
            locked_.emplace(backend, count, "encode status");
        else
            ordinary_.resize(count);
    }
    /// A repeated call gets the same words, because a chunk with others would have to be recorded once more.
    static Kept<StatusWords> of_call(Backend& backend, std::uint64_t which, std::uint64_t count,
                                     std::uint64_t bytes_moved) {
        return {backend,
                {static_cast<std::uint64_t>(EncodeScratchKind::status_words), which, count, bytes_moved},
                [&] { return std::make_shared<StatusWords>(backend, count, bytes_moved); }};
    }
    std::span<std::uint32_t> span() { return locked_ ? locked_->span() : std::span(ordinary_); }

  private:
    std::optional<HostBuffer<std::uint32_t>> locked_;
    std::vector<std::uint32_t> ordinary_;
};

}  // namespace

BatchReport encode_by_jobs(Backend& backend, const EncodePlan& plan, std::span<const EncodeJob> arrays,
                           const BatchOptions& options, std::vector<EncodeFailure>& failures) {
    const Program program = encode_program(backend, plan, EncodeStep::states);
    const std::uint64_t moved = plan.bytes_in() + plan.bytes_out();
    auto words = StatusWords::of_call(backend, 0, 2 * (plan.samples << plan.block_bits()), moved);
    const std::span<std::uint32_t> status = words->span();
    auto tasks = StatusWords::of_call(backend, 1, plan.samples * plan.task_words, moved);
    std::fill(tasks->span().begin(), tasks->span().end(), 0u);
    std::vector<Job> jobs;
    std::vector<std::uint64_t> ends;  // rows of all arrays up to the end of each job
    const std::uint64_t step = rows_per_job(plan);
    for (const EncodeJob& array : arrays)
        for (std::uint64_t row = 0; row < array.samples; row += step) {
            const std::uint64_t rows = std::min(step, array.samples - row),
                                at = ends.empty() ? 0 : ends.back();
            jobs.push_back(make_job(plan, array, status.data(), tasks->span().data(), at, row, rows));
            ends.push_back(at + rows);
        }
    BatchReport report = core::in_name_of("encode", [&] {
        return core::run_counted(backend, program, jobs, options,
                                 [&](std::size_t j) { return ends[j] - (j == 0 ? 0 : ends[j - 1]); });
    });
    append_failures(failures, status, plan.block_bits(), 0);
    words.give_back(words->span().size_bytes());
    tasks.give_back(tasks->span().size_bytes());
    report.bytes_in = plan.bytes_in();
    report.bytes_out = plan.bytes_out();
    return report;
}

}  // namespace weft::kernels
