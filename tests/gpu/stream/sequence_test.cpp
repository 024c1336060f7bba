// SPDX-License-Identifier: Apache-2.0
// Sequences that are recorded once and replayed, events, and steps that depend on each other only if they
// overlap.
#include <chrono>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using namespace std::chrono_literals;
using weft::Buffer;
using weft::Errc;
using weft::Event;
using weft::HostBuffer;
using weft::Program;
using weft::Sequence;
using weft::Stream;
using Words = std::vector<std::uint32_t>;

namespace {

/// The result of in_place.comp for x[i] after `rounds` dispatches.
std::uint32_t in_place_result(std::uint32_t x, std::uint32_t i, std::uint32_t rounds) {
    return x + rounds * (1000 + i);
}

}  // namespace

TEST_CASE("sequence: runs once for each replay, and a replay records nothing") {
    on_device([](weft::Backend& backend) {
        const Program in_place(backend, kInPlace);
        Stream stream(backend, {.name = "replays"});
        CHECK(stream.name() == "replays");
        constexpr std::uint32_t kCount = 256, kSteps = 20, kReplays = 50;
        Buffer<std::uint32_t> x(backend, kCount);
        stream.fill(x.view(), 7);
        const Sequence chain = stream.record([&](Stream& s) {
            for (std::uint32_t i = 0; i < kSteps; ++i) s.dispatch(in_place, {x}, kCount);
        });
        CHECK(chain.steps() == kSteps);
        CHECK(chain.dispatches() == kSteps);
        CHECK(chain.barriers() == kSteps - 1);
        CHECK(stream.download(x) == Words(kCount, 7));  // recording ran nothing, and earlier steps are done
        stream.replay(chain);
        stream.wait();
        const weft::Counters before = backend.counters();
        for (std::uint32_t r = 1; r < kReplays; ++r) stream.replay(chain);
        stream.wait();
        const weft::Counters after = backend.counters();
        CHECK(after.submissions - before.submissions == kReplays - 1);
        CHECK(after.recordings == before.recordings);
        CHECK(after.descriptor_updates == before.descriptor_updates);
        CHECK(after.objects_created == before.objects_created);
        CHECK(after.memory_allocations == before.memory_allocations);
        Words want(kCount);
        for (std::uint32_t i = 0; i < kCount; ++i) want[i] = in_place_result(7, i, kSteps * kReplays);
        CHECK(stream.download(x) == want);
        // Replays and new steps keep their order.
        stream.fill(x.view(), 1);
        stream.replay(chain);
        stream.fill(x.view(0, 1), 5);
        const Words got = stream.download(x);
        CHECK(got[0] == 5);
        CHECK(got[1] == in_place_result(1, 1, kSteps));
    });
}

TEST_CASE("sequence: barriers only between steps that use the same memory") {
    on_device([](weft::Backend& backend) {
        const Program in_place(backend, kInPlace), affine(backend, kAffine);
        Stream stream(backend);
        Buffer<std::uint32_t> x(backend, 4096), y(backend, 4096);
        const auto barriers = [&](const std::function<void(Stream&)>& steps) {
            return stream.record(steps).barriers();
        };
        CHECK(barriers([&](Stream& s) {
                  for (std::size_t i = 0; i < 16; ++i) s.dispatch(in_place, {x.view(i * 256, 256)}, 256);
              }) == 0);
        CHECK(barriers([&](Stream& s) {
                  for (std::size_t i = 0; i < 16; ++i) s.dispatch(in_place, {x.view(0, 256)}, 256);
              }) == 15);
        CHECK(barriers([&](Stream& s) {  // readers of one range do not wait for each other
                  s.fill(x.view(), 3);
                  for (std::size_t i = 0; i < 16; ++i)
                      s.dispatch(affine, {x.view(0, 256), y.view(i * 256, 256)}, 256, AffineParameters{1, 2});
              }) == 1);
        CHECK(barriers([&](Stream& s) {
                  s.copy<std::uint32_t>(x.view(), y.view());
                  s.fill(x.view(), 1);
                  s.fill(y.view(64, 64), 1);
              }) == 2);
    });
}

TEST_CASE("sequence: host buffers change between replays, uploads inside do not") {
    on_device([](weft::Backend& backend) {
        const Program affine(backend, kAffine);
        Stream stream(backend);
        constexpr std::size_t kCount = 1000;
        HostBuffer<std::uint32_t> in(backend, kCount, "in"), out(backend, kCount, "out");
        Buffer<std::uint32_t> x(backend, kCount), y(backend, kCount), table(backend, kCount);
        Words fixed = words(kCount, 3);
        const Sequence step = stream.record([&](Stream& s) {
            s.copy<std::uint32_t>(in.view(), x.view());
            s.upload(fixed, table);
            s.dispatch(affine, {x, y}, kCount, AffineParameters{3, 5});
            s.copy<std::uint32_t>(y.view(), out.view());
        });
        const Words table_want = fixed;
        std::fill(fixed.begin(), fixed.end(), 0u);
        for (std::uint32_t round = 0; round < 5; ++round) {
            std::iota(in.begin(), in.end(), round * 100);
            stream.fill(table.view(), 0);
            stream.replay(step);
            REQUIRE(stream.wait());
            for (std::uint32_t i = 0; i < kCount; ++i) REQUIRE(out[i] == (round * 100 + i) * 3 + 5 + i);
            CHECK(stream.download(table) == table_want);
        }
        // A kernel may use a host buffer directly.
        stream.dispatch(affine, {in, out}, kCount, AffineParameters{1, 0});
        stream.wait();
        CHECK(out[9] == in[9] + 9);
        check_error(Errc::invalid_argument, "HostBuffer::view: range beyond the end (got first 999 count 2",
                    [&] { in.view(999, 2); });
    });
}

TEST_CASE("sequence: steps that it must not contain are refused, and nothing is lost") {
    on_device([](weft::Backend& backend) {
        const Program in_place(backend, kInPlace);
        Stream stream(backend);
        Buffer<std::uint32_t> x(backend, 64);
        stream.fill(x.view(), 9);
        Words out(64);
        const auto refused = [&](const char* part, const std::function<void(Stream&)>& step) {
            check_error(Errc::invalid_argument, part, [&] { stream.record(step); });
        };
        refused("Stream::submit: not inside record()", [](Stream& s) { s.submit(); });
        refused("Stream::wait: not inside record()", [](Stream& s) { s.wait(); });
        refused("Stream::download: not inside record()", [&](Stream& s) { s.download(x); });
        refused("Stream::replay: not inside record()", [](Stream& s) { s.replay({}); });
        refused("Stream::wait_for: not inside record()", [](Stream& s) { s.wait_for({}); });
        refused("Stream::record: not inside record()", [](Stream& s) { s.record([](Stream&) {}); });
        check_error(Errc::invalid_argument, "record: no steps", [&] { stream.record({}); });
        CHECK_THROWS_AS(stream.record([&](Stream& s) {
            s.fill(x.view(), 1);
            throw std::runtime_error("of the user");
        }),
                        std::runtime_error);
        CHECK(stream.download(x) == Words(64, 9));
        // The stream must not be moved from or assigned to while it records.
        Stream gone(backend);
        check_error(Errc::invalid_argument, "record: the stream was moved from or assigned to inside", [&] {
            gone.record([&](Stream& s) {
                Stream taken = std::move(s);
                taken.fill(x.view(), 3);
            });
        });
        check_error(Errc::invalid_argument, "used after it was moved from", [&] { gone.submit(); });
        Stream replaced(backend);
        check_error(Errc::invalid_argument, "record: the stream was moved from or assigned to inside", [&] {
            replaced.record([&](Stream& s) {
                s.fill(x.view(), 3);
                s = Stream(backend);
            });
        });
        replaced.wait();
        const Sequence empty = stream.record([](Stream&) {});
        CHECK(empty.steps() == 0);
        stream.replay(empty);
        stream.replay(Sequence());
        CHECK(stream.download(x) == Words(64, 9));
        check_usable(backend);
    });
}

TEST_CASE("sequence: keeps what it needs, and may outlive stream and backend") {
    std::optional<weft::Backend> backend = make_backend();
    if (!backend) return;
    Sequence sequence;
    {
        const Program in_place(*backend, kInPlace);
        Stream stream(*backend);
        Buffer<std::uint32_t> x(*backend, 64, "kept");
        HostBuffer<std::uint32_t> out(*backend, 64);
        stream.fill(x.view(), 0);
        sequence = stream.record([&](Stream& s) {
            s.dispatch(in_place, {x}, 64);
            s.copy<std::uint32_t>(x.view(), out.view());
        });
        const Sequence copy = sequence;
        stream.replay(copy);
        Stream other(*backend);
        other.replay(sequence);
        CHECK(other.wait());
        CHECK(out[1] == 2 * 1001);
        stream.replay(sequence);  // under way when everything is destroyed
    }
    const auto live = [&] {
        for (const auto& named : backend->memory().names)
            if (named.name == "kept") return named.live_count;
        return std::uint64_t{0};
    };
    CHECK(live() == 1);
    std::optional<weft::Backend> second = make_backend();
    {
        Stream stream(*second);
        check_error(Errc::invalid_argument, "replay: sequence of another backend",
                    [&] { stream.replay(sequence); });
    }
    sequence = {};
    CHECK(live() == 0);
    Stream stream(*backend);
    Buffer<std::uint32_t> x(*backend, 64);
    sequence = stream.record([&](Stream& s) { s.fill(x.view(), 1); });
    backend.reset();
    stream.replay(sequence);
    CHECK(stream.download(x) == Words(64, 1));
}

TEST_CASE("sequence: two threads replay one sequence, each on its own stream") {
    on_device([](weft::Backend& backend) {
        const Program in_place(backend, kInPlace);
        Buffer<std::uint32_t> x(backend, 64);
        Stream stream(backend);
        stream.fill(x.view(), 0);
        stream.wait();
        const Sequence once = stream.record([&](Stream& s) { s.dispatch(in_place, {x}, 64); });
        constexpr std::uint32_t kThreads = 4, kReplays = 100;
        std::vector<std::thread> threads;
        for (std::uint32_t t = 0; t < kThreads; ++t)
            threads.emplace_back([&] {
                Stream own(backend);
                for (std::uint32_t i = 0; i < kReplays; ++i) own.replay(once);
                own.wait();
            });
        for (std::thread& t : threads) t.join();
        CHECK(stream.download(x)[5] == in_place_result(0, 5, kThreads * kReplays));
    });
}

TEST_CASE("event: reached when the work before it is done") {
    on_device([](weft::Backend& backend) {
        const Program slow(backend, kSlow), in_place(backend, kInPlace);
        Event never_used;
        CHECK(never_used.done());
        CHECK(never_used.wait(0ns));
        Buffer<std::uint32_t> a(backend, 1024), b(backend, 1024);
        Event event;
        {
            Stream first(backend), second(backend);
            first.fill(a.view(), 1);
            first.dispatch(slow, {a, b}, 1024, std::uint32_t{60000});
            event = first.submit();
            CHECK_FALSE(event.wait(0ns));
            CHECK_FALSE(event.wait(1us));
            second.fill(a.view(), 2);  // recorded before the wait, so it may run first
            second.wait_for(event);
            second.dispatch(in_place, {b}, 1024);
            CHECK(second.download(b)[3] == in_place_result(slow_result(1, 60000), 3, 1));
            CHECK(event.done());
            event = second.submit();  // nothing new, so it stands for the work so far
            CHECK(event.done());
        }
        CHECK(event.wait());  // of a destroyed stream
    });
    std::optional<weft::Backend> one = make_backend(), two = make_backend();
    if (!one || !two) return;
    Stream first(*one), second(*two);
    const Event event = first.submit();
    check_error(Errc::invalid_argument, "wait_for: event of another backend",
                [&] { second.wait_for(event); });
}

TEST_CASE("stream: a steady state allocates nothing, for all sizes of transfers") {
    on_device([](weft::Backend& backend) {
        const Program affine(backend, kAffine);
        Stream stream(backend);
        constexpr std::size_t kCount = 3000;
        Buffer<std::uint32_t> x(backend, kCount), y(backend, kCount);
        const Words in = words(kCount);
        Words out(kCount);
        const auto round = [&](std::uint32_t offset) {
            stream.upload(in, x);
            stream.dispatch(affine, {x, y}, kCount, AffineParameters{1, offset});
            stream.download<std::uint32_t>(y.view(), out);
            return out[8] == in[8] + offset + 8;
        };
        for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(round(i));
        const weft::Counters before = backend.counters();
        for (std::uint32_t i = 0; i < 50; ++i) REQUIRE(round(i));
        const weft::Counters after = backend.counters();
        CHECK(after.objects_created == before.objects_created);
        CHECK(after.memory_allocations == before.memory_allocations);
        CHECK(after.descriptor_updates == before.descriptor_updates);
    });
}

TEST_CASE("stream: large transfers are made in chunks, so staging memory stays small") {
    on_device([](weft::Backend& backend) {
        Stream stream(backend);
        constexpr std::size_t kCount = (std::size_t{150} << 20) / 4 + 3;
        Buffer<std::uint32_t> x(backend, kCount);
        Words in(kCount), out(kCount);
        std::iota(in.begin(), in.end(), 17u);
        stream.upload(in, x);
        in[0] = in[kCount - 1] = 0;  // the data has been copied
        stream.download<std::uint32_t>(x.view(), out);
        CHECK(out[0] == 17);
        CHECK(out[kCount - 1] == 17 + kCount - 1);
        in[0] = 17;
        in[kCount - 1] = static_cast<std::uint32_t>(17 + kCount - 1);
        CHECK(out == in);
        for (const auto& named : backend.memory().names)
            if (named.name == "stream staging") CHECK(named.peak_bytes <= std::uint64_t{160} << 20);
        // Many small uploads that are not submitted explicitly.
        const Words part(std::size_t{1} << 18, 5);
        for (int i = 0; i < 200; ++i)
            stream.upload(std::span<const std::uint32_t>(part),
                          x.view(static_cast<std::size_t>(i) << 17, part.size()));
        CHECK(stream.download(x)[3] == 5);
        for (const auto& named : backend.memory().names)
            if (named.name == "stream staging") CHECK(named.peak_bytes <= std::uint64_t{200} << 20);
    });
}

TEST_CASE("stream: steps in any order give the same results as one by one") {
    on_device([](weft::Backend& backend) {
        const Program affine(backend, kAffine), in_place(backend, kInPlace);
        constexpr std::size_t kCount = 512, kBuffers = 3;
        const std::size_t unit = std::max<std::size_t>(
            64, backend.device().limits.storage_buffer_offset_alignment / sizeof(std::uint32_t));
        std::mt19937 random(42);
        const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
        for (int round = 0; round < 12; ++round) {
            CAPTURE(round);
            Stream stream(backend);
            std::vector<Buffer<std::uint32_t>> device;
            std::vector<Words> host;
            for (std::size_t b = 0; b < kBuffers; ++b) {
                device.emplace_back(backend, kCount);
                host.push_back(words(kCount, static_cast<std::uint32_t>(b + 1)));
                stream.upload(host[b], device[b]);
            }
            for (int step = 0; step < 60; ++step) {
                const std::size_t from = pick(kBuffers), to = (from + 1 + pick(kBuffers - 1)) % kBuffers;
                const std::size_t n = unit * (1 + pick(2)), a = unit * pick((kCount - n) / unit + 1),
                                  b = unit * pick((kCount - n) / unit + 1);
                switch (pick(4)) {
                    case 0:
                        stream.copy<std::uint32_t>(device[from].view(a, n), device[to].view(b, n));
                        for (std::size_t i = 0; i < n; ++i) host[to][b + i] = host[from][a + i];
                        break;
                    case 1:
                        stream.fill(device[to].view(b, n), static_cast<std::uint32_t>(step));
                        for (std::size_t i = 0; i < n; ++i)
                            host[to][b + i] = static_cast<std::uint32_t>(step);
                        break;
                    case 2:
                        stream.dispatch(in_place, {device[to].view(b, n)}, n);
                        for (std::size_t i = 0; i < n; ++i)
                            host[to][b + i] =
                                in_place_result(host[to][b + i], static_cast<std::uint32_t>(i), 1);
                        break;
                    default:
                        stream.dispatch(affine, {device[from].view(a, n), device[to].view(b, n)}, n,
                                        AffineParameters{3, 1});
                        for (std::size_t i = 0; i < n; ++i)
                            host[to][b + i] = host[from][a + i] * 3 + 1 + static_cast<std::uint32_t>(i);
                }
                if (pick(10) == 0) stream.submit();
            }
            for (std::size_t b = 0; b < kBuffers; ++b) CHECK(stream.download(device[b]) == host[b]);
        }
    });
}
