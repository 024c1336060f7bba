// SPDX-License-Identifier: Apache-2.0
// The ops on arrays in host memory: page-locked memory, several threads, the search for beta, refused calls.
// Values are checked in tests/conformance.
#include <weft/cuda/host.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"

namespace {

using namespace weft_test;
using weft::FieldOp;
using Limbs = std::vector<std::uint64_t>;

constexpr weft::Field kFp = weft::Field::bls12_381_fp;

}  // namespace

TEST_CASE("host: page-locked memory, in place, from four threads simultaneously") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kElements = 300'000;
        const Limbs a = random_elements(kElements, 4), b = random_elements(kElements, 5);
        const Limbs want = expected(FieldOp::add, a, b);
        std::vector<int> right(4);
        const auto add = [&](std::size_t t) {
            weft::HostBuffer<std::uint64_t> locked(backend, a.size());
            for (int round = 0; round < 4; ++round) {
                std::copy(a.begin(), a.end(), locked.span().begin());
                const weft::FieldJob job{.a = locked.span(), .b = b, .out = locked.span()};
                weft::cuda::field_batch(kFp, FieldOp::add, std::span(&job, 1));
                right[t] += std::equal(want.begin(), want.end(), locked.span().begin()) ? 1 : 0;
            }
        };
        {
            std::vector<std::jthread> threads;
            for (std::size_t t = 0; t < right.size(); ++t) threads.emplace_back(add, t);
        }
        CHECK(right == std::vector<int>(4, 4));
    });
}

TEST_CASE("host: the search for beta tries and finds the same values as on Vulkan") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> sample = normal_values(std::size_t{19} * 4'001, 5);
        const weft::LatticeCode code{.lattice = weft::Lattice::e8, .q = 4, .levels = 2};
        std::uint64_t tried[2] = {};
        const auto search = [&](int i, auto&& call) {
            return call(weft::LatticeSearchOptions{
                .width = 19, .steps = 20, .batch = {.progress = [&tried, i](const weft::Progress& p) {
                                              tried[i] = p.done;
                                          }}});
        };
        const auto of_vulkan = search(0, [&](const weft::LatticeSearchOptions& options) {
            return weft::lattice_search_beta(backend, code, sample, options);
        });
        const auto of_cuda = search(1, [&](const weft::LatticeSearchOptions& options) {
            return weft::cuda::lattice_search_beta(code, sample, options);
        });
        REQUIRE(of_cuda.trials.size() >= 30);
        REQUIRE(of_vulkan.trials.size() == of_cuda.trials.size());
        CHECK(tried[0] == of_vulkan.trials.size());
        CHECK(tried[1] == of_cuda.trials.size());
        CHECK(of_vulkan.best.beta == of_cuda.best.beta);
        for (std::size_t i = 0; i < of_cuda.trials.size(); ++i) {
            CHECK(of_vulkan.trials[i].beta == of_cuda.trials[i].beta);
            CHECK(of_vulkan.trials[i].mean_squared_error == of_cuda.trials[i].mean_squared_error);
            CHECK(of_vulkan.trials[i].unresolved == of_cuda.trials[i].unresolved);
        }
        weft_test::check_error(weft::Errc::invalid_argument, "lattice_search_beta: the sample is empty",
                               [&] { weft::cuda::lattice_search_beta(code, {}); });
    });
}

TEST_CASE("host: options that CUDA cannot honour are refused by name, a stop ends a call") {
    on_device([](weft::Backend&) {
        const Limbs a(60, 1);
        Limbs out(60, 7);
        const auto refused = [&](const char* text, const weft::FieldHostOptions& options) {
            weft_test::check_error(weft::Errc::invalid_argument, text, [&] {
                weft::cuda::field_apply(kFp, FieldOp::neg, a, {}, {}, out, options);
            });
        };
        refused("field_neg: BatchOptions::path does not apply (got host, need automatic)",
                {.batch = {.path = weft::Path::host}});
        refused("field_neg: BatchOptions::ring_slots is out of range (got 17, need 1 to 16)",
                {.batch = {.ring_slots = 17}});
        refused("field_neg: FieldHostOptions::shader does not apply (got limbs32, need automatic)",
                {.shader = weft::FieldShader::limbs32});
        std::stop_source stop;
        stop.request_stop();
        weft_test::check_error(weft::Errc::cancelled, "field_neg: cancelled by its stop token", [&] {
            weft::cuda::field_apply(kFp, FieldOp::neg, a, {}, {}, out,
                                    {.batch = {.cancel = stop.get_token()}});
        });
        CHECK(out == Limbs(60, 7));
        const std::vector<float> x(64, 1);
        std::vector<std::uint8_t> codes(128);
        weft_test::check_error(weft::Errc::invalid_argument,
                               "lattice_encode: BatchOptions::mode does not apply", [&] {
                                   weft::cuda::lattice_encode(
                                       {}, x, codes, {}, {.batch = {.mode = weft::BatchMode::sequential}});
                               });
    });
}

TEST_CASE("host: chunks, slots and threads that are asked for are obeyed, with the same results") {
    on_device([](weft::Backend&) {
        constexpr std::size_t kElements = 100'000;
        const Limbs a = random_elements(kElements, 6), b = random_elements(kElements, 7);
        const Limbs want = expected(FieldOp::add, a, b);
        Limbs out(a.size());
        const auto add = [&](const weft::BatchOptions& batch) {
            std::fill(out.begin(), out.end(), 0u);
            const weft::OpReport report =
                weft::cuda::field_apply(kFp, FieldOp::add, a, b, {}, out, {.batch = batch});
            CHECK(out == want);
            return report;
        };
        CHECK(add({}).chunks == 1);
        CHECK(add({}).ring_slots == 4);
        const weft::OpReport of_call = add({.chunk_elements = 1'000, .ring_slots = 2});
        CHECK(of_call.chunks == 100);
        CHECK(of_call.chunk_elements == 1'000);
        CHECK(of_call.ring_slots == 2);
        for (const std::uint32_t threads : {1u, 5u, 0u}) {
            weft::cuda::set_host_settings(
                {.chunk_elements = 30'000, .ring_slots = 1, .copy_threads = threads});
            const weft::OpReport of_process = add({});
            CHECK(of_process.chunks == 4);
            CHECK(of_process.ring_slots == 1);
            CHECK(add({.chunk_elements = 50'000}).chunks == 2);  // a call wins
        }
        // Totals of many small chunks.
        Limbs sum(6), sum_of_one(6);
        weft::cuda::field_apply(kFp, FieldOp::sum, a, {}, {}, sum, {.batch = {.chunk_elements = 777}});
        weft::cuda::set_host_settings({});
        weft::cuda::field_apply(kFp, FieldOp::sum, a, {}, {}, sum_of_one);
        CHECK(sum == sum_of_one);
        weft_test::check_error(weft::Errc::invalid_argument,
                               "ring_slots (WEFT_SLOTS) is out of range (got 17",
                               [] { weft::cuda::set_host_settings({.ring_slots = 17}); });
    });
}

TEST_CASE("host: lattice chunks keep whole words of statuses, and encode chunks whole samples") {
    on_device([](weft::Backend&) {
        const std::vector<float> x = normal_values(std::size_t{8} * 10'000, 9);
        const weft::LatticeCode code{.lattice = weft::Lattice::e8, .q = 4, .levels = 2, .max_retries = 3};
        std::vector<float> one(x.size()), many(x.size());
        std::vector<std::uint8_t> status_one(10'000), status_many(10'000);
        weft::cuda::lattice_quantize(code, x, one, status_one);
        const weft::OpReport report =
            weft::cuda::lattice_quantize(code, x, many, status_many, {.batch = {.chunk_elements = 100}});
        CHECK(report.chunk_elements == 96);
        CHECK(one == many);
        CHECK(status_one == status_many);
        const weft::StateShape shape{.samples = 1'000, .qubits = 5};
        std::vector<float> angles(5'000, 0.3f);
        std::vector<weft::c32> states(shape.amplitudes()), cut(shape.amplitudes());
        weft::cuda::encode(weft::EncodeMethod::angle, angles, states, shape);
        CHECK(weft::cuda::encode(weft::EncodeMethod::angle, angles, cut, shape,
                                 {.batch = {.chunk_elements = 7}})
                  .chunks == 143);
        CHECK(std::memcmp(states.data(), cut.data(), states.size() * sizeof states[0]) == 0);
    });
}
