// SPDX-License-Identifier: Apache-2.0
// Page-locked memory by Vulkan or by the CUDA driver library: the results are the same, and the allocator is
// reported.
#include <string>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/open_descriptors.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;

namespace {

constexpr std::size_t kCount = std::size_t{3} << 20;  // words: blocks large enough for the CUDA allocator

weft::Config allocated_by(weft::HostAllocator by) {
    weft::Config config = weft::Config::from_env();
    config.path = weft::Path::staged;
    config.host_allocator = by;
    return config;
}

bool is_cuda(const std::string& allocator) {
    return allocator == "cuda";
}

/// Runs jobs through staging memory and from a HostBuffer.
void check_batches(weft::Backend& backend) {
    const std::string want = is_cuda(backend.host_allocator()) ? "cuda" : "vulkan";
    const weft::Program program(backend, kAffine);
    AffineWork work({kCount, kCount, 1000});
    CHECK(weft::run_batch(backend, program, work.jobs).host_memory == want);
    CHECK(work.right());
    weft::HostBuffer<std::uint32_t> in(backend, kCount), out(backend, kCount);
    std::copy(work.in(0).begin(), work.in(0).end(), in.begin());
    const weft::Job job{.inputs = {in.span()},
                        .outputs = {out.span()},
                        .elements = kCount,
                        .parameters = AffineParameters{2, 1}};
    CHECK(weft::run_batch(backend, program, {&job, 1}).host_memory == want);
    for (const std::size_t i : {std::size_t{0}, kCount / 2, kCount - 1})
        CHECK(out[i] == in[i] * 2 + 1 + static_cast<std::uint32_t>(i));
}

}  // namespace

TEST_CASE("host allocator: Vulkan if it was requested") {
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.plan().host_allocator == "vulkan");
            CHECK(backend.host_allocator() == "vulkan");
            check_batches(backend);
        },
        allocated_by(weft::HostAllocator::vulkan));
}

TEST_CASE("host allocator: the one that the plan selected, or the reason for another one") {
    on_device(
        [](weft::Backend& backend) {
            const std::string planned = backend.plan().host_allocator, used = backend.host_allocator();
            CAPTURE(used);
            if (is_cuda(planned))
                CHECK((is_cuda(used) || used.starts_with("vulkan (")));
            else
                CHECK(used == "vulkan");
            check_batches(backend);
        },
        allocated_by(weft::HostAllocator::automatic));
}

TEST_CASE("host allocator: backends and buffers leave no descriptor behind") {
    const auto once = [] {
        on_device(
            [](weft::Backend& backend) {
                for (int i = 0; i < 4; ++i) weft::HostBuffer<std::uint32_t>(backend, kCount)[0] = 1;
            },
            allocated_by(weft::HostAllocator::automatic));
    };
    once();  // opens the descriptors that loader and drivers keep
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 5; ++i) once();
    CHECK(open_descriptors() == before);
}

TEST_CASE("host allocator: if the transfer family has two queues, each direction has one") {
    on_device(
        [](weft::Backend& backend) {
            if (backend.device().vendor_id != 0x10de || !backend.plan().split_queues) return;
            const weft::Program program(backend, kAffine);
            AffineWork work({kCount, kCount});
            const std::string queues = weft::run_batch(backend, program, work.jobs).queues;
            CAPTURE(queues);
            CHECK(queues.find("upload family 1 queue 0") != std::string::npos);
            if (backend.host_allocator() == "cuda")
                CHECK(queues.find("download family 1 queue 1") != std::string::npos);
        },
        allocated_by(weft::HostAllocator::automatic));
}
