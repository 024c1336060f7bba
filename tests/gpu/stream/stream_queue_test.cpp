// SPDX-License-Identifier: Apache-2.0
// Streams of the upload and download queues: copies next to kernels, ordered by events alone.
#include <algorithm>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Buffer;
using weft::Errc;
using weft::HostBuffer;
using weft::Program;
using weft::Stream;
using weft::StreamQueue;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::size_t kCount = 5000;

Words affine(const Words& in, std::uint32_t factor, std::uint32_t offset) {
    Words out(in);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = out[i] * factor + offset + static_cast<std::uint32_t>(i);
    return out;
}

// Runs the body on a backend with the planned queues and on one with split queues.
template <class Body>
void on_either_plan(const Body& body) {
    for (const weft::QueueMode queues : {weft::QueueMode::automatic, weft::QueueMode::split}) {
        weft::Config config = weft::Config::from_env();
        config.queues = queues;
        on_device(body, config);
    }
}

}  // namespace

TEST_CASE("stream queues: uploads, kernels and downloads of three streams in turns") {
    on_either_plan([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        Stream up(backend, {.name = "up", .queue = StreamQueue::upload}), compute(backend),
            down(backend, {.name = "down", .queue = StreamQueue::download});
        constexpr std::size_t kSlots = 2;
        std::vector<Buffer<std::uint32_t>> in, out;
        std::vector<HostBuffer<std::uint32_t>> got;
        std::vector<weft::Event> loaded(kSlots), worked(kSlots), stored(kSlots);
        for (std::size_t s = 0; s < kSlots; ++s) {
            in.emplace_back(backend, kCount);
            out.emplace_back(backend, kCount);
            got.emplace_back(backend, kCount);
        }
        for (std::uint32_t round = 0; round < 20; ++round) {
            const std::size_t s = round % kSlots;
            stored[s].wait();
            if (round >= kSlots) {
                const std::uint32_t before = round - static_cast<std::uint32_t>(kSlots);
                const Words want = affine(words(kCount, before), 3, before);
                CHECK(std::equal(want.begin(), want.end(), got[s].begin()));
            }
            up.wait_for(worked[s]);
            const Words values = words(kCount, round);
            up.upload(values, in[s]);
            loaded[s] = up.submit();
            compute.wait_for(stored[s]);  // one submission waits for two roles
            compute.wait_for(loaded[s]);
            compute.dispatch(program, {in[s], out[s]}, kCount, AffineParameters{3, round});
            worked[s] = compute.submit();
            down.wait_for(worked[s]);
            down.copy<std::uint32_t>(out[s].view(), got[s].view());
            stored[s] = down.submit();
        }
    });
}

TEST_CASE("stream queues: fills, copies, downloads and sequences of a copying stream") {
    on_either_plan([](weft::Backend& backend) {
        Stream up(backend, {.queue = StreamQueue::upload}), other(backend, {.queue = StreamQueue::upload});
        Buffer<std::uint32_t> a(backend, kCount), b(backend, kCount);
        up.fill(a.view(), 7);
        const weft::Sequence steps = up.record([&](Stream& to) {
            to.copy<std::uint32_t>(a.view(), b.view());
            to.fill(a.view(), 9);
        });
        CHECK(steps.barriers() >= 1);
        up.replay(steps);
        CHECK(up.download(b) == Words(kCount, 7));
        CHECK(up.download(a) == Words(kCount, 9));
        other.replay(steps);  // on the same queue
        CHECK(other.download(b) == Words(kCount, 9));
    });
}

TEST_CASE("stream queues: kernels and sequences of other queues are refused") {
    on_either_plan([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        Stream up(backend, {.queue = StreamQueue::upload}), compute(backend);
        Buffer<std::uint32_t> a(backend, kCount), b(backend, kCount);
        const Words in = words(kCount);
        up.upload(in, a);
        check_error(Errc::invalid_argument, "dispatch: the stream's queue copies only (got program", [&] {
            up.dispatch(program, {a, b}, kCount, AffineParameters{1, 0});
        });
        CHECK(up.download(a) == in);  // earlier steps still run
        const weft::Sequence kernels = compute.record([&](Stream& to) {
            to.dispatch(program, {a, b}, kCount, AffineParameters{1, 0});
        });
        check_error(Errc::invalid_argument, "replay: sequence of a stream of another queue",
                    [&] { up.replay(kernels); });
        const weft::Sequence copies =
            up.record([&](Stream& to) { to.copy<std::uint32_t>(a.view(), b.view()); });
        check_error(Errc::invalid_argument, "replay: sequence of a stream of another queue",
                    [&] { compute.replay(copies); });
        check_error(Errc::invalid_argument, "no such queue (got 3, need 0 to 2)",
                    [&] { Stream(backend, {.queue = static_cast<StreamQueue>(3)}); });
        compute.wait_for(up.submit());
        CHECK(compute.download(a) == in);
    });
}

TEST_CASE("stream queues: a profile includes copying streams") {
    on_either_plan([](weft::Backend& backend) {
        weft::Profile profile(backend);
        Stream up(backend, {.name = "loader", .queue = StreamQueue::upload});
        Buffer<std::uint32_t> a(backend, kCount);
        HostBuffer<std::uint32_t> from(backend, kCount);
        std::fill(from.begin(), from.end(), 3u);
        up.copy<std::uint32_t>(from.view(), a.view());
        up.wait();
        const weft::Sequence copies =
            up.record([&](Stream& to) { to.copy<std::uint32_t>(from.view(), a.view()); });
        up.replay(copies);
        CHECK(up.download(a) == Words(kCount, 3));
    });
}
