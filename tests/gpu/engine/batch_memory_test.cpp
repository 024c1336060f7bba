// SPDX-License-Identifier: Apache-2.0
// Batches larger than one binding, one dispatch or the available memory; buffers that are too large for any
// device.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Errc;
using weft::Path;
using weft::Program;

namespace {

constexpr std::uint32_t kLookup[] = {
#include "shaders/lookup.spv.inc"
};

weft::Config limited(std::uint64_t bytes) {
    weft::Config config = weft::Config::from_env();
    config.memory_limit = bytes;
    return config;
}

/// A separate mapping of pages.
class Pages {
  public:
    explicit Pages(std::size_t bytes, void* at = nullptr)
        : memory(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes_(bytes) {
        REQUIRE(memory != MAP_FAILED);
    }
    ~Pages() { munmap(memory, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    void make_read_only() { REQUIRE(mprotect(memory, bytes_, PROT_READ) == 0); }
    void* memory;

  private:
    std::size_t bytes_;
};

const weft::MemoryReport::Named* find(const weft::MemoryReport& report, const std::string& name) {
    const auto it = std::find_if(report.names.begin(), report.names.end(),
                                 [&](const auto& named) { return named.name == name; });
    return it == report.names.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("memory: a batch continues with smaller chunks when memory runs out, and the results are right") {
    for (const std::uint64_t limit :
         {std::uint64_t{32} << 20, std::uint64_t{8} << 20, std::uint64_t{2} << 20, std::uint64_t{1} << 20})
        for (const Path path : {Path::staged, Path::direct, Path::host}) {
            CAPTURE(limit);
            CAPTURE(weft::to_string(path));
            on_device(
                [&](weft::Backend& backend) {
                    const Program program(backend, kAffine);
                    AffineWork work({1u << 20, 1000, 1u << 20, 5});
                    for (int round = 0; round < 2; ++round) {
                        work.clear();
                        weft::run_batch(backend, program, work.jobs, {.path = path});
                        CHECK(work.right());
                        CHECK(backend.memory().block_bytes <= limit);
                    }
                },
                limited(limit));
        }
}

TEST_CASE("memory: no room at all is out_of_memory, and the backend stays usable") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            AffineWork work({100000, 10});
            for (const Path path : {Path::staged, Path::direct})
                check_error(Errc::out_of_memory, "Config::memory_limit",
                            [&] { weft::run_batch(backend, program, work.jobs, {.path = path}); });
            CHECK(backend.memory().live_buffers == 0);
            check_error(Errc::out_of_memory, "need 2097152",
                        [&] { weft::Buffer<std::byte> buffer(backend, 2u << 20); });
            weft::Buffer<std::byte> fits(backend, 1000);
            CHECK(fits.size() == 1000);
        },
        limited(64u << 10));
}

TEST_CASE("memory: elements so large that only few fit at a time still run") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            // For weft there are 20 elements of 1 MiB each. The shader works on words, and processes the
            // first `count` words of a chunk.
            const std::vector<std::uint32_t> in = words(20u << 18);
            std::vector<std::uint32_t> out(in.size());
            weft::Job job{{in}, {out}, 20, AffineParameters{5, 1}};
            weft::run_batch(backend, program, {&job, 1}, {.path = Path::staged});
            // The first word of the job is in the first chunk, whatever the size of this chunk.
            CHECK(out[0] == in[0] * 5 + 1);
        },
        limited(12u << 20));
}

TEST_CASE("memory: a broadcast input that leaves no room is out_of_memory, not an endless search") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kLookup);
            const auto in = words(1000), table = words(3u << 20);
            std::vector<std::uint32_t> out(in.size());
            weft::Job job{{in, {table, true}}, {out}, in.size()};
            check_error(Errc::out_of_memory, "run_batch", [&] {
                weft::run_batch(backend, program, {&job, 1}, {.path = Path::staged});
            });
            check_usable(backend);
        },
        limited(8u << 20));
}

TEST_CASE("memory: a job of a pipeline that finds no room fails alone") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kLookup);
            const auto in = words(1000), small = words(10), large = words(3u << 20);
            std::vector<std::uint32_t> out(in.size()), lost(in.size()), again(in.size());
            weft::JobPipeline pipeline(backend, program, {.path = Path::staged});
            const auto first = pipeline.submit({{in, {small, true}}, {out}, in.size()});
            const auto bad = pipeline.submit({{in, {large, true}}, {lost}, in.size()});
            const auto last = pipeline.submit({{in, {small, true}}, {again}, in.size()});
            CHECK(pipeline.wait(first));
            CHECK(pipeline.wait(last));
            CHECK(out == again);
            CHECK(out[7] == small[in[7] % 10]);
            check_error(Errc::out_of_memory, "run_batch", [&] { pipeline.wait(bad); });
            CHECK(pipeline.state(bad) == weft::JobState::failed);
            CHECK_NOTHROW(pipeline.wait_all());  // the failure was waited for
            const auto unseen = pipeline.submit({{in, {large, true}}, {lost}, in.size()});
            check_error(Errc::out_of_memory, "run_batch", [&] { pipeline.wait_all(); });
            CHECK(pipeline.state(unseen) == weft::JobState::failed);
            CHECK_NOTHROW(pipeline.wait_all());  // reported once
        },
        limited(8u << 20));
}

TEST_CASE("memory: buffers beyond any device are refused by size") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t most = backend.device().limits.max_buffer_bytes;
        check_error(Errc::invalid_argument, std::to_string(most),
                    [&] { weft::Buffer<std::byte> buffer(backend, most + 1); });
        check_error(Errc::invalid_argument, std::to_string(most),
                    [&] { weft::HostBuffer<std::byte> buffer(backend, most + 1); });
        for (const std::size_t count :
             {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 8 + 1})
            check_error(Errc::invalid_argument, std::to_string(count),
                        [&] { weft::Buffer<std::uint64_t> buffer(backend, count); });
        const weft::Buffer<std::uint32_t> buffer(backend, 100);
        check_error(Errc::invalid_argument, "first 90 count 11", [&] { buffer.view(90, 11); });
        check_error(Errc::invalid_argument, "first 101 count 0", [&] { buffer.view(101, 0); });
        check_error(Errc::invalid_argument, "count 18446744073709551615",
                    [&] { buffer.view(1, std::numeric_limits<std::size_t>::max()); });
        weft::Buffer<std::uint32_t> nothing(backend, 0);
        CHECK(nothing.size() == 0);
        check_usable(backend);
    });
}

TEST_CASE("memory: spans beyond one binding are cut, on every path") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t range = backend.device().limits.max_storage_buffer_range;
        if (range > std::uint64_t{256} << 20) return;  // the test would take too much host memory
        const Program program(backend, kAffine);
        const std::size_t count = static_cast<std::size_t>(range / 4) + 1000;
        AffineWork work({count});
        for (const Path path : {Path::automatic, Path::staged, Path::direct}) {
            CAPTURE(weft::to_string(path));
            work.clear();
            const auto report = weft::run_batch(
                backend, program, work.jobs, {.path = path, .chunk_elements = 0xffffffff, .ring_slots = 1});
            CHECK(work.right());
            CHECK(report.chunks >= 2);
            CHECK(report.chunk_elements <= range / 4);
            backend.trim();
        }
    });
}

TEST_CASE("memory: more workgroups than one axis allows are cut by a batch") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t most = backend.device().limits.max_workgroup_count[0];
        if (most > 70000) return;
        // A workgroup has one element, so only its first thread has work.
        const Program program(backend, kAffine, {.elements_per_workgroup = 1});
        AffineWork work({static_cast<std::size_t>(most) + 10});
        const auto report = weft::run_batch(backend, program, work.jobs, {.chunk_elements = most + 10});
        CHECK(work.right());
        CHECK(report.chunks == 2);
        CHECK(report.chunk_elements == most);
    });
}

TEST_CASE("memory: figures rise and fall with the buffers, by name") {
    on_device([](weft::Backend& backend) {
        const auto before = backend.memory();
        {
            weft::Buffer<std::uint32_t> mine(backend, 1000, "mine");
            weft::Buffer<std::uint32_t> more(backend, 500, "mine");
            weft::HostBuffer<std::uint32_t> host(backend, 2000);
            const auto during = backend.memory();
            CHECK(during.live_buffers == before.live_buffers + 3);
            CHECK(during.live_bytes >= before.live_bytes + 14000);
            REQUIRE(find(during, "mine") != nullptr);
            CHECK(find(during, "mine")->live_count == 2);
            CHECK(find(during, "mine")->live_bytes >= 6000);
            REQUIRE(find(during, "host buffer") != nullptr);
            CHECK(find(during, "host buffer")->live_bytes >= 8000);
            CHECK(during.block_bytes >= during.live_bytes);
        }
        const auto after = backend.memory();
        CHECK(after.live_bytes == before.live_bytes);
        CHECK(after.live_buffers == before.live_buffers);
        CHECK(after.peak_bytes >= before.live_bytes + 14000);
        CHECK(find(after, "mine")->live_bytes == 0);
        CHECK(find(after, "mine")->peak_bytes >= 6000);
        backend.trim();
        CHECK(backend.memory().blocks == 0);
        CHECK(backend.memory().block_bytes == 0);
    });
}

TEST_CASE("memory: read-only pages serve as inputs on every path") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kCount = 1 << 19;
        const Program program(backend, kAffine);
        const auto in = words(kCount);
        Pages pages(4 * kCount);
        std::memcpy(pages.memory, in.data(), 4 * kCount);
        pages.make_read_only();
        std::vector<std::uint32_t> out(kCount), want(in);
        for (std::uint32_t i = 0; i < kCount; ++i) want[i] = in[i] * 7 + i;
        for (const Path path : {Path::automatic, Path::staged, Path::direct}) {
            std::fill(out.begin(), out.end(), 0u);
            weft::Job job{{{pages.memory, 4 * kCount}}, {out}, kCount, AffineParameters{7, 0}};
            weft::run_batch(backend, program, {&job, 1}, {.path = path});
            CHECK(out == want);
        }
    });
}

TEST_CASE("memory: pages that were unmapped and mapped again at the same address are imported again") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kCount = 1 << 19;
        const Program program(backend, kAffine);
        std::vector<std::uint32_t> out(kCount);
        void* at = nullptr;
        for (std::uint32_t round = 0; round < 4; ++round) {
            // Each size is different, so an earlier import fits only in part.
            const std::size_t count = kCount - 5000 * (round % 2);
            Pages pages(4 * count, at);
            at = pages.memory;
            const auto in = words(count, round + 1);
            std::memcpy(pages.memory, in.data(), 4 * count);
            weft::Job job{
                {{pages.memory, 4 * count}}, {std::span(out).first(count)}, count, AffineParameters{1, 0}};
            weft::run_batch(backend, program, {&job, 1});
            std::size_t wrong = 0;
            for (std::uint32_t i = 0; i < count; ++i) wrong += out[i] != in[i] + i ? 1u : 0u;
            CHECK(wrong == 0);
        }
    });
}
