// SPDX-License-Identifier: Apache-2.0
#include "ops/encode/encode_batch_check.hpp"

#include <string>

#include <weft/error.hpp>

#include "base/span_set.hpp"
#include "ops/encode/encode_check.hpp"

namespace weft::kernels {
namespace {

std::string job_text(std::size_t job) {
    return "job " + std::to_string(job) + ": ";
}

// Calls check(); its error gets the job after the name of the function.
template <class Check>
auto naming_job(std::size_t job, const Check& check) try {
    return check();
} catch (const Error& error) {
    std::string text = error.what();
    const std::size_t colon = text.find(": ");
    text.insert(colon == std::string::npos ? 0 : colon + 2, job_text(job));
    throw Error(error.code(), text, error.native_code());
}

void require_like_first(EncodeMethod method, std::span<const EncodeJob> jobs, std::size_t job,
                        std::uint64_t features, std::uint64_t got) {
    const auto require = [&](const char* what, const std::string& has, const std::string& need) {
        if (has != need)
            refuse_encode(method, job_text(job) + what + " (got " + has + ", need " + need + " as in job 0)");
    };
    require("values are of another type", to_string(jobs[job].values.type), to_string(jobs[0].values.type));
    require("states are of another type", to_string(jobs[job].states.type), to_string(jobs[0].states.type));
    require("another number of values a sample", std::to_string(got), std::to_string(features));
}

void require_apart(EncodeMethod method, std::span<const EncodeJob> jobs) {
    std::vector<core::JobSpan> spans;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        spans.push_back(core::span_of(jobs[i].values.data, jobs[i].values.bytes(), i, false));
        spans.push_back(core::span_of(jobs[i].states.data, jobs[i].states.bytes(), i, true));
    }
    if (const auto found = core::find_overlap(spans))
        refuse_encode(method, "states overlap memory of another job (got an overlap of " +
                                  std::to_string(found->bytes()) + " bytes of jobs " +
                                  std::to_string(found->a.job) + " and " + std::to_string(found->b.job) +
                                  ", need separate memory)");
}

}  // namespace

std::uint64_t samples_of(std::span<const EncodeJob> jobs) {
    std::uint64_t samples = 0;
    for (const EncodeJob& job : jobs) samples += job.samples;
    return samples;
}

std::uint64_t check_encode_jobs(EncodeMethod method, std::span<const EncodeJob> jobs, std::uint32_t qubits) {
    std::uint64_t features = encode_features(method, qubits), samples = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const EncodeJob& job = jobs[i];
        const std::uint64_t got = naming_job(i, [&] {
            const std::uint64_t each =
                check_encode(method, {job.samples, qubits}, {job.values.type, job.states.type},
                             job.values.size, job.states.size);
            check_spans(job.values, job.states);
            return each;
        });
        if (i == 0) features = got;
        require_like_first(method, jobs, i, features, got);
        samples += job.samples;
        if (samples > (std::uint64_t{1} << 58 >> qubits))
            refuse_encode(method, job_text(i) + "too many samples (got " + std::to_string(samples) +
                                      " so far, of " + std::to_string(qubits) +
                                      " qubits, need at most 2^58 amplitudes)");
    }
    require_apart(method, jobs);
    return features;
}

std::vector<EncodeFailure> find_job_faults(EncodeMethod method, std::uint32_t qubits, std::uint64_t features,
                                           std::span<const EncodeJob> jobs, std::uint32_t threads) {
    std::vector<EncodeFailure> all;
    for (std::size_t i = 0; i < jobs.size(); ++i)
        for (EncodeFailure failure : find_faults(method, qubits, features, jobs[i].values, threads)) {
            failure.job = i;
            all.push_back(failure);
        }
    return all;
}

void name_jobs(std::span<const EncodeJob> jobs, std::vector<EncodeFailure>& failures) {
    std::uint64_t job = 0, first = 0;
    for (EncodeFailure& failure : failures) {
        while (failure.sample - first >= jobs[job].samples) first += jobs[job++].samples;
        failure.sample -= first;
        failure.job = job;
    }
}

}  // namespace weft::kernels
