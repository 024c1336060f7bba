// SPDX-License-Identifier: Apache-2.0
// Amplitude rows that workgroups share, on CUDA, with different parts of a workgroup's values in shared
// memory.
#include <doctest/doctest.h>

#include <vector>

#include <weft/weft.hpp>

#include "cuda/plan_device.hpp"
#include "ops/encode/encode_plan.hpp"
#include "ops_cuda/encode/encode_launch.hpp"
#include "ops_cuda/encode/encode_steps.hpp"
#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shared_rows.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::cuda::kFewHeld;
using weft::cuda::kKeptPairs;
using weft::cuda::kMostHeld;

template <class Value, class Amplitude>
void check_types(weft::EncodeTypes types, double large) {
    for (const std::uint64_t features :
         {std::uint64_t{1} << kSharedQubits, std::uint64_t{50000}, std::uint64_t{50001}}) {
        weft::kernels::EncodePlan plan =
            weft::kernels::plan_encode(weft::cuda::plan_device(1024), weft::EncodeMethod::amplitude, types,
                                       {kSharedRows, kSharedQubits}, features, false);
        REQUIRE(plan.kernel == weft::kernels::EncodeKernel::amplitude_shared);
        REQUIRE(plan.kept_pairs == kKeptPairs);
        const std::vector<double> values = shared_rows(features, large);
        const CudaArray<Value> in(std::vector<Value>(values.begin(), values.end()));
        for (const std::uint32_t held : {kFewHeld, kMostHeld}) {
            CAPTURE(features);
            CAPTURE(held);
            plan.held_pairs = held;
            const CudaArray<Amplitude> out(
                std::vector<Amplitude>(kSharedRows << kSharedQubits, Amplitude(3)));
            const CudaArray<std::uint32_t> status(2 * kSharedRows);
            const CudaStream stream;
            weft::cuda::encode_resident(stream, plan, in.span(), out.span(), status.span().data(), false);
            stream.wait();
            check_shared_rows<Value>(values, features, out.download(), status.download());
        }
    }
}

}  // namespace

TEST_CASE("cuda encode amplitude: rows are right with values in registers and in shared memory") {
    on_device([](weft::Backend&) {
        using weft::ElementType, weft::ElementType;
        check_types<double, c32>({weft::kFloat64, weft::kComplex64}, 1e200);
        check_types<float, c32>({weft::kFloat32, weft::kComplex64}, 1e25);
        check_types<double, c64>({weft::kFloat64, weft::kComplex128}, 1e200);
        check_types<float, c64>({weft::kFloat32, weft::kComplex128}, 1e25);
    });
}

TEST_CASE(
    "cuda encode amplitude: registers keep most values if shared memory has no room for more workgroups") {
    weft::kernels::EncodePlan plan;
    plan.kernel = weft::kernels::EncodeKernel::amplitude_shared;
    plan.kept_pairs = kKeptPairs;
    plan.value_bytes = 8;
    CHECK(weft::cuda::held_pairs(plan, 228 << 10) == kFewHeld);
    CHECK(weft::cuda::held_pairs(plan, 164 << 10) == kMostHeld);
    CHECK(weft::cuda::held_pairs(plan, 64 << 10) == kMostHeld);
    plan.value_bytes = 4;
    CHECK(weft::cuda::held_pairs(plan, 164 << 10) == kFewHeld);
    CHECK(weft::cuda::held_pairs(plan, 64 << 10) == kMostHeld);
    plan.kernel = weft::kernels::EncodeKernel::amplitude;
    plan.kept_pairs = 4;
    CHECK(weft::cuda::held_pairs(plan, 228 << 10) == 4);
}
