// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <string>
#include <thread>
#include <vector>

#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>

#include "cuda/check.hpp"
#include "cuda/streamed_chunks.hpp"
#include "cuda/scratch.hpp"
#include "ops/field/field_check.hpp"
#include "ops/field/field_scalar.hpp"

namespace weft::cuda {
namespace {

constexpr const char* kFunction = "field_batch";

template <class Limb>
DeviceSpan<Limb> limbs_at(std::byte* data, std::uint64_t limbs) {
    return {reinterpret_cast<Limb*>(data), limbs};
}

template <class Limb>
HostWork work_of(const FieldInfo& info, FieldOp op, const FieldVectors<Limb>& job) {
    HostWork work;
    work.inputs.push_back({job.a.data(), job.a.size_bytes(), info.element_bytes});
    if (takes_b(op)) work.inputs.push_back({job.b.data(), job.b.size_bytes(), info.element_bytes});
    work.elements = job.a.size() / info.limbs;
    return work;
}

template <class Limb>
void run_elements(const FieldInfo& info, FieldOp op, const FieldVectors<Limb>& job,
                  const FieldOptions& options, BatchReport& report) {
    HostWork work = work_of(info, op, job);
    work.outputs.push_back({job.out.data(), job.out.size_bytes(), info.element_bytes});
    const std::vector<std::uint64_t> scalar(job.scalar.begin(), job.scalar.end());
    work.launch = [&](const Chunk& chunk) {
        const std::uint64_t limbs = chunk.count * info.limbs;
        FieldInput b;
        if (takes_b(op)) b = limbs_at<Limb>(chunk.inputs[1], limbs);
        field_apply(chunk.stream, info.field, op, limbs_at<Limb>(chunk.inputs[0], limbs), b,
                    limbs_at<Limb>(chunk.outputs[0], limbs), scalar, {.form = options.form});
    };
    run_chunks(kFunction, work, report);
}

// Totals of chunks stay on the device; the host adds them.
template <class Limb>
void run_reduction(const FieldInfo& info, FieldOp op, const FieldVectors<Limb>& job,
                   const FieldOptions& options, BatchReport& report) {
    HostWork work = work_of(info, op, job);
    constexpr std::uint64_t kLeastChunkBytes = std::uint64_t{8} << 20;
    const std::uint64_t most = job.a.size_bytes() * (takes_b(op) ? 2 : 1) / kLeastChunkBytes + 2;
    require_device(kFunction);
    const Scratch totals(nullptr, most * info.element_bytes, kFunction, "totals");
    check(cudaStreamSynchronize(nullptr), kFunction, "cudaStreamSynchronize");
    std::size_t chunks = 0;
    work.launch = [&](const Chunk& chunk) {
        const std::uint64_t limbs = chunk.count * info.limbs;
        FieldInput b;
        if (takes_b(op)) b = limbs_at<Limb>(chunk.inputs[1], limbs);
        field_apply(chunk.stream, info.field, op, limbs_at<Limb>(chunk.inputs[0], limbs), b,
                    limbs_at<Limb>(totals.as<std::byte>() + chunks++ * info.element_bytes, info.limbs), {},
                    {.form = options.form});
    };
    run_chunks(kFunction, work, report);
    std::vector<Limb> values(chunks * info.limbs);
    if (chunks != 0)
        check(cudaMemcpy(values.data(), totals.data(), values.size() * sizeof(Limb), cudaMemcpyDeviceToHost),
              kFunction, "cudaMemcpy");
    kernels::FieldWords sum{};
    for (std::size_t i = 0; i < chunks; ++i)
        sum = kernels::add_on_host(
            info.field, sum,
            kernels::to_words(std::span<const Limb>(values).subspan(i * info.limbs, info.limbs)));
    kernels::from_words(sum, job.out);
}

template <class Limb>
BatchReport run(Field field, FieldOp op, std::span<const FieldVectors<Limb>> jobs,
                const FieldOptions& options) {
    kernels::check_field_enums(kFunction, field, op, options.form, options.shader);
    const FieldInfo& info = field_info(field);
    kernels::check_field_jobs(kFunction, field, op, jobs);
    if (options.checked)
        kernels::check_canonical(kFunction, field, jobs, std::max(1u, std::thread::hardware_concurrency()));
    for (std::size_t i = 0; op == FieldOp::axpy && i < jobs.size(); ++i)
        kernels::axpy_words(std::string(kFunction) + ": job " + std::to_string(i), field, options.form,
                            jobs[i].scalar);
    BatchReport report;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (is_reduction(op))
            run_reduction(info, op, jobs[i], options, report);
        else
            run_elements(info, op, jobs[i], options, report);
        if (options.batch.progress) options.batch.progress(i + 1, jobs.size());
    }
    return report;
}

}  // namespace

BatchReport field_batch(Field field, FieldOp op, std::span<const FieldJob> jobs,
                        const FieldOptions& options) {
    return run(field, op, jobs, options);
}
BatchReport field_batch(Field field, FieldOp op, std::span<const Field31Job> jobs,
                        const FieldOptions& options) {
    return run(field, op, jobs, options);
}

}  // namespace weft::cuda
