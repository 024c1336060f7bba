// SPDX-License-Identifier: Apache-2.0
// Repeated work makes, allocates, binds and records nothing.
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Path;
using weft::Program;

namespace {

void check_steady(const weft::Counters& before, const weft::Counters& after) {
    CHECK(after.objects_created == before.objects_created);
    CHECK(after.memory_allocations == before.memory_allocations);
    CHECK(after.descriptor_updates == before.descriptor_updates);
    CHECK(after.recordings == before.recordings);
    CHECK(after.imports == before.imports);
    CHECK(after.submissions > before.submissions);
}

template <class Call>
void check_twenty(weft::Backend& backend, Call&& call) {
    call();
    call();
    const weft::Counters before = backend.counters();
    for (int i = 0; i < 20; ++i) call();
    check_steady(before, backend.counters());
}

}  // namespace

TEST_CASE("steady state: ordinary memory, small, large and mixed jobs, every path") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        // On devices other than software devices an import lives as long as its job.
        std::vector<Path> paths{Path::automatic, Path::staged, Path::direct, Path::host};
        if (backend.device().type == weft::DeviceType::cpu) paths.push_back(Path::imported);
        for (const Path path : paths)
            for (const auto& counts : std::vector<std::vector<std::size_t>>{
                     {64}, {100000}, {3000, 3000, 3000, 3000}, {1u << 20}, {10, 50000, 700, 300000}}) {
                CAPTURE(weft::to_string(path));
                CAPTURE(counts.size());
                CAPTURE(counts[0]);
                AffineWork work(counts);
                check_twenty(backend, [&] { weft::run_batch(backend, program, work.jobs, {.path = path}); });
                CHECK(work.right());
            }
    });
}

TEST_CASE("steady state: page-locked memory, sixteen jobs, sequential and pipelined") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kElements = 16384, kJobs = 16;
        weft::HostBuffer<std::uint64_t> a(backend, 6 * kElements * kJobs), b(backend, a.size()),
            out(backend, a.size());
        std::fill(a.begin(), a.end(), 1);
        std::fill(b.begin(), b.end(), 2);
        std::vector<weft::FieldJob> jobs;
        for (std::size_t j = 0; j < kJobs; ++j) {
            const auto part = [&](auto& buffer) {
                return buffer.span().subspan(j * 6 * kElements, 6 * kElements);
            };
            jobs.push_back({.a = part(a), .b = part(b), .out = part(out)});
        }
        for (const Path path : {Path::automatic, Path::staged, Path::direct, Path::host})
            for (const weft::BatchMode mode : {weft::BatchMode::pipelined, weft::BatchMode::sequential}) {
                CAPTURE(weft::to_string(path));
                check_twenty(backend, [&] {
                    weft::field_batch(backend, weft::Field::bls12_381_fp, weft::FieldOp::add, jobs,
                                      {.batch = {.mode = mode, .path = path}});
                });
                CHECK(out[7] == 3);
            }
    });
}

TEST_CASE("steady state: many chunks a job") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({20000});
        check_twenty(backend, [&] {
            weft::run_batch(backend, program, work.jobs, {.path = Path::staged, .chunk_elements = 1000});
        });
        CHECK(work.right());
    });
}

TEST_CASE("steady state: one call of a few elements") {
    on_device([](weft::Backend& backend) {
        const auto a = random_elements(64, 1), b = random_elements(64, 2);
        std::vector<std::uint64_t> out(a.size());
        check_twenty(backend, [&] { weft::field_add(backend, weft::Field::bls12_381_fp, a, b, out); });
        CHECK(out == expected(weft::FieldOp::add, a, b));
    });
}

TEST_CASE("steady state: job pipeline") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        for (const Path path : {Path::automatic, Path::staged}) {
            CAPTURE(weft::to_string(path));
            AffineWork work({5000});
            weft::JobPipeline pipeline(backend, program, {.path = path, .ring_slots = 1});
            check_twenty(backend, [&] { pipeline.wait(pipeline.submit(work.jobs[0])); });
            CHECK(work.right());
        }
    });
}

TEST_CASE("steady state: pipelines made one after the other get the same ring") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({5000});
        check_twenty(backend, [&] {
            weft::JobPipeline pipeline(backend, program, {.path = Path::staged, .ring_slots = 1});
            pipeline.wait(pipeline.submit(work.jobs[0]));
        });
        CHECK(work.right());
    });
}

TEST_CASE("ordinary memory from malloc is not copied on unified memory") {
    on_device([](weft::Backend& backend) {
        if (!backend.device().unified_memory || backend.device().limits.storage_buffer_offset_alignment > 16)
            return;
        constexpr std::size_t kLimbs = 6 * 20000;
        std::vector<std::uint64_t> a(kLimbs + 8, 1), b(kLimbs + 8, 2), out(kLimbs + 8);
        // Sixteen bytes after the start of a cache line, where large vectors begin.
        const auto at16 = [](std::vector<std::uint64_t>& v) {
            const auto line = reinterpret_cast<std::uintptr_t>(v.data()) % 64;
            return std::span<std::uint64_t>(v).subspan((80 - line) % 64 / 8, kLimbs);
        };
        const weft::BatchReport report =
            weft::field_add(backend, weft::Field::bls12_381_fp, at16(a), at16(b), at16(out));
        CHECK(report.copy_in_s == 0);
        CHECK(report.copy_out_s == 0);
        CHECK(at16(out)[6] == 3);
    });
}

TEST_CASE("steady state: a stream after a profile makes, records and submits as before it") {
    on_device([](weft::Backend& backend) {
        const weft::Program program(backend, kInPlace, {.name = "p"});
        constexpr std::uint32_t kCount = 4096;
        weft::Buffer<std::uint32_t> x(backend, kCount);
        weft::Stream stream(backend);
        const weft::Sequence once = stream.record([&](weft::Stream& s) { s.dispatch(program, {x}, kCount); });
        const std::vector<std::uint32_t> sevens(kCount, 7);
        std::vector<std::uint32_t> twice(kCount);
        for (std::uint32_t i = 0; i < kCount; ++i) twice[i] = 7 + 2 * (1000 + i);  // in_place.comp
        const auto call = [&] {
            stream.upload(sevens, x);
            stream.dispatch(program, {x}, kCount);
            stream.replay(once);
            CHECK(stream.download(x) == twice);
        };
        const auto cost = [&] {
            const weft::Counters before = backend.counters();
            call();
            const weft::Counters after = backend.counters();
            CHECK(after.objects_created == before.objects_created);
            CHECK(after.memory_allocations == before.memory_allocations);
            CHECK(after.descriptor_updates == before.descriptor_updates);
            return std::pair(after.recordings - before.recordings, after.submissions - before.submissions);
        };
        call();
        call();
        const auto plain = cost();
        {
            const weft::Profile profile(backend);
            call();
            CHECK(profile.report().replays == 1);
        }
        CHECK(cost() == plain);
        const weft::Profile profile(backend);
        CHECK(cost() == plain);  // with a profile, after its timers were made
    });
}
