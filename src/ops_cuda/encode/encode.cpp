// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/encode.hpp>

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/scratch.hpp"
#include "ops/encode/encode_check.hpp"
#include "ops/encode/encode_plan.hpp"
#include "ops_cuda/encode/encode_steps.hpp"

namespace weft::cuda {
namespace {

// Bytes of shared memory of a multiprocessor of the current device.
std::uint64_t multiprocessor_bytes() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "encode", "cudaGetDevice");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device), "encode",
          "cudaDeviceGetAttribute");
    return static_cast<std::uint64_t>(bytes);
}

}  // namespace

std::vector<EncodeFailure> EncodeOutcome::failures(StreamHandle stream) const {
    std::vector<std::uint32_t> words(2 * samples_);
    weft::cuda::check(
        cudaMemcpyAsync(words.data(), status_->data(), words.size() * 4, cudaMemcpyDeviceToHost, stream),
        "encode", "cudaMemcpyAsync");
    weft::cuda::check(cudaStreamSynchronize(stream), "encode", "cudaStreamSynchronize");
    std::vector<EncodeFailure> failures;
    kernels::append_failures(failures, words, 0, 0);
    return failures;
}

void EncodeOutcome::require_all(StreamHandle stream) const {
    kernels::require_no_failures(method_, failures(stream), true);
}

void encode_checked(StreamHandle stream, EncodeMethod method, const ConstDeviceArray& values,
                    const DeviceArray& states, const StateShape& shape, std::uint64_t features,
                    std::uint32_t* status, bool check_only) {
    constexpr std::uint32_t kMostThreads = 1024;
    kernels::EncodePlan plan = kernels::plan_encode(plan_device(kMostThreads), method,
                                                    {values.type, states.type}, shape, features, false);
    plan.held_pairs = held_pairs(plan, multiprocessor_bytes());
    encode_resident(stream, plan, values, states, status, check_only);
}

EncodeOutcome encode(StreamHandle stream, EncodeMethod method, const ConstDeviceArray& values,
                     const DeviceArray& states, const StateShape& shape, const EncodeOptions& options) {
    const std::uint64_t features =
        kernels::check_encode(method, shape, {values.type, states.type}, values.size, states.size);
    kernels::check_spans({values.data, values.size, values.type}, {states.data, states.size, states.type});
    check_aligned("encode", states.data, "states");
    require_device("encode");
    auto status = std::make_shared<Scratch>(stream, 8 * shape.samples, "encode", "status");
    const EncodeOutcome outcome(method, shape.samples, status);
    if (options.check_values) {
        encode_checked(stream, method, values, states, shape, features, status->as<std::uint32_t>(), true);
        kernels::require_no_failures(method, outcome.failures(stream), false);
    }
    encode_checked(stream, method, values, states, shape, features, status->as<std::uint32_t>(), false);
    return outcome;
}

}  // namespace weft::cuda
