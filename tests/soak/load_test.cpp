// SPDX-License-Identifier: Apache-2.0
// Many objects of each kind, one after the other and simultaneously: memory and counters stop changing.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "soak/scale.hpp"
#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Path;
using weft::Program;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlainMemory = false;  // a sanitizer keeps freed memory
#else
constexpr bool kPlainMemory = true;
#endif

struct Weight {
    weft::Counters counters;
    weft::MemoryReport memory;
    std::uint64_t resident = 0;
};

Weight weigh(const weft::Backend& backend) {
    return {backend.counters(), backend.memory(), resident_bytes()};
}

void check_same(const Weight& before, const Weight& after) {
    CHECK(before.counters.objects_created == after.counters.objects_created);
    CHECK(before.counters.memory_allocations == after.counters.memory_allocations);
    CHECK(before.memory.live_bytes == after.memory.live_bytes);
    CHECK(before.memory.live_buffers == after.memory.live_buffers);
    CHECK(before.memory.block_bytes == after.memory.block_bytes);
    CHECK(before.memory.blocks == after.memory.blocks);
    if (kPlainMemory) CHECK(after.resident < before.resident + 4 * kMiB);
}

constexpr std::size_t kSizes[] = {1, 3, 64, 65, 1000, 4096, 7777, 20000, 2, 31, 500, 12345};

}  // namespace

TEST_CASE("soak: jobs of mixed sizes through a pipeline, memory and counters at rest") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({std::begin(kSizes), std::end(kSizes)});
        const std::size_t rounds = 100000 / std::size(kSizes);
        weft::JobPipeline pipeline(backend, program, {.path = Path::staged});
        Weight before;
        for (std::size_t round = 0; round < rounds; ++round) {
            if (round == rounds / 5) before = weigh(backend);
            if (round % 50 == 0) work.clear();
            std::vector<weft::JobToken> tokens;
            for (const weft::Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
            if (round % 2 == 0) std::reverse(tokens.begin(), tokens.end());
            for (const weft::JobToken token : tokens) pipeline.wait(token);
            if (round % 50 == 0) REQUIRE(work.right());
        }
        CHECK(work.right());
        CHECK(pipeline.report().jobs == rounds * std::size(kSizes));
        // Timing decides how jobs are joined to bundles, so new kinds of bundles may be recorded late.
        const Weight after = weigh(backend);
        CHECK(before.memory.live_bytes == after.memory.live_bytes);
        CHECK(before.memory.blocks == after.memory.blocks);
        if (kPlainMemory) CHECK(after.resident < before.resident + 8 * kMiB);
    });
}

TEST_CASE("soak: batches of mixed sizes on every path, memory and counters at rest") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        constexpr Path kPaths[] = {Path::automatic, Path::staged, Path::direct, Path::host};
        AffineWork work({std::begin(kSizes), std::end(kSizes)});
        weft::HostBuffer<std::uint32_t> data(backend, 5000);
        const Program in_place(backend, kInPlace);
        const weft::Job pinned{.inputs = {data}, .outputs = {data}, .elements = 5000};
        const std::size_t rounds = 100000 / std::size(kSizes);
        Weight before;
        for (std::size_t round = 0; round < rounds; ++round) {
            if (round == 40) before = weigh(backend);
            weft::run_batch(backend, program, work.jobs, {.path = kPaths[round % 4]});
            weft::run_batch(backend, in_place, {&pinned, 1}, {.path = kPaths[round % 4]});
        }
        CHECK(work.right());
        check_same(before, weigh(backend));
    });
}

TEST_CASE("soak: a stream that never ends, buffers that are made and destroyed") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        weft::Stream stream(backend);
        const auto in = words(1000);
        // Descriptor sets of destroyed buffers are kept up to a number, which the warm-up must exceed.
        const std::size_t rounds = scaled(600, 40000), warm = scaled(100, 10000);
        Weight before;
        for (std::size_t round = 0; round < rounds; ++round) {
            if (round == warm) before = weigh(backend);
            const std::size_t n = 1 + (round % 10) * 100;
            weft::Buffer<std::uint32_t> a(backend, 1000, "come"), b(backend, 1000, "go");
            stream.upload(std::span(in).first(n), a.view(0, n));
            stream.dispatch(program, {a.view(0, n), b.view(0, n)}, n, AffineParameters{3, 5});
            if (round % 7 == 0) stream.submit();
            std::vector<std::uint32_t> out(n);
            stream.download<std::uint32_t>(b.view(0, n), std::span(out));
            REQUIRE(out[n - 1] == in[n - 1] * 3 + 5 + static_cast<std::uint32_t>(n - 1));
        }
        const Weight after = weigh(backend);
        CHECK(before.memory.live_buffers == after.memory.live_buffers);
        CHECK(before.memory.live_bytes == after.memory.live_bytes);
        CHECK(before.memory.block_bytes == after.memory.block_bytes);
        CHECK(before.counters.memory_allocations == after.counters.memory_allocations);
        if (kPlainMemory) CHECK(after.resident < before.resident + 4 * kMiB);
    });
}

TEST_CASE("soak: backends made and destroyed, one after the other") {
    if (!make_backend()) return;
    const std::size_t rounds = 1000, warm = rounds / 4;
    std::uint64_t before = 0;
    weft::Config config = weft::Config::from_env();
    config.validation = weft::Validation::off;
    for (std::size_t round = 0; round < rounds; ++round) {
        if (round == warm) before = resident_bytes();
        weft::Backend backend(config);
        check_usable(backend);
    }
    // Drivers and the loader keep some memory for each instance.
    if (kPlainMemory) CHECK(resident_bytes() < before + 4 * kMiB + (rounds - warm) * 64 * 1024);
}

TEST_CASE("soak: sixteen threads on one backend") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        const std::size_t rounds = scaled(30, 600);
        std::vector<std::string> failures(16);
        const auto hammer = [&](std::size_t t) {
            weft::JobPipeline pipeline(backend, program, {.ring_slots = 2});
            weft::Stream stream(backend);
            for (std::size_t round = 0; round < rounds; ++round) {
                const auto seed = static_cast<std::uint32_t>(100 * t + round);
                AffineWork batch({10 * (t + 1), 3000}, seed), piped({200, 1}, seed + 7);
                std::vector<weft::JobToken> tokens;
                for (const weft::Job& job : piped.jobs) tokens.push_back(pipeline.submit(job));
                weft::run_batch(backend, program, batch.jobs,
                                {.path = t % 2 == 0 ? Path::staged : Path::automatic});
                weft::HostBuffer<std::uint32_t> host(backend, 50);
                weft::Buffer<std::uint32_t> buffer(backend, 50);
                stream.fill(buffer.view(), seed);
                if (stream.download(buffer)[49] != seed) failures[t] = "wrong fill";
                for (const weft::JobToken token : tokens) pipeline.wait(token);
                if (!batch.right() || !piped.right()) failures[t] = "wrong result";
                if (t == 0) (void)backend.memory();
                if (t == 1 && round % 3 == 0) backend.trim();
                if (t == 2) backend.wait_idle();
                if (t == 3) (void)backend.counters();
                if (t == 4)
                    const Program again(backend, round % 2 == 0 ? std::span<const std::uint32_t>(kInPlace)
                                                                : std::span<const std::uint32_t>(kSlow));
                if (t == 5) backend.save_pipeline_cache();
            }
        };
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < failures.size(); ++t)
            threads.emplace_back([&, t] {
                try {
                    hammer(t);
                } catch (const std::exception& error) {
                    failures[t] = error.what();
                }
            });
        for (std::thread& thread : threads) thread.join();
        for (const std::string& failure : failures) CHECK(failure == "");
    });
}

TEST_CASE("soak: 20,000 jobs through several devices, one by one and in batches, memory at rest") {
    on_devices(1024, [](weft::Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work({std::begin(kSizes), std::end(kSizes)});
        constexpr std::size_t kRounds = 20000 / std::size(kSizes) / 2 + 1;
        weft::JobPipeline pipeline(devices, program);
        std::vector<Weight> before;
        for (std::size_t round = 0; round < kRounds; ++round) {
            if (round == kRounds / 2)
                for (std::size_t i = 0; i < devices.size(); ++i) before.push_back(weigh(devices[i]));
            if (round % 50 == 0) work.clear();
            for (const weft::Job& job : work.jobs) pipeline.submit(job);
            pipeline.wait_all();
            if (round % 50 == 0) REQUIRE(work.right());
            weft::run_batch(devices, program, work.jobs);
            if (round % 50 == 0) REQUIRE(work.right());
        }
        CHECK(work.right());
        CHECK(pipeline.report().jobs == kRounds * std::size(kSizes));
        // Which device does what depends on timing, so a device may meet a new kind of bundle late.
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const Weight after = weigh(devices[i]);
            CHECK(after.memory.live_buffers == before[i].memory.live_buffers);
            if (kPlainMemory) CHECK(after.resident < before[i].resident + 16 * kMiB);
        }
    });
}
