// SPDX-License-Identifier: Apache-2.0
// Devices that no test machine has, simulated with lavapipe: several queues, memory that is not coherent,
// unusual limits.
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fault/script.hpp"

using namespace weft_test;
using weft::Errc;
using weft_fault::FakeDriver;
using weft_fault::FamilyLie;
using weft_fault::HeapLie;
using weft_fault::TypeLie;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = kMiB << 10;

const std::vector<HeapLie> kCardHeaps = {{kGiB, true}, {kGiB, false}};
const std::vector<TypeLie> kCardTypes = {{0, true}, {1, false, true, true}, {1, false, true, true, true}};

/// Letters: g graphics, c compute, t transfer.
FamilyLie family(std::uint32_t queues, const std::string& flags, std::uint32_t timestamp_bits = 64) {
    const auto has = [&](char letter) { return flags.find(letter) != std::string::npos; };
    return {queues, has('g'), has('c'), has('t'), timestamp_bits};
}

FakeDriver card(std::vector<FamilyLie> families) {
    return {.discrete = true, .heaps = kCardHeaps, .types = kCardTypes, .families = std::move(families)};
}

/// Runs body(Backend&) on the device as described, and checks that no object is left and no wrong use was
/// recorded.
template <class Body>
void on_lied(const std::string& name, const FakeDriver& fake, Body&& body,
             weft::Config config = fault_config()) {
    const Watchdog watchdog(name);
    CAPTURE(name);
    control().reset();
    control().lie(fake);
    {
        weft::Backend backend(config);
        body(backend);
        backend.trim();
        CHECK(backend.memory().live_buffers == 0);
    }
    check_nothing_left();
    control().reset();
}

void all_scripts(weft::Backend& backend) {
    for (const weft::Path path : {weft::Path::staged, weft::Path::host, weft::Path::automatic})
        for (const weft::QueueMode queues :
             {weft::QueueMode::single, weft::QueueMode::split, weft::QueueMode::automatic})
            script(backend, {"", path, queues});
}

}  // namespace

TEST_CASE("fake: separate queues of many kinds of families") {
    const struct {
        const char* name;
        std::vector<FamilyLie> families;
        std::size_t queues;
    } kCases[] = {
        {"transfer family of two", {family(16, "gct"), family(2, "t"), family(8, "ct")}, 3},
        {"transfer family of one, spare compute queue",
         {family(1, "gct"), family(1, "t"), family(2, "ct")},
         3},
        {"two transfer families", {family(1, "gct"), family(1, "t"), family(1, "t")}, 3},
        {"one transfer queue", {family(1, "gct"), family(1, "t")}, 2},
        {"no transfer family, three queues", {family(3, "gct")}, 3},
        {"compute without the transfer bit", {family(4, "gc")}, 3},
        {"one queue", {family(1, "gct")}, 1},
    };
    for (const auto& c : kCases)
        on_lied(c.name, card(c.families), [&](weft::Backend& backend) {
            const weft::PlanReport& plan = backend.plan();
            const std::set<std::string> names{plan.upload_queue, plan.compute_queue, plan.download_queue};
            CHECK(names.size() == c.queues);
            CHECK(plan.split_queues == (c.queues > 1));
            all_scripts(backend);
            check_usable(backend);
        });
}

TEST_CASE("fake: threads on separate queues, one thread on each queue at a time") {
    on_lied("threads", card({family(1, "gct"), family(2, "t")}), [](weft::Backend& backend) {
        std::vector<std::string> failures(6);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < failures.size(); ++t)
            threads.emplace_back([&, t] {
                try {
                    const weft::Program program(backend, kAffine);
                    for (std::uint32_t round = 0; round < 8; ++round) {
                        AffineWork work({50 * (t + 1), 7000}, round);
                        weft::run_batch(backend, program, work.jobs, {.chunk_elements = 1000});
                        if (!work.right()) failures[t] = "wrong result";
                        weft::Stream s(backend);
                        weft::Buffer<std::uint32_t> b(backend, 10);
                        s.fill(b.view(), round);
                        if (s.download(b)[9] != round) failures[t] = "wrong fill";
                        if (t == 0) backend.wait_idle();
                    }
                } catch (const std::exception& error) {
                    failures[t] = error.what();
                }
            });
        for (std::thread& thread : threads) thread.join();
        for (const std::string& failure : failures) CHECK(failure == "");
    });
}

TEST_CASE("fake: timestamps of few bits that wrap, and queues without any") {
    const struct {
        const char* name;
        std::vector<FamilyLie> families;
        std::size_t stages;
    } kCases[] = {
        {"36 bits", {family(1, "gct", 36), family(2, "t", 36)}, 3},
        {"none on the transfer family", {family(1, "gct", 36), family(2, "t", 0)}, 1},
        {"none at all", {family(3, "gct", 0)}, 0},
    };
    for (const auto& c : kCases) {
        FakeDriver fake = card(c.families);
        fake.ticks_to_wrap = 1000;  // a microsecond after the first
        on_lied(c.name, fake, [&](weft::Backend& backend) {
            const weft::Program program(backend, kAffine);
            AffineWork work({200000});
            const weft::BatchReport report = weft::run_batch(
                backend, program, work.jobs,
                {.path = weft::Path::staged, .chunk_elements = 50000, .stage_times = weft::Choice::on});
            CHECK(work.right());
            CHECK(report.intervals.size() == 4 * c.stages);
            for (const weft::StageInterval& interval : report.intervals) {
                CHECK(interval.begin_s >= -1.0);
                CHECK(interval.begin_s <= interval.end_s);
                CHECK(interval.end_s < 30.0);
            }
        });
    }
}

TEST_CASE("fake: memory that must be flushed and invalidated, exactly") {
    const struct {
        const char* name;
        bool discrete;
        std::vector<HeapLie> heaps;
        std::vector<TypeLie> types;
        weft::Path path;
    } kCases[] = {
        {"card, uncached and cached",
         true,
         kCardHeaps,
         {{0, true}, {1, false, true}, {1, false, true, false, true}},
         weft::Path::automatic},
        {"card, staged",
         true,
         kCardHeaps,
         {{0, true}, {1, false, true}, {1, false, true, false, true}},
         weft::Path::staged},
        {"card, kernel over the bus",
         true,
         kCardHeaps,
         {{0, true}, {1, false, true, false, true}},
         weft::Path::host},
        {"card, all of it mapped",
         true,
         kCardHeaps,
         {{0, true}, {0, true, true}, {1, false, true, false, true}},
         weft::Path::direct},
        {"unified", false, {{kGiB, true}}, {{0, true, true, false, true}}, weft::Path::direct},
    };
    for (const auto& c : kCases)
        for (const std::uint64_t atom : {64u, 256u}) {
            FakeDriver fake{
                .discrete = c.discrete, .heaps = c.heaps, .types = c.types, .non_coherent_atom = atom};
            fake.hide_import = true;
            on_lied(
                std::string(c.name) + ", atom " + std::to_string(atom), fake, [&](weft::Backend& backend) {
                    for (const weft::QueueMode queues : {weft::QueueMode::single, weft::QueueMode::split})
                        script(backend, {"", c.path, queues});
                    check_usable(backend);
                    // Neighbours of odd lengths: a flush of one must not include bytes of another.
                    const weft::Program program(backend, kInPlace);
                    std::vector<weft::HostBuffer<std::uint32_t>> data;
                    std::vector<weft::Job> jobs;
                    for (const std::size_t n : {1u, 3u, 63u, 64u, 65u, 1000u}) {
                        data.emplace_back(backend, n);
                        std::fill(data.back().begin(), data.back().end(), 5);
                        jobs.push_back({.inputs = {data.back()}, .outputs = {data.back()}, .elements = n});
                    }
                    for (int round = 1; round <= 3; ++round) {
                        weft::run_batch(backend, program, jobs, {.path = c.path});
                        for (const auto& d : data) {
                            CAPTURE(d.size());
                            CHECK(d[d.size() - 1] == 5 + round * (1000 + d.size() - 1));
                        }
                    }
                });
        }
}

TEST_CASE("fake: the budget of the driver is binding") {
    FakeDriver fake = card({family(1, "gct")});
    fake.show_budget = true;
    fake.heaps = {{kGiB, true, 96 * kMiB}, {kGiB, false, 800 * kMiB}};
    on_lied("budget", fake, [](weft::Backend& backend) {
        const weft::MemoryReport report = backend.memory();
        CHECK(report.heaps[0].budget == 96 * kMiB);
        CHECK(report.heaps[1].budget == 800 * kMiB);
        weft::Buffer<char> first(backend, 60 * kMiB);
        CHECK(backend.memory().heaps[0].usage >= 60 * kMiB);
        check_error(Errc::out_of_memory, "Buffer \"buffer\": beyond the budget the driver grants",
                    [&] { weft::Buffer<char> second(backend, 60 * kMiB); });
        script(backend, kScripts[0]);
    });
}

TEST_CASE(
    "fake: large free memory is kept for the next buffer of its size, and is freed before one is refused") {
    FakeDriver fake = card({family(1, "gct")});
    fake.show_budget = true;
    fake.heaps = {{kGiB, true, 200 * kMiB}, {kGiB, false, 800 * kMiB}};
    on_lied("kept", fake, [](weft::Backend& backend) {
        const auto kept = [&] { return backend.memory().heaps[0].kept; };
        backend.trim();
        const std::uint64_t blocks = backend.memory().block_bytes;
        { const weft::Buffer<char> first(backend, 60 * kMiB); }
        CHECK(kept() == 60 * kMiB);
        CHECK(backend.memory().block_bytes == blocks + 60 * kMiB);
        const std::uint64_t allocations = backend.counters().memory_allocations;
        {
            const weft::Buffer<char> again(backend, 60 * kMiB);
            CHECK(kept() == 0);
        }
        { const weft::Buffer<char> smaller(backend, 56 * kMiB); }
        CHECK(backend.counters().memory_allocations == allocations);
        { const weft::Buffer<char> half(backend, 40 * kMiB); }
        CHECK(backend.counters().memory_allocations == allocations + 1);
        CHECK(kept() == 100 * kMiB);
        { const weft::Buffer<char> more(backend, 70 * kMiB); }  // an eighth of the heap is 128 MiB
        CHECK(kept() == 100 * kMiB);
        { const weft::Buffer<char> all(backend, 190 * kMiB); }  // the budget has room when those are gone
        CHECK(kept() == 0);
        { const weft::Buffer<char> last(backend, 60 * kMiB); }
        backend.trim();
        CHECK(kept() == 0);
        CHECK(backend.memory().block_bytes == blocks);
        script(backend, kScripts[0]);
    });
}

TEST_CASE("fake: small heaps and allocations; batches shrink, buffers are refused with the reason") {
    FakeDriver fake = card({family(1, "gct"), family(2, "t")});
    fake.heaps = {{6 * kMiB, true}, {6 * kMiB, false}};
    fake.max_allocation = 2 * kMiB;
    on_lied("small", fake, [](weft::Backend& backend) {
        check_error(Errc::out_of_memory, "Buffer \"buffer\": vkAllocateMemory",
                    [&] { weft::Buffer<char> buffer(backend, 3 * kMiB); });
        check_error(Errc::invalid_argument, "too large for this device",
                    [&] { weft::Buffer<char> buffer(backend, 7 * kMiB); });
        const weft::Program program(backend, kAffine);
        AffineWork work({2000000});
        weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged});
        CHECK(work.right());
        script(backend, kScripts[0]);
    });
}

TEST_CASE("fake: limits of few workgroups and short ranges are respected") {
    FakeDriver fake;
    fake.max_workgroup_count_x = 2;
    fake.max_storage_range = 4096;
    on_lied("limits", fake, [](weft::Backend& backend) {
        const weft::Program program(backend, kAffine);
        AffineWork work({5000});
        for (const weft::Path path : {weft::Path::staged, weft::Path::automatic, weft::Path::imported}) {
            work.clear();
            weft::run_batch(backend, program, work.jobs, {.path = path});
            CHECK(work.right());
        }
        check_usable(backend);
    });
}

TEST_CASE("fake: a device without timeline semaphores is refused by name") {
    control().reset();
    control().lie({.hide_timeline = true});
    check_error(Errc::no_device, "timelineSemaphore", [] { weft::Backend backend(fault_config()); });
    CHECK(weft::list_devices(fault_config()).at(0).refused.size() == 1);
    check_nothing_left();
    control().reset();
}

TEST_CASE("fake: without 64-bit integers field arithmetic gives the same numbers") {
    on_lied("no int64", {.hide_int64 = true}, [](weft::Backend& backend) {
        CHECK(!backend.device().shader_int64);
        check_usable(backend);
        script(backend, kScripts[1]);
    });
}

TEST_CASE("fake: without synchronization2") {
    FakeDriver fake = card({family(1, "gct"), family(2, "t")});
    fake.hide_synchronization2 = true;
    on_lied("no synchronization2", fake, [](weft::Backend& backend) {
        CHECK(!backend.plan().synchronization2);
        all_scripts(backend);
    });
}

TEST_CASE("fake: a kernel matrix of few rows does not ask how much memory is free") {
    on_lied("few rows", {}, [](weft::Backend& backend) {
        const std::vector<float> x(12 * 4, 0.5f);
        std::vector<float> k(12 * 12);
        const auto call = [&] {
            weft::kernel_matrix(backend, weft::KernelMatrixCircuit{}, x, k, {.samples = 12, .qubits = 4});
        };
        call();  // which makes buffers
        const char* const kAsks = "vkGetPhysicalDeviceMemoryProperties2";
        const std::uint64_t before = control().calls(kAsks);
        call();
        CHECK(control().calls(kAsks) == before);
        CHECK(backend.memory().live_buffers != 0);
        CHECK(control().calls(kAsks) == before + 1);
    });
}

TEST_CASE("fake: without import of host memory") {
    on_lied("no import", {.hide_import = true}, [](weft::Backend& backend) {
        std::vector<std::byte> memory(1 << 16);
        check_error(Errc::unsupported, "VK_EXT_external_memory_host",
                    [&] { weft::HostRegistration registration(backend, memory); });
        script(backend, kScripts[1]);
    });
}

TEST_CASE("fake: buffers and offsets beyond 4 GiB arrive whole") {
    FakeDriver fake = card({family(1, "gct")});
    fake.heaps = {{64 * kGiB, true}, {kGiB, false}};
    fake.max_allocation = 4 * kGiB - 2 * kMiB;
    fake.soft_allocation = true;
    fake.max_buffer = 16 * kGiB;
    fake.fold = 100 * kMiB;  // no divisor of 4 GiB, so an offset cut to 32 bits maps to another place
    on_lied("huge", fake, [](weft::Backend& backend) {
        const weft::Program program(backend, kAffine);
        constexpr std::size_t kFirst = (4 * kGiB + 12 * 256) / 4, kCount = 1000;
        weft::Buffer<std::uint32_t> a(backend, 4608 * kMiB / 4), b(backend, 4608 * kMiB / 4);
        CHECK(a.bytes() == 4608 * kMiB);
        CHECK(backend.memory().live_bytes == 9216 * kMiB);
        weft::Stream s(backend);
        const auto in = words(kCount);
        const auto far_a = a.view(kFirst, kCount), far_b = b.view(kFirst + 64, kCount);
        s.fill(b.view(64, kCount), 1);  // the range that an offset cut to 32 bits would write
        s.upload(std::span<const std::uint32_t>(in), far_a);
        s.dispatch(program, {far_a, far_b}, kCount, AffineParameters{3, 4});
        s.copy(far_b, a.view(kFirst + 2 * kCount, kCount));
        s.fill(b.view(kFirst + 64, 1), 77);
        std::vector<std::uint32_t> out(kCount), low(kCount), head(1);
        s.download<std::uint32_t>(a.view(kFirst + 2 * kCount, kCount), std::span(out));
        s.download<std::uint32_t>(b.view(64, kCount), std::span(low));
        s.download<std::uint32_t>(b.view(kFirst + 64, 1), std::span(head));
        for (std::uint32_t i = 0; i < kCount; ++i) REQUIRE(out[i] == in[i] * 3 + 4 + i);
        CHECK(low == std::vector<std::uint32_t>(kCount, 1));
        CHECK(head[0] == 77);
        check_error(Errc::invalid_argument, "range beyond the end", [&] { a.view(kFirst, 4608 * kMiB / 4); });
    });
}
