// SPDX-License-Identifier: Apache-2.0
// Several devices behind run_batch: which devices, how jobs are shared, progress, cancelling and refusals.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/device_pair.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::BatchReport;
using weft::Devices;
using weft::Errc;
using weft::Program;

TEST_CASE("devices: a list names them, and each has a backend") {
    on_devices(1024, [](Devices& devices) {
        CHECK_FALSE(devices.lost(0));
        CHECK(&devices[0] != &devices[1]);
        check_error(Errc::invalid_argument, "Devices: no such device",
                    [&] { static_cast<void>(devices[devices.size()]); });
        Devices moved(std::move(devices));
        check_error(Errc::invalid_argument, "used after it was moved from",
                    [&] { static_cast<void>(devices.size()); });
        devices = std::move(moved);
        devices.wait_idle();
        devices.save_pipeline_cache();
        devices.trim();
    });
    if (!make_backend()) return;
    check_error(Errc::invalid_argument, "Devices: no devices",
                [] { Devices none(std::vector<weft::Config>{}); });
    check_error(Errc::invalid_argument, "no such card", [] { Devices wrong("0,no such card"); });
    const Devices configured(std::vector<weft::Config>(2, weft::Config::from_env()));
    CHECK(configured.size() == 2);
    const Devices one{weft::Config::from_env()};
    CHECK(one.size() >= 1);
}

TEST_CASE("devices: large jobs are cut, small ones share, and elements keep their index in the job") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);  // its result depends on the index
        for (const auto& counts : {std::vector<std::size_t>{100000}, std::vector<std::size_t>(500, 37),
                                   std::vector<std::size_t>{1, 50000, 0, 4096, 4095, 8193, 0, 70001, 2}}) {
            AffineWork work(counts);
            const BatchReport report = weft::run_batch(devices, program, work.jobs);
            CHECK(work.right());
            std::size_t elements = 0;
            for (const std::size_t count : counts) elements += count;
            CHECK(report.jobs == counts.size());
            CHECK(report.elements == elements);
            CHECK(report.bytes_in == elements * 4);
            CHECK(report.bytes_out == elements * 4);
            CHECK(report.intervals.empty());
            CHECK(report.wall_s > 0);
            check_rows(report, devices, elements);
        }
    });
}

TEST_CASE("devices: every path and mode") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        for (const weft::Path path : {weft::Path::automatic, weft::Path::staged, weft::Path::host})
            for (const weft::BatchMode mode : {weft::BatchMode::sequential, weft::BatchMode::pipelined}) {
                AffineWork work({60000, 5, 30000});
                const BatchReport report =
                    weft::run_batch(devices, program, work.jobs, {.mode = mode, .path = path});
                CHECK(work.right());
                check_rows(report, devices, 90005);
            }
    });
}

TEST_CASE("devices: page-locked memory of all devices is copied on none; that of one serves all") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        constexpr std::uint64_t kElements = 100000;
        weft::HostBuffer<std::uint32_t> both_in(devices, kElements), both_out(devices, kElements);
        std::fill(both_in.begin(), both_in.end(), 5u);
        const weft::Job shared{{both_in.span()}, {both_out.span()}, kElements, AffineParameters{2, 1}};
        const BatchReport report = weft::run_batch(devices, program, {&shared, 1});
        check_rows(report, devices, kElements);
        CHECK(report.copy_in_s == 0);
        CHECK(report.copy_out_s == 0);
        for (std::uint64_t i = 0; i < kElements; i += 99) CHECK(both_out[i] == 2 * 5 + 1 + i);
        if (devices[0].device().import_host_memory) {
            std::vector<std::byte> own(kElements * 4);
            const weft::HostRegistration registration(devices, own);
            const weft::Job into{{both_in.span()},
                                 {weft::OutputSpan(own.data(), own.size())},
                                 kElements,
                                 AffineParameters{2, 1}};
            CHECK(weft::run_batch(devices, program, {&into, 1}).copy_out_s == 0);
            CHECK(std::memcmp(own.data(), both_out.data(), own.size()) == 0);
        }
        weft::HostBuffer<std::uint32_t> in(devices[0], kElements), out(devices[1], kElements);
        for (std::uint64_t i = 0; i < kElements; ++i) in[i] = static_cast<std::uint32_t>(i * 7);
        const weft::Job job{{in.span()}, {out.span()}, kElements, AffineParameters{3, 5}};
        check_rows(weft::run_batch(devices, program, {&job, 1}), devices, kElements);
        bool right = true;
        for (std::uint64_t i = 0; i < kElements; ++i)
            right = right && out[i] == static_cast<std::uint32_t>(i * 7 * 3 + 5 + i);
        CHECK(right);
    });
}

TEST_CASE("devices: too little work stays on one, with the reason; without jobs nothing runs") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work({3000});
        const BatchReport report = weft::run_batch(devices, program, work.jobs);
        CHECK(work.right());
        std::size_t used = 0;
        for (const weft::DeviceReport& row : report.devices)
            if (row.shares != 0)
                ++used;
            else
                CHECK(row.note.find("too little work to share") != std::string::npos);
        CHECK(used == 1);
        CHECK(weft::run_batch(devices, program, {}).jobs == 0);
        AffineWork empty({0, 0});
        CHECK(weft::run_batch(devices, program, empty.jobs).jobs == 2);
    });
}

TEST_CASE("devices: progress rises on the caller's thread and ends at the total") {
    on_devices(512, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work(std::vector<std::size_t>(400, 100));
        std::uint64_t last = 0, calls = 0;
        const std::thread::id caller = std::this_thread::get_id();
        const auto progress = [&](const weft::Progress& p) {
            CHECK(p.done > last);
            CHECK(p.total == 400);
            CHECK(std::this_thread::get_id() == caller);
            last = p.done;
            ++calls;
        };
        weft::run_batch(devices, program, work.jobs, {.progress = progress});
        CHECK(last == 400);
        CHECK(calls != 0);
        AffineWork large({200000});
        last = 0;
        weft::run_batch(devices, program, large.jobs, {.progress = [&](const weft::Progress& p) {
                            CHECK(p.done == 1);
                            ++last;
                        }});
        CHECK(last == 1);
    });
}

TEST_CASE("devices: a stop and an exception end the call, and the devices go on") {
    on_devices(512, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work(std::vector<std::size_t>(2000, 100));
        std::stop_source before;
        before.request_stop();
        check_error(Errc::cancelled, "run_batch: cancelled by its stop token",
                    [&] { weft::run_batch(devices, program, work.jobs, {.cancel = before.get_token()}); });
        CHECK(work.untouched());
        std::stop_source during;
        check_error(Errc::cancelled, "run_batch: cancelled by its stop token", [&] {
            weft::run_batch(devices, program, work.jobs,
                            {.progress = [&](const weft::Progress&) { during.request_stop(); },
                             .cancel = during.get_token()});
        });
        CHECK_THROWS_AS(
            weft::run_batch(devices, program, work.jobs,
                            {.progress = [](const weft::Progress&) { throw std::runtime_error("mine"); }}),
            std::runtime_error);
        work.clear();
        weft::run_batch(devices, program, work.jobs);
        CHECK(work.right());
    });
}

TEST_CASE("devices: refusals leave everything untouched") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work({50000, 20000});
        auto wrong = work.jobs;
        wrong[1].elements = 777;
        check_error(Errc::invalid_argument, "run_batch: job 1",
                    [&] { weft::run_batch(devices, program, wrong); });
        auto shared = work.jobs;
        shared[1].outputs = shared[0].outputs;
        shared[1].inputs = shared[0].inputs;
        shared[1].elements = shared[0].elements;
        check_error(Errc::invalid_argument, "run_batch:", [&] { weft::run_batch(devices, program, shared); });
        const Program of_one(devices[0], kAffine);
        check_error(Errc::invalid_argument, "belongs to another backend",
                    [&] { weft::run_batch(devices, of_one, work.jobs); });
        CHECK(work.untouched());
        weft::run_batch(devices[1], program, work.jobs);  // a program for all serves each
        CHECK(work.right());
    });
}

TEST_CASE("devices: several threads share them") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        std::atomic<int> right{0};
        std::vector<std::jthread> threads;
        for (std::uint32_t t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (std::uint32_t round = 0; round < 5; ++round) {
                    AffineWork work({30000, 100, 20000}, t * 10 + round + 1);
                    weft::run_batch(devices, program, work.jobs);
                    right += work.right() ? 1 : 0;
                }
            });
        threads.clear();
        CHECK(right == 20);
    });
}

TEST_CASE("devices: a pipeline runs each job on the device that is free") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work(std::vector<std::size_t>(300, 2000));
        std::uint64_t notified = 0;
        weft::JobPipeline pipeline(devices, program, {.progress = [&](const weft::Progress& p) {
                                       CHECK(p.done == notified + 1);
                                       notified = p.done;
                                   }});
        std::vector<weft::JobToken> tokens;
        for (const weft::Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
        CHECK(pipeline.wait(tokens[17]));
        pipeline.wait_all();
        CHECK(work.right());
        CHECK(notified == 300);
        const BatchReport report = pipeline.report();
        CHECK(report.jobs == 300);
        CHECK(report.elements == 600000);
        REQUIRE(report.devices.size() == devices.size());
        std::uint64_t jobs = 0;
        for (const weft::DeviceReport& row : report.devices) {
            CHECK(row.jobs != 0);
            jobs += row.jobs;
            CHECK(row.shares != 0);
            CHECK(row.shares <= row.jobs);
        }
        CHECK(jobs == 300);
        CHECK(report.bytes_in == 600000 * 4);
        check_rows(report, devices, 600000);
        check_error(Errc::invalid_argument, "JobPipeline::submit", [&] {
            weft::Job wrong = work.jobs[0];
            wrong.elements = 3;
            pipeline.submit(wrong);
        });
    });
}

TEST_CASE("devices: a pipeline's job without memory on its device runs on another one") {
    if (!make_backend()) return;
    std::vector<weft::Config> configs(2, weft::Config::from_env());
    configs[0].device = configs[1].device = std::to_string(weft::Backend().device().index);
    configs[0].memory_limit = 4096;
    Devices devices(configs);
    const Program program(devices, kAffine);
    AffineWork work(std::vector<std::size_t>(40, 100000));
    weft::JobPipeline pipeline(devices, program, {.path = weft::Path::staged});
    std::vector<weft::JobToken> tokens;
    for (const weft::Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
    for (const weft::JobToken token : tokens) CHECK(pipeline.wait(token));
    pipeline.wait_all();
    CHECK(work.right());
    const BatchReport report = pipeline.report();
    CHECK(report.jobs == 40);
    CHECK(report.devices[0].jobs == 0);
    CHECK(report.devices[1].jobs == 40);
    CHECK_FALSE(devices.lost(0));
    // Where no device has memory, the job fails.
    configs[1].memory_limit = 4096;
    Devices small(configs);
    const Program of_small(small, kAffine);
    weft::JobPipeline fails(small, of_small, {.path = weft::Path::staged});
    const weft::JobToken token = fails.submit(work.jobs[0]);
    check_error(Errc::out_of_memory, ":", [&] { fails.wait(token); });
}

TEST_CASE("devices: a pipeline cancels, and an exception of its callback fails what is left") {
    on_devices(1024, [](Devices& devices) {
        const Program program(devices, kAffine);
        AffineWork work(std::vector<std::size_t>(200, 2000));
        std::stop_source stop;
        {
            weft::JobPipeline pipeline(devices, program, {.cancel = stop.get_token()});
            for (const weft::Job& job : work.jobs) pipeline.submit(job);
            stop.request_stop();
            check_error(Errc::cancelled, "JobPipeline", [&] { pipeline.wait_all(); });
            check_error(Errc::cancelled, "JobPipeline::submit", [&] { pipeline.submit(work.jobs[0]); });
        }
        {
            weft::JobPipeline pipeline(devices, program, {.progress = [](const weft::Progress& p) {
                                           if (p.done == 20) throw std::runtime_error("mine");
                                       }});
            std::size_t failed = 0;
            std::vector<weft::JobToken> tokens;
            try {
                for (const weft::Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
            } catch (const std::runtime_error&) {
                ++failed;
            }
            for (const weft::JobToken token : tokens) try {
                    pipeline.wait(token);
                } catch (const std::runtime_error&) {
                    ++failed;
                }
            CHECK(failed != 0);
        }
        { const weft::JobPipeline dropped(devices, program); }
    });
}
