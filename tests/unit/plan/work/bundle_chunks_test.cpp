// SPDX-License-Identifier: Apache-2.0
// How a batch is cut into chunks and which route its bytes take. The figures may change; the tests state the
// rules that must always hold.
#include <vector>

#include <doctest/doctest.h>

#include "plan/work/bundle.hpp"
#include "support/snapshots.hpp"

namespace {

using namespace weft::core;
using namespace weft::test;
using weft::BatchMode;
using weft::BatchOptions;
using weft::Config;
using weft::DeviceLimits;
using weft::Job;
using weft::Path;

alignas(64) std::byte memory[64];  // spans are larger than this, because pointers are never dereferenced here

BatchSettings settings_for(const DeviceSnapshot& device, const BatchOptions& options = {},
                           std::uint64_t total_bytes = kGiB, const Config& config = {}) {
    return settle_options(plan_device({device}, config, HostFacts{16}), device, options, total_bytes);
}

TEST_CASE("a forced path is used at every size, as the device's memory allows") {
    struct Expected {
        Path path;
        Route separate, unified;
    };
    const Expected cases[] = {
        {Path::staged, {Path::staged, true, false, false}, {Path::staged, true, false, false}},
        {Path::direct, {Path::direct, false, true, false}, {Path::direct, false, false, false}},
        {Path::host, {Path::host, false, false, false}, {Path::host, false, false, false}},
        {Path::imported, {Path::imported, true, false, true}, {Path::imported, false, false, true}},
    };
    for (const Expected& c : cases) {
        for (const DeviceSnapshot& device : {h100(), amd_full_bar(), intel_integrated(), lavapipe()}) {
            const BatchSettings s = settings_for(device, {.path = c.path});
            const Route& expected = has_unified_memory(device) ? c.unified : c.separate;
            for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kMiB, 4 * kGiB}) {
                for (const bool pinned : {false, true}) {
                    const Route route = choose_route(s, device, bytes, pinned);
                    CAPTURE(device.name);
                    CHECK(route.path == expected.path);
                    CHECK(route.copies == expected.copies);
                    CHECK(route.mapped_device == expected.mapped_device);
                    CHECK(route.import == expected.import);
                }
            }
        }
    }
}

TEST_CASE("automatic paths follow size and source") {
    for (const DeviceSnapshot& device : {h100(), amd_small_bar(), intel_integrated(), lavapipe()}) {
        CAPTURE(device.name);
        BatchSettings s = settings_for(device);
        s.transfer.small = Path::host;
        s.transfer.large_pinned = Path::imported;
        s.transfer.large_ordinary = Path::staged;
        s.transfer.small_bytes = 1000;
        for (const bool pinned : {false, true}) {
            CHECK(choose_route(s, device, 0, pinned).path == Path::host);
            CHECK(choose_route(s, device, 1000, pinned).path == Path::host);
        }
        CHECK(choose_route(s, device, 1001, true).path == Path::imported);
        CHECK(choose_route(s, device, 1001, false).path == Path::staged);
    }
}

TEST_CASE("large jobs are copied on a card and never with unified memory") {
    for (const bool pinned : {false, true}) {
        const Route card = choose_route(settings_for(h100()), h100(), kGiB, pinned);
        CHECK(card.path == Path::staged);
        CHECK(card.copies);
        for (const DeviceSnapshot& device : {lavapipe(), intel_integrated()}) {
            CAPTURE(device.name);
            const Route shared = choose_route(settings_for(device), device, kGiB, pinned);
            CHECK_FALSE(shared.copies);
            CHECK_FALSE(shared.mapped_device);
            CHECK_FALSE(choose_route(settings_for(device), device, 64, pinned).copies);
        }
    }
    const Route ordinary = choose_route(settings_for(lavapipe()), lavapipe(), kGiB, false);
    CHECK(ordinary.path == Path::imported);
    CHECK(ordinary.import);
    Config config;
    config.device_local = true;
    CHECK(choose_route(settings_for(lavapipe(), {}, kGiB, config), lavapipe(), 64, true).path ==
          Path::staged);
}

const std::vector<weft::Binding> kBindings = {{0, weft::Access::read, ""}, {1, weft::Access::write, ""}};

ProgramNeeds needs_of(std::uint32_t elements_per_workgroup = 256, std::uint32_t max_workgroups = 0) {
    return {kBindings, 8, elements_per_workgroup, max_workgroups, "copy"};
}

DeviceLimits wide_limits() {
    DeviceLimits limits;
    limits.max_storage_buffer_range = 0xffffffffu;
    limits.max_buffer_bytes = 1024 * kGiB;
    limits.max_workgroup_count[0] = 0x7fffffff;
    return limits;
}

/// Bytes of one element in the input and in the output.
Job job_of(std::uint64_t elements, std::uint64_t in, std::uint64_t out) {
    Job job;
    job.elements = elements;
    job.inputs = {{memory, elements * in}};
    job.outputs = {{memory, elements * out}};
    return job;
}

/// Requests a chunk of exactly this many elements.
BatchSettings exactly(std::uint64_t chunk_elements) {
    BatchSettings s;
    s.chunk_elements = chunk_elements;
    s.chunk_exact = true;
    return s;
}

std::uint64_t limit_of(const ProgramNeeds& shape, const DeviceLimits& limits, const BatchSettings& settings,
                       const Job& job, bool copies) {
    return chunk_limit(shape, limits, settings, job, copies);
}

TEST_CASE("a requested chunk is used unchanged") {
    for (const std::uint64_t chunk : {1u, 7u, 524288u, 0xffffffffu})
        for (const bool copies : {false, true})
            CHECK(limit_of(needs_of(), wide_limits(), exactly(chunk), job_of(1000, 1, 1), copies) == chunk);
}

TEST_CASE("a chunk stays within what one dispatch can count") {
    DeviceLimits limits = wide_limits();
    limits.max_workgroup_count[0] = 65535;
    const Job job = job_of(1000, 1, 1);
    CHECK(limit_of(needs_of(1), limits, exactly(0xffffffffu), job, true) == 65535);
    CHECK(limit_of(needs_of(64), limits, exactly(0xffffffffu), job, true) == 65535u * 64);
    CHECK(limit_of(needs_of(64), limits, exactly(100), job, true) == 100);
    ProgramNeeds folding = needs_of(1);
    folding.folds = true;
    limits.max_workgroup_count[1] = 7;
    CHECK(limit_of(folding, limits, exactly(0xffffffffu), job, true) == 65535u * 7);
    folding.elements_per_workgroup = 0x80000000;  // a product beyond 64 bits would overflow to 0
    limits.max_workgroup_count[0] = limits.max_workgroup_count[1] = 0xffffffffu;
    CHECK(limit_of(folding, limits, exactly(0xffffffffu), job, true) == 0xffffffffu);
    // A shader that loops takes any number of elements with any number of workgroups.
    CHECK(limit_of(needs_of(1, 2112), limits, exactly(0xffffffffu), job, true) == 0xffffffffu);
    // In a job of this length no index of a chunk may exceed 32 bits.
    CHECK(limit_of(needs_of(1, 2112), limits, exactly(0xffffffffu), job_of(0xffffffffu, 0, 0), true) ==
          0x80000000u);
}

TEST_CASE("a chunk stays within what one binding can span") {
    DeviceLimits limits = wide_limits();
    limits.max_storage_buffer_range = 1000;
    for (const bool copies : {false, true}) {
        CHECK(limit_of(needs_of(), limits, exactly(5000), job_of(100000, 48, 4), copies) == 1000 / 48);
        CHECK(limit_of(needs_of(), limits, exactly(5000), job_of(100000, 4, 48), copies) == 1000 / 48);
        CHECK(limit_of(needs_of(), limits, exactly(5000), job_of(10, 1000, 4), copies) == 1);
    }
    Job table = job_of(100000, 1, 1);
    table.inputs.push_back({memory, 900, true});  // bound whole for every chunk
    CHECK(limit_of(needs_of(), limits, exactly(5000), table, true) == 1000);
}

TEST_CASE("the spans of a chunk fit one buffer together") {
    DeviceLimits limits = wide_limits();
    limits.max_storage_buffer_range = limits.max_buffer_bytes = kGiB;
    limits.storage_buffer_offset_alignment = 256;
    Job job = job_of(std::uint64_t{1} << 30, 4, 4);
    job.inputs = {{memory, 16 * kGiB}, {memory, 16 * kGiB}, {memory, 512 * kMiB, true}};
    const std::uint64_t limit = limit_of(needs_of(), limits, exactly(0xffffffffu), job, true);
    CHECK(limit * 32 + 512 * kMiB + 3 * 256 <= kGiB);
    CHECK((limit + 100) * 32 + 512 * kMiB > kGiB);  // only slightly less than fits
    job.inputs = {{memory, std::uint64_t{1} << 30}};
    job.outputs = {{memory, 16 * kGiB}, {memory, 48 * kGiB}};
    const std::uint64_t out = limit_of(needs_of(), limits, exactly(0xffffffffu), job, true);
    CHECK(out * 64 + 2 * 256 <= kGiB);
    CHECK((out + 100) * 64 > kGiB);
}

TEST_CASE("smaller chunks keep a pipeline busy, but only if bytes are copied simultaneously") {
    const BatchSettings pipelined = settings_for(h100(), {}, 64 * kMiB);
    BatchSettings sequential = settings_for(h100(), {.mode = BatchMode::sequential}, 64 * kMiB);
    const Job job = job_of(1u << 20, 96, 48);
    const std::uint64_t small = limit_of(needs_of(), wide_limits(), pipelined, job, true);
    CHECK(small < 524288);
    CHECK(small >= 1024);
    CHECK(limit_of(needs_of(), wide_limits(), pipelined, job, false) == 524288);
    CHECK(limit_of(needs_of(), wide_limits(), sequential, job, true) == 524288);
    // More bytes in total never give smaller chunks.
    std::uint64_t previous = 0;
    for (std::uint64_t total = kMiB; total <= 1024 * kGiB; total *= 2) {
        const std::uint64_t limit =
            limit_of(needs_of(), wide_limits(), settings_for(h100(), {}, total), job, true);
        CHECK(limit >= previous);
        previous = limit;
    }
    CHECK(previous == 524288);
}

TEST_CASE("a chunk limit is never zero and never overflows") {
    const BatchSettings huge = settings_for(h100(), {}, std::uint64_t{1} << 50);
    CHECK(limit_of(needs_of(), wide_limits(), huge, job_of(0xffffffffu, 16, 16), true) == 524288);
    CHECK(limit_of(needs_of(), wide_limits(), huge, job_of(1, 1, 1), true) >= 1);
    CHECK(limit_of(needs_of(), DeviceLimits{}, exactly(1), job_of(1, 1, 1), true) == 1);
    const BatchSettings tiny = settings_for(h100(), {}, 1);
    CHECK(limit_of(needs_of(), wide_limits(), tiny, job_of(1, 1 << 30, 1 << 30), true) == 1);
    Job tables = job_of(1000, 1, 1);
    tables.inputs = {{memory, 3, true}};
    tables.outputs = {};
    CHECK(limit_of(needs_of(), wide_limits(), huge, tables, true) == 524288);
    Job nothing;
    nothing.elements = 1000;
    CHECK(limit_of(needs_of(), wide_limits(), huge, nothing, true) == 524288);
}

TEST_CASE("small jobs share a bundle while every slot has work") {
    BatchSettings s = settings_for(h100(), {}, 100 * kGiB);
    CHECK(bundle_limit(s) == s.transfer.bundle_bytes);
    s.total_bytes = 0;
    CHECK(bundle_limit(s) == 0);
    s.total_bytes = 3 * kMiB;
    CHECK(bundle_limit(s) * s.slots <= s.total_bytes);  // at least one bundle a slot
    CHECK(bundle_limit(s) > 0);
    CHECK(bundle_limit(settings_for(h100(), {.mode = BatchMode::sequential}, 100 * kGiB)) == 0);
}

TEST_CASE("bytes of a job count every span, broadcast ones once") {
    Job job = job_of(10, 4, 8);
    job.inputs.push_back({memory, 37, true});
    job.outputs.push_back({memory, 20});
    CHECK(job_bytes_in(job) == 77);
    CHECK(job_bytes_out(job) == 100);
    CHECK(job_bytes_in({}) == 0);
}

}  // namespace

TEST_CASE("a batch tapers: small chunks first and last, whole chunks between, no tiny chunks, nothing lost") {
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kElement = 144, kJob = 262144, kJobs = 8;
    std::uint64_t started = 0, largest = 0;
    const std::uint64_t total = kJob * kJobs * kElement;
    std::vector<std::uint64_t> chunks;
    for (std::uint64_t job = 0; job < kJobs; ++job) {
        for (std::uint64_t left = kJob; left != 0;) {
            const std::uint64_t count = weft::core::taper(300000, left, kElement, started, total - started);
            REQUIRE(count >= 1);
            REQUIRE(count <= left);
            CHECK(count * kElement >= 5 * kMiB);  // half of the least chunk, because a rest may be halved
            if (count != left) CHECK(count % 64 == 0);
            chunks.push_back(count);
            left -= count;
            started += count * kElement;
            largest = std::max(largest, count);
        }
    }
    CHECK(started == total);
    CHECK(largest == kJob);
    CHECK(chunks.front() * kElement <= 12 * kMiB);
    CHECK(chunks.back() * kElement <= 12 * kMiB);
    CHECK(chunks.size() <= 14);
}

TEST_CASE("a taper never exceeds the limit or the job, for every element size") {
    CHECK(weft::core::taper(1000, 5000, 144, 0, 720000) == 1000);
    CHECK(weft::core::taper(1000, 700, 144, 0, 100800) == 700);
    CHECK(weft::core::taper(1000, 5000, 0, 0, 0) == 1000);
    CHECK(weft::core::taper(10, 5, std::uint64_t{1} << 40, 0, 5) == 1);
    CHECK(weft::core::taper(1, 5, 1, 0, 5) == 1);
}
