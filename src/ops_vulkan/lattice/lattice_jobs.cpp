// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/lattice/lattice_jobs.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <weft/job.hpp>

#include "base/batch_call.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {
namespace {

/// The `elements` elements behind the first `done`, of which the last is padded with zeros.
class Tail {
  public:
    Tail(std::size_t done, std::size_t elements, const std::vector<LatticeInput>& inputs,
         const std::vector<LatticeOutput>& outputs)
        : done_(done) {
        for (const LatticeInput& in : inputs) {
            if (in.element_bytes == 0) {
                job_.inputs.push_back({in.data, in.bytes, true});
                continue;
            }
            std::vector<std::byte>& copy = memory_.emplace_back(elements * in.element_bytes);
            const std::size_t first = done * in.element_bytes;
            std::memcpy(copy.data(), static_cast<const std::byte*>(in.data) + first, in.bytes - first);
            job_.inputs.push_back({copy.data(), copy.size()});
        }
        first_output_ = memory_.size();
        for (const LatticeOutput& out : outputs) {
            std::vector<std::byte>& copy = memory_.emplace_back(elements * out.element_bytes);
            job_.outputs.push_back({copy.data(), copy.size()});
        }
        job_.elements = elements;
    }
    const Job& job(const Parameters& parameters) {
        job_.parameters = parameters;
        return job_;
    }
    void copy_back(const std::vector<LatticeOutput>& outputs) const {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const std::size_t first = done_ * outputs[i].element_bytes;
            std::memcpy(static_cast<std::byte*>(outputs[i].data) + first, memory_[first_output_ + i].data(),
                        outputs[i].bytes - first);
        }
    }

  private:
    std::size_t done_, first_output_ = 0;
    std::vector<std::vector<std::byte>> memory_;
    Job job_;
};

Job cut(const std::vector<LatticeInput>& inputs, const std::vector<LatticeOutput>& outputs, std::size_t first,
        std::size_t count) {
    Job job;
    for (const LatticeInput& in : inputs) {
        if (in.element_bytes == 0)
            job.inputs.push_back({in.data, in.bytes, true});
        else
            job.inputs.push_back({static_cast<const std::byte*>(in.data) + first * in.element_bytes,
                                  count * in.element_bytes});
    }
    for (const LatticeOutput& out : outputs)
        job.outputs.push_back(
            {static_cast<std::byte*>(out.data) + first * out.element_bytes, count * out.element_bytes});
    job.elements = count;
    return job;
}

/// How many of the `whole` elements are processed where they lie in the caller's memory. The others go
/// through a Tail. A few elements are copied with the last rows, because that is faster than a job of their
/// own.
std::size_t elements_in_place(std::size_t whole, bool tail, const std::vector<LatticeInput>& inputs,
                              const std::vector<LatticeOutput>& outputs) {
    constexpr std::size_t kFewBytes = std::size_t{1} << 16;
    std::size_t bytes = 0;
    for (const LatticeInput& in : inputs) bytes += in.bytes;
    for (const LatticeOutput& out : outputs) bytes += out.bytes;
    return tail && bytes <= kFewBytes ? 0 : whole;
}

}  // namespace

BatchReport run_lattice_jobs(const char* function, Backend& backend, const Program& program,
                             const LatticeShape& shape, const LatticeParametersOf& parameters_of,
                             const std::vector<LatticeInput>& inputs,
                             const std::vector<LatticeOutput>& outputs, const BatchOptions& options,
                             const VectorsInPlace& in_place) {
    const std::size_t elements = (shape.rows + shape.element_rows - 1) / shape.element_rows;
    const bool padded = shape.rows % shape.element_rows != 0;
    const std::size_t whole = elements_in_place(shape.rows / shape.element_rows, padded, inputs, outputs);
    std::vector<Job> jobs;
    std::vector<std::size_t> vectors;  // of each job
    for (std::size_t first = 0, count = 0; first < whole; first += count) {
        const std::size_t left = whole - first, each = shape.element_vectors;
        count = std::clamp<std::size_t>(lattice_job_vectors(whole * each, left * each) / each, 1, left);
        jobs.push_back(cut(inputs, outputs, first, count));
        jobs.back().parameters = parameters_of(first * each);
        vectors.push_back(count * each);
    }
    std::unique_ptr<Tail> tail;
    if (padded) {
        tail = std::make_unique<Tail>(whole, elements - whole, inputs, outputs);
        jobs.push_back(tail->job(parameters_of(whole * shape.element_vectors)));
    }
    BatchOptions batch = options;
    if (const std::uint64_t wanted = core::wanted_chunk_items(backend.plan(), options); wanted != 0)
        batch.chunk_elements = std::max<std::uint64_t>(wanted / shape.element_vectors, 1);
    // Those of the tail are in place only when they have been copied back.
    const std::size_t in_jobs = whole * shape.element_vectors;
    std::size_t shown = 0;
    if (in_place || options.progress)
        batch.progress = [&](const Progress& progress) {
            const std::size_t done = std::min<std::size_t>(progress.done, in_jobs);
            if (done == std::exchange(shown, done)) return;
            if (in_place) in_place(done);
            if (options.progress) options.progress({done, shape.vectors(), progress.elapsed_s});
        };
    BatchReport report = core::in_name_of(function, [&] {
        return core::run_counted(backend, program, jobs, batch, [&](std::size_t job) {
            return job < vectors.size() ? vectors[job] : shape.vectors() - in_jobs;
        });
    });
    report.chunk_elements *= shape.element_vectors;
    if (!tail) return report;
    tail->copy_back(outputs);
    if (options.progress) options.progress({shape.vectors(), shape.vectors(), report.wall_s});
    return report;
}

}  // namespace weft::kernels
