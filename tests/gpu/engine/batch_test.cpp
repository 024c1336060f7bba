// SPDX-License-Identifier: Apache-2.0
// Jobs that must be refused, and every kind of shader interface that must be accepted.
#include <algorithm>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Errc;
using weft::Job;
using weft::Path;
using weft::Program;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kCountOnly[] = {
#include "shaders/count_only.spv.inc"
};
constexpr std::uint32_t kLengthOnly[] = {
#include "shaders/length_only.spv.inc"
};
constexpr std::uint32_t kLookup[] = {
#include "shaders/lookup.spv.inc"
};
constexpr std::uint32_t kSixteenBuffers[] = {
#include "shaders/sixteen_buffers.spv.inc"
};
constexpr std::uint32_t kBytes[] = {
#include "shaders/bytes.spv.inc"
};

constexpr Path kPaths[] = {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host};

/// Runs the body for each path, with the path in the text of every failure.
template <class Body>
void on_every_path(Body&& body) {
    for (const Path path : kPaths) {
        CAPTURE(weft::to_string(path));
        body(path);
    }
}

}  // namespace

TEST_CASE("batch: jobs that do not fit the shader are refused with job and number, outputs untouched") {
    struct Case {
        const char* part;
        void (*damage)(Job&);
    };
    const Case cases[] = {
        {"got 0 inputs and 1 outputs", [](Job& j) { j.inputs = {}; }},
        {"got 2 inputs and 1 outputs", [](Job& j) { j.inputs.push_back(j.inputs[0]); }},
        {"got 1 inputs and 0 outputs", [](Job& j) { j.outputs = {}; }},
        {"got 399, need a multiple of 100",
         [](Job& j) {
             j.inputs = {{j.inputs[0].data, 399}};
         }},
        {"got 401, need a multiple of 100",
         [](Job& j) {
             j.outputs = {{j.outputs[0].data, 401}};
         }},
        {"got 0, need a multiple of 100",
         [](Job& j) {
             j.outputs = {{j.outputs[0].data, 0}};
         }},
        {"null with a length (got 400",
         [](Job& j) {
             j.inputs = {{nullptr, 400}};
         }},
        {"null with a length (got 400",
         [](Job& j) {
             j.outputs = {{nullptr, 400}};
         }},
        {"got 4, need 8", [](Job& j) { j.parameters = std::uint32_t{1}; }},
        {"got 0, need 8", [](Job& j) { j.parameters = {}; }},
        {"got 12, need 8", [](Job& j) { j.parameters = std::array<std::uint32_t, 3>{}; }},
        {"got 4294967296", [](Job& j) { j.elements = std::uint64_t{1} << 32; }},
        {"past the address space",
         [](Job& j) {
             j.inputs = {{j.inputs[0].data, ~std::size_t{0} / 100 * 100}};
         }},
    };
    on_device([&](weft::Backend& backend) {
        const Program program(backend, kAffine, {.name = "affine"});
        for (const Case& c : cases)
            for (const std::size_t bad : {0u, 2u}) {
                AffineWork work({100, 100, 100});
                c.damage(work.jobs[bad]);
                const auto call = [&] { weft::run_batch(backend, program, work.jobs); };
                check_error(Errc::invalid_argument, c.part, call);
                check_error(Errc::invalid_argument, "job " + std::to_string(bad), call);
                check_error(Errc::invalid_argument, "\"affine\"", call);
                CHECK(work.untouched());
            }
        check_usable(backend);
    });
}

TEST_CASE("batch: memory that overlaps where something is written is refused, exact in-place is not") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        const auto refused = [&](AffineWork& work, const char* part) {
            check_error(Errc::invalid_argument, part, [&] { weft::run_batch(backend, program, work.jobs); });
            CHECK(work.untouched());
        };
        AffineWork same_output({100, 100});
        same_output.jobs[1].outputs = {same_output.jobs[0].outputs[0]};
        refused(same_output, "job 0 and job 1");
        AffineWork one_byte({100, 100});
        auto* end = static_cast<std::byte*>(one_byte.jobs[0].outputs[0].data) + 399;
        one_byte.jobs[1].inputs = {{end, 400}};
        refused(one_byte, "overlap of 1 bytes");
        AffineWork shifted({100});
        shifted.jobs[0].inputs = {{static_cast<std::byte*>(shifted.jobs[0].outputs[0].data) + 4, 400}};
        refused(shifted, "overlap of 396 bytes");
        AffineWork other_job({100, 100});  // the same memory, but in another job
        other_job.jobs[1].inputs = {{other_job.jobs[0].outputs[0].data, 400}};
        refused(other_job, "overlap of 400 bytes");

        AffineWork neighbours({100, 100});  // adjacent ranges do not overlap
        neighbours.jobs[0].outputs = {{neighbours.out(0).data(), 400}};
        neighbours.jobs[1].inputs = {{neighbours.out(0).data() + 100, 32}};
        neighbours.jobs[1].outputs = {{neighbours.out(1).data(), 32}};
        neighbours.jobs[1].elements = 8;
        CHECK_NOTHROW(weft::run_batch(backend, program, neighbours.jobs));
        CHECK(neighbours.right(0));
        check_usable(backend);
    });
}

TEST_CASE("batch: options out of range name the value, nothing runs") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100});
        check_error(Errc::invalid_argument, "got 17",
                    [&] { weft::run_batch(backend, program, work.jobs, {.ring_slots = 17}); });
        check_error(Errc::invalid_argument, "got 4294967296", [&] {
            weft::run_batch(backend, program, work.jobs, {.chunk_elements = std::uint64_t{1} << 32});
        });
        CHECK(work.untouched());
        check_usable(backend);
    });
}

TEST_CASE("batch: chunks of 1, 2, 3, 7 and more elements than there are, set by call and by configuration") {
    for (const std::uint64_t chunk : {1u, 2u, 3u, 7u, 1000000u}) {
        CAPTURE(chunk);
        weft::Config config = weft::Config::from_env();
        config.chunk_elements = chunk;
        on_device(
            [&](weft::Backend& backend) {
                const Program program(backend, kAffine);
                on_every_path([&](Path path) {
                    AffineWork work({41, 1, 6, 7, 8});
                    const auto report = weft::run_batch(backend, program, work.jobs, {.path = path});
                    CHECK(work.right());
                    CHECK(report.chunk_elements == std::min<std::uint64_t>(chunk, 41));
                    AffineWork again({41, 100});
                    const auto other =
                        weft::run_batch(backend, program, again.jobs, {.path = path, .chunk_elements = 5});
                    CHECK(again.right());
                    CHECK(other.chunk_elements == 5);
                    CHECK(other.chunks == 9 + 20);
                });
            },
            config);
    }
}

TEST_CASE("batch: every number of slots, with one queue and with three, sequential and pipelined") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        for (const std::uint32_t slots : {1u, 2u, 3u, 16u})
            for (const weft::QueueMode queues : {weft::QueueMode::single, weft::QueueMode::split})
                for (const weft::BatchMode mode : {weft::BatchMode::sequential, weft::BatchMode::pipelined})
                    on_every_path([&](Path path) {
                        CAPTURE(slots);
                        AffineWork work({5000, 1, 0, 333, 4096});
                        weft::run_batch(backend, program, work.jobs,
                                        {.mode = mode,
                                         .path = path,
                                         .queues = queues,
                                         .chunk_elements = 512,
                                         .ring_slots = slots,
                                         .stage_times = weft::Choice::on});
                        CHECK(work.right());
                    });
    });
}

TEST_CASE("batch: shaders with the count alone get the count of each chunk") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kCountOnly);
        on_every_path([&](Path path) {
            const Words in = words(250);
            Words out(in.size()), want(in);
            for (std::size_t i = 0; i < in.size(); ++i) want[i] += i < 200 ? 100 : 50;
            Job job{{in}, {out}, in.size()};
            weft::run_batch(backend, program, {&job, 1}, {.path = path, .chunk_elements = 100});
            CHECK(out == want);
        });
    });
}

TEST_CASE("batch: shaders without a block find exact bounds by length()") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kLengthOnly);
        on_every_path([&](Path path) {
            const Words in = words(203);
            Words out(in.size() + 2, kGuardWord), want(in);
            for (std::size_t i = 0; i < in.size(); ++i) want[i] ^= i < 200 ? 50 : 3;
            want.resize(out.size(), kGuardWord);
            Job job{{in}, {std::span(out).first(in.size())}, in.size()};
            weft::run_batch(backend, program, {&job, 1}, {.path = path, .chunk_elements = 50});
            CHECK(out == want);
        });
    });
}

TEST_CASE("batch: a buffer that is read and written, in place and from one span to another") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace);
        on_every_path([&](Path path) {
            const Words in = words(1000);
            Words want(in);
            for (std::size_t i = 0; i < in.size(); ++i) want[i] += 1000 + static_cast<std::uint32_t>(i);
            Words data(in), out(in.size());
            Job in_place{{data}, {data}, in.size()};
            weft::run_batch(backend, program, {&in_place, 1}, {.path = path, .chunk_elements = 77});
            CHECK(data == want);
            Words source(in);
            Job apart{{source}, {out}, in.size()};
            weft::run_batch(backend, program, {&apart, 1}, {.path = path, .chunk_elements = 77});
            CHECK(out == want);
            CHECK(source == in);

            weft::HostBuffer<std::uint32_t> locked(backend, in.size()), target(backend, in.size());
            std::copy(in.begin(), in.end(), locked.begin());
            Job from_locked{{locked.span()}, {target.span()}, in.size()};
            weft::run_batch(backend, program, {&from_locked, 1}, {.path = path, .chunk_elements = 64});
            CHECK(std::equal(want.begin(), want.end(), target.begin()));
            CHECK(std::equal(in.begin(), in.end(), locked.begin()));
            Job locked_in_place{{locked.span()}, {locked.span()}, in.size()};
            weft::run_batch(backend, program, {&locked_in_place, 1}, {.path = path});
            CHECK(std::equal(want.begin(), want.end(), locked.begin()));
        });
        Words small(10), large(20);
        Job unequal{{small}, {large}, 10};
        check_error(Errc::invalid_argument, "got 40, need 80", [&] {
            weft::run_batch(backend, program, {&unequal, 1});
        });
        Job broadcast{{{small, true}}, {small}, 10};
        check_error(Errc::invalid_argument, "read_write", [&] {
            weft::run_batch(backend, program, {&broadcast, 1});
        });
        check_usable(backend);
    });
}

TEST_CASE("batch: a broadcast input is whole for every chunk, whatever its size") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kLookup);
        on_every_path([&](Path path) {
            for (const std::size_t entries : {1u, 7u, 300u, 5000u}) {
                CAPTURE(entries);
                const Words in = words(500), table = words(entries, 9);
                Words out(in.size()), want(in);
                for (std::uint32_t& v : want) v = table[v % entries];
                Job job{{in, {table, true}}, {out}, in.size()};
                weft::run_batch(backend, program, {&job, 1}, {.path = path, .chunk_elements = 60});
                CHECK(out == want);
            }
        });
        const Words in = words(10);
        Words out(10);
        const std::uint64_t range = backend.device().limits.max_storage_buffer_range;
        Job job{{in, {in.data(), range + 4, true}}, {out}, 10};
        check_error(Errc::invalid_argument, std::to_string(range + 4), [&] {
            weft::run_batch(backend, program, {&job, 1});
        });
    });
}

TEST_CASE("batch: sixteen buffers") {
    on_device([](weft::Backend& backend) {
        if (backend.device().limits.max_storage_buffers < 16) return;
        const Program program(backend, kSixteenBuffers);
        on_every_path([&](Path path) {
            std::vector<Words> in, out(8, Words(333));
            Job job{{}, {}, 333};
            for (std::uint32_t k = 0; k < 8; ++k) in.push_back(words(333, k + 1));
            for (const Words& w : in) job.inputs.push_back(w);
            for (Words& w : out) job.outputs.push_back(w);
            weft::run_batch(backend, program, {&job, 1}, {.path = path, .chunk_elements = 100});
            for (std::uint32_t k = 0; k < 8; ++k)
                for (std::size_t i = 0; i < 333; ++i) REQUIRE(out[k][i] == in[k][i] + 100 + k);
        });
    });
}

TEST_CASE("batch: elements of any number of bytes, at addresses of any alignment") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kBytes);
        on_every_path([&](Path path) {
            for (const std::uint32_t width : {1u, 2u, 3u, 5u})
                for (const std::size_t count : {1u, 2u, 3u, 5u, 257u, 70000u})
                    for (const std::size_t shift : {0u, 1u}) {
                        CAPTURE(width);
                        CAPTURE(count);
                        const std::size_t bytes = width * count;
                        std::vector<std::uint8_t> in(bytes + 1), out(bytes + 4, 0xee), want(out);
                        for (std::size_t i = 0; i < in.size(); ++i)
                            in[i] = static_cast<std::uint8_t>(i * 37 + count);
                        for (std::size_t i = 0; i < bytes; ++i)
                            want[i + shift] = static_cast<std::uint8_t>(in[i + shift] ^ 0x5a);
                        Job job{{{in.data() + shift, bytes}}, {{out.data() + shift, bytes}}, count, width};
                        weft::run_batch(backend, program, {&job, 1},
                                        {.path = path, .chunk_elements = count > 1000 ? 9999u : 3u});
                        CHECK(out == want);
                    }
        });
    });
}

TEST_CASE("batch: a callback that throws stops the batch, the backend stays usable") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        on_every_path([&](Path path) {
            AffineWork work(std::vector<std::size_t>(8, 3000));
            std::vector<std::uint64_t> reported;
            double elapsed_s = 0;
            const auto progress = [&](const weft::Progress& now) {
                CHECK(now.total == 8);
                CHECK(now.elapsed_s >= elapsed_s);
                elapsed_s = now.elapsed_s;
                reported.push_back(now.done);
                if (now.done == 3) throw std::runtime_error("enough");
            };
            CHECK_THROWS_WITH_AS(
                weft::run_batch(backend, program, work.jobs,
                                {.path = path, .chunk_elements = 1000, .progress = progress}),
                "enough", std::runtime_error);
            CHECK(reported == std::vector<std::uint64_t>{1, 2, 3});
            for (const std::size_t job : {0u, 1u, 2u}) CHECK(work.right(job));
            work.clear();
            weft::run_batch(backend, program, work.jobs, {.path = path});
            CHECK(work.right());
            check_usable(backend);
        });
    });
}

TEST_CASE("batch: a stop between bundles ends the batch with cancelled, the backend stays usable") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        on_every_path([&](Path path) {
            for (const weft::BatchMode mode : {weft::BatchMode::sequential, weft::BatchMode::pipelined}) {
                AffineWork work(std::vector<std::size_t>(40, 3000));
                std::stop_source stop;
                std::vector<std::uint64_t> reported;
                weft::BatchOptions options{.mode = mode, .path = path, .chunk_elements = 1000};
                options.cancel = stop.get_token();
                options.progress = [&](const weft::Progress& now) {
                    CHECK(now.total == 40);
                    reported.push_back(now.done);
                    if (now.done == 1) stop.request_stop();
                };
                check_error(Errc::cancelled, "run_batch: cancelled by its stop token",
                            [&] { weft::run_batch(backend, program, work.jobs, options); });
                REQUIRE_FALSE(reported.empty());
                for (std::size_t i = 0; i < reported.size(); ++i) {
                    CHECK(reported[i] == i + 1);
                    CHECK(work.right(i));
                }
                CHECK(reported.size() < 40);
                work.clear();
                weft::run_batch(backend, program, work.jobs, {.mode = mode, .path = path});
                CHECK(work.right());
            }
        });
        check_usable(backend);
    });
}

TEST_CASE("batch: a stop before the call leaves every output untouched") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100, 200});
        std::stop_source stop;
        stop.request_stop();
        weft::BatchOptions options;
        options.cancel = stop.get_token();
        options.progress = [](const weft::Progress&) { FAIL_CHECK("nothing may run"); };
        check_error(Errc::cancelled, "0 of 2 jobs were done",
                    [&] { weft::run_batch(backend, program, work.jobs, options); });
        for (const weft::Job& job : work.jobs)
            CHECK(*static_cast<const std::uint32_t*>(job.outputs[0].data) == kGuardWord);
        check_usable(backend);
    });
}

TEST_CASE("batch: thousands of jobs of a few elements") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        std::vector<std::size_t> counts(3000);
        for (std::size_t j = 0; j < counts.size(); ++j) counts[j] = j % 4;
        for (const Path path : {Path::automatic, Path::staged}) {
            AffineWork work(counts);
            std::size_t last = 0;
            const auto report = weft::run_batch(
                backend, program, work.jobs,
                {.path = path, .progress = [&](const weft::Progress& now) { CHECK(now.done == ++last); }});
            CHECK(work.right());
            CHECK(last == counts.size());
            CHECK(report.jobs == counts.size());
        }
    });
}

TEST_CASE("batch: a callback may use the backend itself") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({2000, 2000, 2000});
        int calls = 0;
        weft::run_batch(backend, program, work.jobs,
                        {.chunk_elements = 700, .progress = [&](const weft::Progress&) {
                             check_usable(backend);
                             ++calls;
                         }});
        CHECK(calls == 3);
        CHECK(work.right());
    });
}
