// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: batches and pipelines.
#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft::Job job_of(const char* function, const weft_job& given_job) {
    require_reserved(function, "weft_job", given_job.reserved);
    if (given_job.input_count > weft::kMaxJobSpans || given_job.output_count > weft::kMaxJobSpans)
        refuse(std::string(function) + ": too many spans (got " + std::to_string(given_job.input_count) +
               " inputs and " + std::to_string(given_job.output_count) + " outputs, need at most " +
               std::to_string(weft::kMaxJobSpans) + " of each)");
    if (given_job.broadcast >> given_job.input_count != 0)
        refuse(std::string(function) + ": broadcast names inputs that the job does not have (got " +
               std::to_string(given_job.broadcast) + ", need below " +
               std::to_string(1u << given_job.input_count) + ")");
    weft::Job job;
    for (std::uint32_t i = 0; i < given_job.input_count; ++i) {
        const weft_const_span& span = (&given(function, "weft_job.inputs", given_job.inputs))[i];
        job.inputs.push_back(
            {span.data, static_cast<std::size_t>(span.bytes), (given_job.broadcast >> i & 1) != 0});
    }
    for (std::uint32_t i = 0; i < given_job.output_count; ++i) {
        const weft_span& span = (&given(function, "weft_job.outputs", given_job.outputs))[i];
        job.outputs.push_back({span.data, static_cast<std::size_t>(span.bytes)});
    }
    job.elements = given_job.elements;
    job.parameters = parameters_of(function, given_job.parameters);
    job.name = text_of(given_job.name);
    return job;
}

}  // namespace

weft_status weft_run_batch(weft_backend* backend, const weft_program* program, const weft_job* jobs,
                           uint64_t count, const weft_batch_options* options, weft_report* report) {
    constexpr const char* kName = "weft_run_batch";
    const Uses uses(program);
    return with_devices(kName, backend, [&](auto& owner) {
        const weft::Program& object = given(kName, "program", program).object;
        if (count != 0) given(kName, "jobs", jobs);
        check_size(kName, "weft_report", report);
        std::vector<weft::Job> all;
        for (std::size_t i = 0; i < count; ++i) all.push_back(job_of(kName, jobs[i]));
        put_report(kName, weft::run_batch(owner, object, all, batch_options(kName, options)), report);
    });
}

weft_status weft_pipeline_create(weft_backend* backend, const weft_program* program,
                                 const weft_batch_options* options, weft_pipeline** pipeline) {
    constexpr const char* kName = "weft_pipeline_create";
    const Uses uses(backend, program);
    return create(kName, pipeline, [&] {
        return on_devices(kName, backend, [&](auto& owner) {
            const weft::Program& object = given(kName, "program", program).object;
            return weft::JobPipeline(owner, object, batch_options(kName, options));
        });
    });
}

WEFT_DEFINE_HANDLE(weft_pipeline)

weft_status weft_pipeline_submit(weft_pipeline* pipeline, const weft_job* job, uint64_t* token) {
    constexpr const char* kName = "weft_pipeline_submit";
    const Uses uses(pipeline);
    return guarded(kName, [&] {
        weft::JobPipeline& object = given(kName, "pipeline", pipeline).object;
        given(kName, "token", token);
        *token = object.submit(job_of(kName, given(kName, "job", job))).id;
    });
}

weft_status weft_pipeline_wait(weft_pipeline* pipeline, uint64_t token, uint64_t timeout_ns) {
    constexpr const char* kName = "weft_pipeline_wait";
    const Uses uses(pipeline);
    return guarded(kName, [&] {
        if (!given(kName, "pipeline", pipeline).object.wait({token}, timeout_of(timeout_ns))) throw TimeUp{};
    });
}

weft_status weft_pipeline_wait_all(weft_pipeline* pipeline) {
    constexpr const char* kName = "weft_pipeline_wait_all";
    const Uses uses(pipeline);
    return guarded(kName, [&] { given(kName, "pipeline", pipeline).object.wait_all(); });
}

weft_status weft_pipeline_state(const weft_pipeline* pipeline, uint64_t token, weft_job_state* state) {
    constexpr const char* kName = "weft_pipeline_state";
    const Uses uses(pipeline);
    return guarded(kName, [&] {
        const weft::JobState now = given(kName, "pipeline", pipeline).object.state({token});
        given(kName, "state", state) = static_cast<weft_job_state>(now);
    });
}

weft_status weft_pipeline_cancel(weft_pipeline* pipeline, uint64_t token, uint32_t* cancelled) {
    constexpr const char* kName = "weft_pipeline_cancel";
    const Uses uses(pipeline);
    return guarded(kName, [&] {
        given(kName, "cancelled", cancelled) = 0;
        *cancelled = given(kName, "pipeline", pipeline).object.cancel({token}) ? 1 : 0;
    });
}

weft_status weft_pipeline_report(const weft_pipeline* pipeline, weft_report* report) {
    constexpr const char* kName = "weft_pipeline_report";
    const Uses uses(pipeline);
    return guarded(kName, [&] {
        const weft::JobPipeline& object = given(kName, "pipeline", pipeline).object;
        put_report(kName, object.report(), &given(kName, "report", report));
    });
}
