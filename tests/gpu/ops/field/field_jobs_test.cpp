// SPDX-License-Identifier: Apache-2.0
// Field jobs as batches: sizes around every edge, aliasing, kinds of memory, paths, queues, modes, bad input.
#include <algorithm>
#include <bit>
#include <functional>
#include <stop_token>
#include <vector>

#include <weft/weft.hpp>

#include "support/field_oracle.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::BatchMode;
using weft::FieldJob;
using weft::FieldOp;
using weft::Path;
using weft::QueueMode;
using Limbs = std::vector<std::uint64_t>;

constexpr std::uint32_t kAddShader[] = {
#include "shaders/field_add_looped.spv.inc"
};

constexpr std::uint64_t kGuard = 0xa5a5a5a5deadbeef;
constexpr std::size_t kGuardLimbs = 24;

// Jobs of the given element counts with their inputs, guarded outputs and right answers.
struct Work {
    std::vector<Limbs> a, b, out, want;
    std::vector<FieldJob> jobs;

    explicit Work(const std::vector<std::size_t>& counts, FieldOp op = FieldOp::add) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            a.push_back(random_elements(counts[i], 100 + i));
            b.push_back(op == FieldOp::neg ? Limbs{} : random_elements(counts[i], 200 + i));
            out.emplace_back(counts[i] * 6 + kGuardLimbs, kGuard);
            want.push_back(expected(op, a[i], b[i]));
            want[i].resize(out[i].size(), kGuard);
        }
        for (std::size_t i = 0; i < counts.size(); ++i)
            jobs.push_back({a[i], b[i], {}, std::span(out[i]).first(counts[i] * 6)});
    }
    void check() const {
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            CAPTURE(i);
            const auto [got, right] = std::mismatch(out[i].begin(), out[i].end(), want[i].begin());
            CAPTURE(got - out[i].begin());
            CHECK(got == out[i].end());
        }
    }
    bool untouched() const {
        return std::all_of(out.begin(), out.end(), [](const Limbs& limbs) {
            return std::all_of(limbs.begin(), limbs.end(), [](std::uint64_t v) { return v == kGuard; });
        });
    }
};

constexpr auto kField = weft::Field::bls12_381_fp;

weft::FieldHostOptions with(BatchMode mode, Path path = Path::automatic,
                            QueueMode queues = QueueMode::automatic, std::uint64_t chunk = 0) {
    return {.batch = {.mode = mode, .path = path, .queues = queues, .chunk_elements = chunk}};
}

}  // namespace

TEST_CASE("field jobs: sizes around workgroup and chunk edges, guards after each output") {
    constexpr std::size_t kChunk = 320;
    on_device([](weft::Backend& backend) {
        for (const FieldOp op : {FieldOp::add, FieldOp::sub, FieldOp::neg})
            for (const std::size_t count : {1u, 2u, 5u, 15u, 16u, 17u, 63u, 64u, 65u, 255u, 256u, 257u, 319u,
                                            320u, 321u, 640u, 641u, 1000u}) {
                CAPTURE(count);
                Work work({count}, op);
                const auto report = weft::field_batch(
                    backend, kField, op, work.jobs,
                    with(BatchMode::pipelined, Path::automatic, QueueMode::automatic, kChunk));
                work.check();
                CHECK(report.elements == count);
                CHECK(report.bytes_in == count * (op == FieldOp::neg ? 48 : 96));
                CHECK(report.bytes_out == count * 48);
            }
    });
}

TEST_CASE("field jobs: more elements than the launched invocations, so that they loop") {
    on_device([](weft::Backend& backend) {
        Work work({5000});
        const weft::Job job{.inputs = {work.a[0], work.b[0]},
                            .outputs = {{work.jobs[0].out.data, work.jobs[0].out.bytes()}},
                            .elements = 5000};
        weft::ProgramOptions options{.max_workgroups = 3};
        const Limbs p(weft::field_info(weft::Field::bls12_381_fp).modulus.begin(),
                      weft::field_info(weft::Field::bls12_381_fp).modulus.end());
        for (std::uint32_t i = 0; i < 12; ++i)
            options.constants.emplace_back(1 + i, static_cast<std::uint32_t>(p[i / 2] >> (i % 2 * 32)));
        weft::run_batch(backend, weft::Program(backend, kAddShader, options), {&job, 1});
        work.check();
    });
}

TEST_CASE("field jobs: batches of every shape, path and queue mode; pipelined equals sequential") {
    const std::vector<std::size_t> batches[] = {
        {700},       {64, 1000},
        {3, 0, 513}, {100, 2000, 1, 300},
        {0, 0},      {1, 2, 3, 4, 5, 600, 7, 0, 900, 10, 11, 12, 13, 1400, 15, 16}};
    on_device([&](weft::Backend& backend) {
        for (const Path path : {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host})
            for (const QueueMode queues : {QueueMode::automatic, QueueMode::single, QueueMode::split})
                for (const auto& counts : batches) {
                    CAPTURE(weft::to_string(path));
                    CAPTURE(weft::to_string(queues));
                    CAPTURE(counts.size());
                    Work pipelined(counts), sequential(counts);
                    weft::field_batch(backend, kField, FieldOp::add, pipelined.jobs,
                                      with(BatchMode::pipelined, path, queues, 256));
                    weft::field_batch(backend, kField, FieldOp::add, sequential.jobs,
                                      with(BatchMode::sequential, path, queues, 256));
                    pipelined.check();
                    CHECK(pipelined.out == sequential.out);
                }
    });
}

TEST_CASE("field jobs: nothing to do succeeds and submits nothing") {
    on_device([](weft::Backend& backend) {
        const auto none = weft::field_batch(backend, kField, FieldOp::add, {});
        CHECK(none.jobs == 0);
        CHECK(none.elements == 0);
        CHECK(none.items == 0);
        CHECK(none.op == "field_add");
        const auto empty = weft::field_add(backend, kField, {}, {}, {}, {.check_values = true});
        CHECK(empty.jobs == 1);
        CHECK(empty.elements == 0);
        CHECK(empty.path == Path::automatic);
        CHECK(backend.counters().submissions == 0);
    });
}

TEST_CASE("field jobs: in place in a, in b, with a as both operands, and with all three equal") {
    on_device([](weft::Backend& backend) {
        const Limbs x = random_elements(777, 1), y = random_elements(777, 2);
        for (const Path path : {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host})
            for (const BatchMode mode : {BatchMode::pipelined, BatchMode::sequential}) {
                CAPTURE(weft::to_string(path));
                const weft::FieldHostOptions options = with(mode, path, QueueMode::automatic, 100);
                Limbs a = x, b = y, out(x.size());
                weft::field_sub(backend, kField, a, b, a, options);
                CHECK(a == expected(FieldOp::sub, x, y));
                a = x;
                weft::field_sub(backend, kField, a, b, b, options);
                CHECK(b == expected(FieldOp::sub, x, y));
                weft::field_add(backend, kField, a, a, out, options);
                CHECK(out == expected(FieldOp::add, x, x));
                weft::field_add(backend, kField, a, a, a, options);
                CHECK(a == expected(FieldOp::add, x, x));
                a = x;
                weft::field_neg(backend, kField, a, a, options);
                CHECK(a == expected(FieldOp::neg, x, {}));
            }
    });
}

TEST_CASE("field jobs: refused batches leave every output as it was") {
    on_device([](weft::Backend& backend) {
        using weft::Errc;
        Work work({100, 50});
        const auto refused = [&](const char* part, const FieldJob& second, bool checked = false) {
            FieldJob jobs[] = {work.jobs[0], second};
            check_error(Errc::invalid_argument, part, [&] {
                weft::field_batch(backend, kField, FieldOp::add, jobs, {.check_values = checked});
            });
            CHECK(work.untouched());
        };
        const std::span a(work.a[1]), b(work.b[1]), out = std::span(work.out[1]).first(300),
                                                    first = std::span(work.out[0]).first(300);
        refused("job 1: b and a differ in length (got 294 limbs, need 300", {a, b.first(294), {}, out});
        refused("job 1: a does not hold whole elements", {a.first(299), b.first(299), {}, out.first(299)});
        refused("job 1: out overlaps a in part", {std::span(work.out[1]).subspan(6, 300), b, {}, out});
        refused("overlap", {a, b, {}, first});
        refused("overlap", {first, b, {}, out});
        Limbs bad(b.begin(), b.begin() + 49 * 6);
        append(bad, fp());
        refused("job 1: element 49 of b is not canonical", {a, bad, {}, out}, true);
        CHECK(backend.counters().submissions == 0);
        check_error(Errc::invalid_argument, "field_add: out and a differ in length",
                    [&] { weft::field_add(backend, kField, a, b, out.first(6)); });
    });
}

TEST_CASE("field jobs: checked mode accepts values below p and computes them") {
    on_device([](weft::Backend& backend) {
        Work work({300, 0, 5});
        weft::FieldHostOptions options;
        options.check_values = true;
        weft::field_batch(backend, kField, FieldOp::add, work.jobs, options);
        work.check();
    });
}

TEST_CASE("field jobs: ordinary memory at 8 modulo 16, and page-locked memory") {
    on_device([](weft::Backend& backend) {
        const std::size_t limbs = 500 * 6;
        const Limbs x = random_elements(500, 5), y = random_elements(500, 6);
        const Limbs want = expected(FieldOp::add, x, y);
        const auto odd = [](Limbs& memory) {
            const bool shift = std::bit_cast<std::uintptr_t>(memory.data()) % 16 == 0;
            return std::span(memory).subspan(shift ? 1 : 0, memory.size() - 2);
        };
        weft::HostBuffer<std::uint64_t> pa(backend, limbs), pb(backend, limbs + 6), pout(backend, limbs);
        std::copy(x.begin(), x.end(), pa.begin());
        std::copy(y.begin(), y.end(), pb.begin() + 6);
        for (const Path path : {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host}) {
            CAPTURE(weft::to_string(path));
            const weft::FieldHostOptions options =
                with(BatchMode::pipelined, path, QueueMode::automatic, 128);
            Limbs a(limbs + 2), b(limbs + 2), out(limbs + 2, kGuard);
            std::ranges::copy(x, odd(a).begin());
            std::ranges::copy(y, odd(b).begin());
            weft::field_add(backend, kField, odd(a), odd(b), odd(out), options);
            CHECK(std::ranges::equal(odd(out), want));
            CHECK(std::count(out.begin(), out.end(), kGuard) == 2);

            std::fill(pout.begin(), pout.end(), kGuard);
            weft::field_add(backend, kField, pa.span(), pb.span().subspan(6), pout.span(), options);
            CHECK(std::ranges::equal(pout.span(), want));
            std::fill(pout.begin(), pout.end(), kGuard);
            weft::field_add(backend, kField, odd(a), pb.span().subspan(6), pout.span(), options);
            CHECK(std::ranges::equal(pout.span(), want));
        }
    });
}

TEST_CASE("field jobs: the same job again gives the same bits and makes nothing new") {
    on_device([](weft::Backend& backend) {
        Work first({64}), second({64});
        for (int i = 0; i < 3; ++i) weft::field_batch(backend, kField, FieldOp::add, first.jobs);
        const weft::Counters before = backend.counters();
        weft::field_batch(backend, kField, FieldOp::add, second.jobs);
        const weft::Counters after = backend.counters();
        second.check();
        CHECK(first.out == second.out);
        CHECK(after.objects_created == before.objects_created);
        CHECK(after.memory_allocations == before.memory_allocations);
        CHECK(after.descriptor_updates == before.descriptor_updates);
    });
}

TEST_CASE("field jobs: two backends side by side") {
    on_device([](weft::Backend& one) {
        on_device([&](weft::Backend& two) {
            Work a({1000, 10}), b({1000, 10}), c({5}, FieldOp::neg);
            weft::field_batch(one, kField, FieldOp::add, a.jobs);
            weft::field_batch(two, kField, FieldOp::add, b.jobs);
            weft::field_batch(one, kField, FieldOp::neg, c.jobs);
            a.check();
            c.check();
            CHECK(a.out == b.out);
        });
    });
}

TEST_CASE("field jobs: progress counts elements, and a stop ends the call") {
    on_device([](weft::Backend& backend) {
        Work work({1000, 0, 300, 2000});
        weft::FieldHostOptions options =
            with(BatchMode::sequential, Path::automatic, QueueMode::automatic, 100);
        std::stop_source stop;
        options.batch.cancel = stop.get_token();
        std::vector<std::uint64_t> done;
        options.batch.progress = [&](const weft::Progress& progress) {
            CHECK(progress.total == 3300);
            done.push_back(progress.done);
        };
        const weft::OpReport report = weft::field_batch(backend, kField, FieldOp::add, work.jobs, options);
        work.check();
        // After each chunk of a job, and at its end.
        CHECK(done.front() < 1000);
        CHECK(std::adjacent_find(done.begin(), done.end(), std::greater_equal<>()) == done.end());
        for (const std::uint64_t whole : {1000u, 1300u, 3300u})
            CHECK(std::count(done.begin(), done.end(), whole) == 1);
        CHECK(done.back() == 3300);
        CHECK(report.items == 3300);
        CHECK((report.method == "limbs32" || report.method == "limbs64"));
        stop.request_stop();
        for (const FieldOp op : {FieldOp::add, FieldOp::sub})
            check_error(weft::Errc::cancelled, "cancelled by its stop token",
                        [&] { weft::field_batch(backend, kField, op, work.jobs, options); });
    });
}
