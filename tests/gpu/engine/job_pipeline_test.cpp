// SPDX-License-Identifier: Apache-2.0
// Jobs that are submitted one by one: tokens, timeouts, cancelling, refusals, the end of a pipeline.
#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using namespace std::chrono_literals;
using weft::Errc;
using weft::Job;
using weft::JobPipeline;
using weft::JobState;
using weft::JobToken;
using weft::Path;
using weft::Program;
using Words = std::vector<std::uint32_t>;

namespace {

/// A job that keeps the device busy for some tens of milliseconds, so that later jobs stay queued.
class SlowJob {
  public:
    explicit SlowJob(std::uint32_t rounds = 10000) : in_(words(1024)), out_(in_.size()), rounds_(rounds) {
        job = Job{{in_}, {out_}, in_.size(), rounds_};
    }
    bool right() const {
        return out_.front() == slow_result(in_.front(), rounds_) &&
               out_.back() == slow_result(in_.back(), rounds_);
    }
    Job job;

  private:
    Words in_, out_;
    std::uint32_t rounds_;
};

}  // namespace

TEST_CASE("pipeline: tokens in any order, wait twice, state follows") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100, 5000, 1, 70000});
        JobPipeline pipeline(backend, program, {.chunk_elements = 1000});
        std::vector<JobToken> tokens;
        for (const Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
        for (const std::size_t j : {3u, 0u, 2u, 1u}) {
            CHECK(pipeline.wait(tokens[j]));
            CHECK(pipeline.state(tokens[j]) == JobState::done);
            CHECK(work.right(j));
            CHECK(pipeline.wait(tokens[j], 0ns));
        }
        CHECK_NOTHROW(pipeline.wait_all());
        const weft::BatchReport report = pipeline.report();
        CHECK(report.jobs == 4);
        CHECK(report.elements == 75101);
        CHECK(report.bytes_in == 4 * 75101);
        CHECK(report.bytes_out == 4 * 75101);
        check_usable(backend);
    });
}

TEST_CASE("pipeline: a wait that times out reports it and loses nothing") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        SlowJob slow;
        JobPipeline pipeline(backend, program);
        const JobToken token = pipeline.submit(slow.job);
        int early = 0;
        for (const auto timeout : {0ns, 1ns, std::chrono::nanoseconds(10us), std::chrono::nanoseconds(-5s)})
            early += pipeline.wait(token, timeout) ? 0 : 1;
        CHECK(early > 0);
        CHECK(pipeline.wait(token, std::chrono::hours(24 * 365 * 200)));
        CHECK(slow.right());
        check_usable(backend);
    });
}

TEST_CASE("pipeline: a queued job is cancelled and never runs; a running or finished one is too late") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        std::vector<SlowJob> running(4);
        const Words in = words(100);
        Words out(in.size(), kGuardWord);
        JobPipeline pipeline(backend, program, {.ring_slots = 1});
        std::vector<JobToken> tokens;
        for (const SlowJob& slow : running) {
            tokens.push_back(pipeline.submit(slow.job));
            while (pipeline.state(tokens[0]) == JobState::queued) {
            }
        }
        const JobToken queued = pipeline.submit({{in}, {out}, in.size(), std::uint32_t{1}});
        REQUIRE(pipeline.state(queued) == JobState::queued);
        CHECK(pipeline.cancel(queued));
        CHECK(pipeline.state(queued) == JobState::cancelled);
        CHECK_FALSE(pipeline.cancel(queued));
        CHECK_FALSE(pipeline.cancel(tokens[0]));
        check_error(Errc::cancelled, "job 4", [&] { pipeline.wait(queued); });
        // Its memory may be used again immediately.
        const JobToken again = pipeline.submit({{in}, {out}, in.size(), std::uint32_t{1}});
        CHECK_NOTHROW(pipeline.wait_all());
        CHECK(pipeline.state(again) == JobState::done);
        CHECK(out[5] == slow_result(in[5], 1));
        CHECK_FALSE(pipeline.cancel(again));
        for (const SlowJob& slow : running) CHECK(slow.right());
        check_error(Errc::cancelled, "job 4", [&] { pipeline.wait(queued); });
        CHECK(pipeline.report().jobs == 5);
        check_usable(backend);
    });
}

TEST_CASE("pipeline: tokens it never gave are refused") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        JobPipeline pipeline(backend, program);
        for (const JobToken token : {JobToken{}, JobToken{1}, JobToken{77}}) {
            const std::string got = "got " + std::to_string(token.id);
            check_error(Errc::invalid_argument, got, [&] { pipeline.wait(token); });
            check_error(Errc::invalid_argument, got, [&] { pipeline.cancel(token); });
            check_error(Errc::invalid_argument, got, [&] { pipeline.state(token); });
        }
        CHECK_NOTHROW(pipeline.wait_all());
        CHECK(pipeline.report().jobs == 0);
    });
}

TEST_CASE("pipeline: a job that does not fit is refused at submit and changes nothing") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100, 200});
        JobPipeline pipeline(backend, program);
        Job bad = work.jobs[0];
        bad.parameters = {};
        check_error(Errc::invalid_argument, "got 0, need 8", [&] { pipeline.submit(bad); });
        Job shifted = work.jobs[0];
        shifted.inputs = {{work.out(0).data() + 1, 400}};
        check_error(Errc::invalid_argument, "memory of job 0 and job 0", [&] { pipeline.submit(shifted); });
        CHECK(work.untouched());
        CHECK(pipeline.wait(pipeline.submit(work.jobs[0])));
        CHECK(pipeline.wait(pipeline.submit(work.jobs[1])));
        CHECK(work.right());
        check_error(Errc::invalid_argument, "17",
                    [&] { JobPipeline other(backend, program, {.ring_slots = 17}); });
    });
}

TEST_CASE("pipeline: memory of a job under way may be read by another, not written") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        SlowJob slow(60000);
        const auto* in = static_cast<const std::uint32_t*>(slow.job.inputs[0].data);
        auto* target = static_cast<std::uint32_t*>(slow.job.outputs[0].data);
        Words out(1024);
        const std::uint32_t once = 1;
        JobPipeline pipeline(backend, program);
        const JobToken first = pipeline.submit(slow.job);
        const auto refused = [&](const Job& job) {
            check_error(Errc::invalid_argument, "memory of job 1 overlaps that of job 0",
                        [&] { pipeline.submit(job); });
        };
        refused({{{in, 4096}}, {{target, 4096}}, 1024, once});        // both write
        refused({{{target + 1023, 4}}, {{out.data(), 4}}, 1, once});  // reads memory that is written
        refused({{{out.data(), 4}},
                 {{const_cast<std::uint32_t*>(in), 4}},
                 1,
                 once});  // writes memory that is read
        const JobToken second = pipeline.submit({{{in, 4096}}, {out}, 1024, once});
        CHECK(pipeline.wait(first));
        CHECK(pipeline.wait(second));
        CHECK(slow.right());
        CHECK(out[3] == slow_result(in[3], once));
        // Afterwards the same memory may be used again.
        CHECK(pipeline.wait(pipeline.submit({{{target, 4096}}, {{target, 4096}}, 1024, once})));
    });
}

TEST_CASE("pipeline: jobs without elements are done without the device") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({0, 50, 0, 0});
        JobPipeline pipeline(backend, program);
        std::vector<JobToken> tokens;
        for (const Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
        for (const JobToken token : tokens) CHECK(pipeline.wait(token, 60s));
        CHECK(work.right());
        CHECK(pipeline.report().jobs == 4);
    });
}

TEST_CASE("pipeline: five hundred small jobs of many sizes and kinds of memory") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        std::mt19937 random(7);
        std::vector<std::size_t> counts(500);
        for (std::size_t& count : counts) count = random() % 4 == 0 ? random() % 20000 : random() % 300;
        for (const Path path : {Path::automatic, Path::staged}) {
            AffineWork work(counts);
            JobPipeline pipeline(backend, program, {.path = path, .chunk_elements = 4096});
            std::vector<JobToken> tokens;
            for (const Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
            for (std::size_t j = 0; j < tokens.size(); j += 7) {
                CHECK(pipeline.wait(tokens[j]));
                CHECK(work.right(j));
            }
            pipeline.wait_all();
            CHECK(work.right());
            CHECK(pipeline.report().jobs == 500);
        }
    });
}

TEST_CASE("pipeline: destroyed with jobs queued and running, the backend stays usable") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        for (int round = 0; round < 3; ++round) {
            std::vector<SlowJob> jobs(40);
            JobPipeline pipeline(backend, program, {.ring_slots = 2});
            for (const SlowJob& slow : jobs) pipeline.submit(slow.job);
        }
        check_usable(backend);
    });
}

TEST_CASE("pipeline: moved while jobs run, and moved over another") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        std::vector<SlowJob> jobs(4);
        JobPipeline first(backend, program);
        const JobToken token = first.submit(jobs[0].job);
        JobPipeline second(std::move(first));
        CHECK(second.wait(token));
        CHECK(jobs[0].right());
        JobPipeline third(backend, program);
        third.submit(jobs[1].job);
        second.submit(jobs[2].job);
        second = std::move(third);
        second.submit(jobs[3].job);
        second.wait_all();
        CHECK(jobs[1].right());
        CHECK(jobs[3].right());
    });
}

TEST_CASE("pipeline: outlives its backend and its program, also while jobs run") {
    std::optional<weft::Backend> backend = make_backend();
    if (!backend) return;
    SlowJob running, later;
    std::optional<Program> program(std::in_place, *backend, kSlow);
    JobPipeline pipeline(*backend, *program);
    const JobToken token = pipeline.submit(running.job);
    backend.reset();
    program.reset();
    CHECK(pipeline.wait(token));
    CHECK(running.right());
    CHECK(pipeline.wait(pipeline.submit(later.job)));
    CHECK(later.right());
}

TEST_CASE("job pipeline: one that was moved from is an error, and texts name it") {
    on_device([](weft::Backend& backend) {
        weft::Program program(backend, kAffine);
        AffineWork work({100});
        weft::JobPipeline pipeline(backend, program);
        weft::JobPipeline moved = std::move(pipeline);
        check_error(weft::Errc::invalid_argument, "JobPipeline: used after it was moved from",
                    [&] { pipeline.submit(work.jobs[0]); });
        weft::Job wrong = work.jobs[0];
        wrong.outputs = {};
        check_error(weft::Errc::invalid_argument, "JobPipeline::submit: job 0", [&] { moved.submit(wrong); });
        CHECK(moved.wait(moved.submit(work.jobs[0])));
        CHECK(work.right());
        const weft::Program taken = std::move(program);
        check_error(weft::Errc::invalid_argument, "Program: used after it was moved from",
                    [&] { weft::run_batch(backend, program, work.jobs); });
    });
}

TEST_CASE("job pipeline: tokens of another pipeline are refused") {
    on_device([](weft::Backend& backend) {
        const weft::Program program(backend, kAffine);
        AffineWork first({100}), second({100});
        weft::JobPipeline one(backend, program), other(backend, program);
        const weft::JobToken mine = one.submit(first.jobs[0]), theirs = other.submit(second.jobs[0]);
        check_error(weft::Errc::invalid_argument, "unknown token", [&] { one.wait(theirs); });
        check_error(weft::Errc::invalid_argument, "unknown token", [&] { one.cancel(theirs); });
        check_error(weft::Errc::invalid_argument, "unknown token",
                    [&] { static_cast<void>(other.state(mine)); });
        CHECK(one.wait(mine));
        CHECK(other.wait(theirs));
        CHECK((first.right() && second.right()));
    });
}

TEST_CASE("pipeline: progress is reported job by job, on one thread, before a wait for the job returns") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100, 5000, 1, 70000, 12, 900});
        std::atomic<std::size_t> last{0};
        std::size_t calls = 0, given = 0;
        bool in_order = true;
        std::thread::id thread;
        weft::BatchOptions options;
        options.progress = [&](const weft::Progress& now) {
            const std::size_t done = now.done, jobs = now.total;
            in_order = in_order && done == ++calls && done <= jobs && jobs >= given;
            in_order = in_order && (calls == 1 || thread == std::this_thread::get_id());
            thread = std::this_thread::get_id();
            given = jobs;
            last = done;
        };
        JobPipeline pipeline(backend, program, options);
        for (std::size_t j = 0; j < work.jobs.size(); ++j) {
            const JobToken token = pipeline.submit(work.jobs[j]);
            if (j % 2 == 1) {
                CHECK(pipeline.wait(token));
                CHECK(last == j + 1);
            }
        }
        pipeline.wait_all();
        CHECK(calls == work.jobs.size());
        CHECK(given == work.jobs.size());
        CHECK(in_order);
        CHECK(thread != std::this_thread::get_id());
        CHECK(work.right());
    });
}

TEST_CASE("pipeline: an exception of the progress callback fails the jobs not yet done, and no others") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100, 200, 300});
        weft::BatchOptions options;
        options.progress = [](const weft::Progress& now) {
            if (now.done == 2) throw std::runtime_error("enough");
        };
        JobPipeline pipeline(backend, program, options);
        const JobToken first = pipeline.submit(work.jobs[0]);
        CHECK(pipeline.wait(first));
        const JobToken second = pipeline.submit(work.jobs[1]);
        CHECK(pipeline.wait(second));  // its outputs are in place
        CHECK(work.right(1));
        bool thrown = false;
        // The pipeline ends shortly afterwards; a job that is submitted before that fails like a later one.
        for (int i = 0; i < 1000 && !thrown; ++i) {
            try {
                pipeline.wait(pipeline.submit(work.jobs[2]));
            } catch (const std::runtime_error& error) {
                thrown = std::string(error.what()) == "enough";
            }
        }
        CHECK(thrown);
        check_usable(backend);
    });
}

TEST_CASE("pipeline: a stop cancels the queued jobs, the running ones finish, and waits report it") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        std::vector<SlowJob> slow(4);
        const Words in = words(100);
        Words out(in.size(), kGuardWord);
        std::stop_source stop;
        JobPipeline pipeline(backend, program, {.ring_slots = 1, .cancel = stop.get_token()});
        std::vector<JobToken> tokens;
        for (const SlowJob& job : slow) tokens.push_back(pipeline.submit(job.job));
        while (pipeline.state(tokens[0]) == JobState::queued) {
        }
        const JobToken last = pipeline.submit({{in}, {out}, in.size(), std::uint32_t{1}});
        REQUIRE(pipeline.state(last) == JobState::queued);
        stop.request_stop();
        CHECK(pipeline.state(last) == JobState::cancelled);
        CHECK(pipeline.wait(tokens[0]));
        check_error(Errc::cancelled, "JobPipeline::wait: job 4 was cancelled", [&] { pipeline.wait(last); });
        try {
            pipeline.wait_all();  // throws if one of the slow jobs was still queued
        } catch (const weft::Error& error) {
            CHECK(error.code() == Errc::cancelled);
        }
        for (std::size_t i = 0; i < slow.size(); ++i) {
            const JobState state = pipeline.state(tokens[i]);
            CHECK((state == JobState::done || state == JobState::cancelled));
            if (state == JobState::done) CHECK(slow[i].right());
        }
        CHECK(out[5] == kGuardWord);
        check_error(Errc::cancelled, "JobPipeline::submit", [&] {
            pipeline.submit({{in}, {out}, in.size(), std::uint32_t{1}});
        });
        check_usable(backend);
    });
}

TEST_CASE("pipeline: wait_all throws for jobs that a stop cancelled, not for those that cancel() took back") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        SlowJob running;
        const Words in = words(100);
        Words first(in.size()), second(in.size());
        std::stop_source stop;
        JobPipeline pipeline(backend, program, {.ring_slots = 1, .cancel = stop.get_token()});
        const JobToken token = pipeline.submit(running.job);
        while (pipeline.state(token) == JobState::queued) {
        }
        const JobToken taken_back = pipeline.submit({{in}, {first}, in.size(), std::uint32_t{1}});
        pipeline.submit({{in}, {second}, in.size(), std::uint32_t{1}});
        REQUIRE(pipeline.cancel(taken_back));
        stop.request_stop();
        check_error(Errc::cancelled, "JobPipeline::wait_all: job 2", [&] { pipeline.wait_all(); });
        CHECK_NOTHROW(pipeline.wait_all());
        CHECK(running.right());
        // After a stop, submit is refused.
        JobPipeline late(backend, program, {.cancel = stop.get_token()});
        check_error(Errc::cancelled, "submit", [&] { late.submit(running.job); });
        CHECK_NOTHROW(late.wait_all());
    });
}

TEST_CASE("pipeline: its progress callback may request the stop") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work(std::vector<std::size_t>(64, 20000));
        std::stop_source stop;
        weft::BatchOptions options{.chunk_elements = 20000, .ring_slots = 1};
        options.cancel = stop.get_token();
        options.progress = [&](const weft::Progress& now) {
            if (now.done == 2) stop.request_stop();
        };
        JobPipeline pipeline(backend, program, options);
        std::vector<JobToken> tokens;
        try {
            for (const Job& job : work.jobs) tokens.push_back(pipeline.submit(job));
        } catch (const weft::Error& error) {
            CHECK(error.code() == Errc::cancelled);
        }
        try {
            pipeline.wait_all();
        } catch (const weft::Error& error) {
            CHECK(error.code() == Errc::cancelled);
        }
        std::size_t done = 0;
        for (std::size_t j = 0; j < tokens.size(); ++j) {
            if (pipeline.state(tokens[j]) != JobState::done) continue;
            ++done;
            CHECK(work.right(j));
        }
        CHECK(done >= 2);
        CHECK(pipeline.report().jobs == done);
        check_usable(backend);
    });
}
