// SPDX-License-Identifier: Apache-2.0
// Many threads on one backend.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Path;
using weft::Program;

namespace {

/// Runs body(0) ... body(count - 1) in parallel; a body that throws fails the test.
void in_threads(std::size_t count, const std::function<bool(std::size_t)>& body) {
    std::vector<std::thread> threads;
    std::vector<std::string> failures(count);
    for (std::size_t t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
            try {
                if (!body(t)) failures[t] = "wrong result";
            } catch (const std::exception& error) {
                failures[t] = error.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < count; ++t) {
        CAPTURE(t);
        CHECK(failures[t] == "");
    }
}

}  // namespace

TEST_CASE("threads: eight run batches of all kinds on one backend") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        constexpr Path kPaths[] = {Path::automatic, Path::staged, Path::direct, Path::imported};
        in_threads(8, [&](std::size_t t) {
            for (std::uint32_t round = 0; round < 12; ++round) {
                AffineWork work({100 * (t + 1), 1 + round, 20000 + 3000 * t, 0},
                                static_cast<std::uint32_t>(17 * t + round));
                const weft::BatchOptions options{
                    .mode = round % 3 == 0 ? weft::BatchMode::sequential : weft::BatchMode::pipelined,
                    .path = kPaths[(t + round) % 4],
                    .queues = round % 2 == 0 ? weft::QueueMode::single : weft::QueueMode::split,
                    .chunk_elements = round % 4 == 1 ? 0u : 4096u,
                    .ring_slots = round % 5,
                    .stage_times = weft::Choice::on};
                weft::run_batch(backend, program, work.jobs, options);
                if (!work.right()) return false;
            }
            return true;
        });
        check_usable(backend);
    });
}

TEST_CASE("threads: batches large enough that every thread's copies use the workers") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        in_threads(4, [&](std::size_t t) {
            AffineWork work({700000, 400000}, static_cast<std::uint32_t>(t));
            for (int round = 0; round < 3; ++round) {
                work.clear();
                weft::run_batch(backend, program, work.jobs, {.path = Path::staged});
                if (!work.right()) return false;
            }
            return true;
        });
    });
}

TEST_CASE("threads: four job pipelines in parallel") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        in_threads(4, [&](std::size_t t) {
            AffineWork work(std::vector<std::size_t>(60, 500 + 700 * t), static_cast<std::uint32_t>(t));
            weft::JobPipeline pipeline(backend, program,
                                       {.path = t % 2 == 0 ? Path::staged : Path::automatic,
                                        .ring_slots = static_cast<std::uint32_t>(t + 1)});
            std::vector<weft::JobToken> tokens;
            for (const weft::Job& job : work.jobs) {
                tokens.push_back(pipeline.submit(job));
                if (tokens.size() % 10 == 0) pipeline.wait(tokens[tokens.size() / 2]);
            }
            pipeline.wait_all();
            return work.right() && pipeline.report().jobs == 60;
        });
    });
}

TEST_CASE("threads: each with its own stream") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace);
        in_threads(8, [&](std::size_t t) {
            for (int round = 0; round < 5; ++round) {
                weft::Stream stream(backend);
                weft::Buffer<std::uint32_t> buffer(backend, 1000 + t);
                const auto in = words(1000 + t, static_cast<std::uint32_t>(t));
                stream.upload(in, buffer);
                stream.dispatch(program, {buffer}, in.size());
                stream.dispatch(program, {buffer}, in.size());
                const auto out = stream.download(buffer);
                for (std::size_t i = 0; i < in.size(); ++i)
                    if (out[i] != in[i] + 2 * (1000 + static_cast<std::uint32_t>(i))) return false;
            }
            return true;
        });
    });
}

TEST_CASE("threads: page-locked buffers, registrations, reports and trimming during batches") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        in_threads(6, [&](std::size_t t) {
            for (std::uint32_t round = 0; round < 20; ++round) {
                if (t == 0) {
                    backend.trim();
                    (void)backend.memory();
                    (void)backend.counters();
                    (void)backend.pipelines();
                    backend.wait_idle();
                    (void)backend.save_pipeline_cache();
                    continue;
                }
                weft::HostBuffer<std::uint32_t> in(backend, 5000 + 100 * t), out(backend, in.size());
                const auto source = words(in.size(), round);
                std::copy(source.begin(), source.end(), in.begin());
                weft::Job job{{in.span()}, {out.span()}, in.size(), AffineParameters{3, 1}};
                weft::run_batch(backend, program, {&job, 1});
                for (std::size_t i = 0; i < in.size(); ++i)
                    if (out[i] != source[i] * 3 + 1 + static_cast<std::uint32_t>(i)) return false;
            }
            return true;
        });
        CHECK(backend.memory().live_bytes == [&] {
            backend.trim();
            return backend.memory().live_bytes;
        }());
    });
}

TEST_CASE("threads: backends are made and destroyed in parallel") {
    on_device([](weft::Backend& backend) {
        in_threads(3, [&](std::size_t t) {
            weft::Backend own;
            const Program program(own, kAffine);
            AffineWork work({1000 + t});
            weft::run_batch(own, program, work.jobs);
            return work.right() && own.counters().validation_messages == 0;
        });
        check_usable(backend);
    });
}
