// SPDX-License-Identifier: Apache-2.0
// Streams: order of steps, refused steps and the numbers in their errors, unfinished streams.
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using namespace std::chrono_literals;
using weft::Buffer;
using weft::BufferView;
using weft::Errc;
using weft::Program;
using weft::Stream;
using Words = std::vector<std::uint32_t>;

TEST_CASE("stream: every step sees the steps before it") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine), in_place(backend, kInPlace);
        Stream stream(backend);
        constexpr std::size_t kCount = 1000;
        Buffer<std::uint32_t> a(backend, kCount), b(backend, kCount), c(backend, kCount);
        Words in = words(kCount), want(in);
        stream.upload(std::span(in), a);
        std::fill(in.begin(), in.end(), 0u);  // the data has been copied
        stream.fill(b.view(), 5);
        stream.dispatch(program, {a, b}, kCount, AffineParameters{2, 9});
        for (int round = 0; round < 150; ++round) stream.dispatch(in_place, {b}, kCount);
        stream.copy<std::uint32_t>(b.view(), c.view());
        stream.fill(b.view(), 0);
        for (std::size_t i = 0; i < kCount; ++i) {
            const auto n = static_cast<std::uint32_t>(i);
            want[i] = want[i] * 2 + 9 + n + 150 * (1000 + n);
        }
        CHECK(stream.download(c) == want);
        CHECK(stream.download(b) == Words(kCount, 0));
        // Parts of buffers.
        stream.fill(b.view(10, 20), 3);
        stream.copy<std::uint32_t>(b.view(10, 5), b.view(100, 5));
        const Words got = stream.download(b);
        CHECK(got[9] == 0);
        CHECK(got[10] == 3);
        CHECK(got[30] == 0);
        CHECK(got[104] == 3);
        CHECK(got[105] == 0);
    });
}

// Whether Stream::fill takes a value of that type for elements of T.
template <class T, class Value>
constexpr bool kFills = requires(Stream& stream, weft::BufferView<T> view, Value value) {
    stream.fill(view, value);
};
static_assert(kFills<float, float> && kFills<std::uint32_t, int> && kFills<std::int32_t, int>);
static_assert(kFills<float, std::uint32_t> && kFills<double, std::uint32_t> && kFills<char, std::uint32_t>);
static_assert(!kFills<float, double> && !kFills<float, int> && !kFills<std::uint32_t, float>);
static_assert(!kFills<double, double> && !kFills<double, float> && !kFills<std::uint64_t, int>);
static_assert(!kFills<float, bool> && !kFills<std::uint32_t, std::uint64_t> && !kFills<const float, float>);

TEST_CASE("stream: a value of 4 bytes fills with its bits, and a word fills elements of any type") {
    on_device([](weft::Backend& backend) {
        Stream stream(backend);
        Buffer<float> f(backend, 9);
        Buffer<std::int32_t> i(backend, 9);
        Buffer<double> d(backend, 9);
        stream.fill(f.view(), -0.75f);
        stream.fill(f.view(1, 1), 0x40490fdbu);
        stream.fill(i.view(), -5);
        stream.fill(d.view(), 0u);
        std::vector<float> floats(9, -0.75f);
        floats[1] = 3.14159274f;
        CHECK(stream.download(f) == floats);
        CHECK(stream.download(i) == std::vector<std::int32_t>(9, -5));
        CHECK(stream.download(d) == std::vector<double>(9, 0));
    });
}

TEST_CASE("stream: refused steps name the number and change nothing") {
    on_device([](weft::Backend& backend) {
        const auto& limits = backend.device().limits;
        const Program program(backend, kAffine);
        Stream stream(backend);
        Buffer<std::uint32_t> a(backend, 256), b(backend, 256);
        const Words in = words(256);
        stream.upload(in, a);
        stream.fill(b.view(), kGuardWord);
        const AffineParameters p{1, 0};
        const BufferView<const std::uint32_t> read_only = b;
        const auto refused = [&](const std::string& part, auto&& step) {
            check_error(Errc::invalid_argument, part, step);
            check_error(Errc::invalid_argument, "Stream::", step);
        };
        refused("got 1, need 2", [&] { stream.dispatch(program, {a}, 256, p); });
        refused("got 3, need 2", [&] { stream.dispatch(program, {a, b, b}, 256, p); });
        refused("got 0, need 8", [&] { stream.dispatch(program, {a, b}, 256); });
        refused("binding 1", [&] { stream.dispatch(program, {a, read_only}, 256, p); });
        refused("empty range", [&] { stream.dispatch(program, {a.view(0, 0), b}, 256, p); });
        refused("got 4294967296", [&] { stream.dispatch(program, {a, b}, std::uint64_t{1} << 32, p); });
        if (limits.storage_buffer_offset_alignment > 4)
            refused("got 4, need " + std::to_string(limits.storage_buffer_offset_alignment), [&] {
                stream.dispatch(program, {a.view(1, 64), b}, 64, p);
            });
        refused("got 1020 bytes, need 1024",
                [&] { stream.upload(std::span<const std::uint32_t>(in).first(255), a.view()); });
        refused("null with a length (got 1024", [&] {
            stream.upload(std::span<const std::uint32_t>(static_cast<const std::uint32_t*>(nullptr), 256),
                          a.view());
        });
        refused("got offsets 0 and 40", [&] { stream.copy<std::uint32_t>(a.view(0, 20), a.view(10, 20)); });
        refused("sizes differ", [&] { stream.copy<std::uint32_t>(a.view(0, 20), b.view(0, 21)); });
        Buffer<std::uint8_t> odd(backend, 7);
        refused("got", [&] { stream.fill(odd.view(), 1u); });
        Words small(255);
        refused("got 1020 bytes, need 1024",
                [&] { stream.download<std::uint32_t>(b.view(), std::span<std::uint32_t>(small)); });
        CHECK(stream.download(b) == Words(256, kGuardWord));
        CHECK(stream.download(a) == in);
        CHECK_NOTHROW(stream.dispatch(program, {a, b}, 0, p));  // zero elements run nothing
        stream.dispatch(program, {a, b}, 256, p);
        CHECK(stream.download(b)[255] == in[255] + 255);
        check_usable(backend);
    });
}

TEST_CASE("stream: workgroups and ranges beyond the limits are refused by number") {
    on_device([](weft::Backend& backend) {
        const auto& limits = backend.device().limits;
        Stream stream(backend);
        if (limits.max_workgroup_count[0] < 0xfffffffeu) {
            const Program program(backend, kAffine, {.elements_per_workgroup = 1});
            Buffer<std::uint32_t> a(backend, 16), b(backend, 16);
            const std::uint64_t most = limits.max_workgroup_count[0];
            check_error(Errc::invalid_argument,
                        "got " + std::to_string(most + 1) + ", need " + std::to_string(most), [&] {
                            stream.dispatch(program, {a, b}, most + 1, AffineParameters{1, 0});
                        });
        }
        if (limits.max_storage_buffer_range <= std::uint64_t{256} << 20) {
            const Program program(backend, kAffine);
            const std::uint64_t most = limits.max_storage_buffer_range;
            Buffer<std::uint32_t> large(backend, static_cast<std::size_t>(most / 4) + 4), out(backend, 16);
            check_error(Errc::invalid_argument,
                        "got " + std::to_string(most + 16) + ", need " + std::to_string(most), [&] {
                            stream.dispatch(program, {large, out}, 4, AffineParameters{1, 0});
                        });
        }
        check_usable(backend);
    });
}

TEST_CASE("stream: a buffer that was moved from is refused") {
    on_device([](weft::Backend& backend) {
        Stream stream(backend);
        const Program program(backend, kAffine);
        Buffer<std::uint32_t> a(backend, 64);
        const Buffer<std::uint32_t> owner(std::move(a));
        const auto refused = [](auto&& step) { check_error(Errc::invalid_argument, "moved from", step); };
        refused([&] { stream.fill(a.view(), 1); });
        refused([&] { stream.upload(words(64), a); });
        refused([&] { stream.download(a); });
        refused([&] { stream.copy<std::uint32_t>(a.view(), owner.view()); });
        refused([&] { stream.dispatch(program, {a, owner}, 64, AffineParameters{1, 0}); });
        stream.fill(owner.view(), 4);
        CHECK(stream.download(owner)[63] == 4);
    });
}

TEST_CASE("stream: a wait that times out reports it; the work is not lost") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        Stream stream(backend);
        Buffer<std::uint32_t> a(backend, 1024), b(backend, 1024);
        stream.fill(a.view(), 1);
        stream.dispatch(program, {a, b}, 1024, std::uint32_t{60000});
        CHECK_FALSE(stream.wait(0ns));
        CHECK_FALSE(stream.wait(1us));
        CHECK(stream.wait());
        CHECK(stream.wait(0ns));
        CHECK(stream.download(b) == Words(1024, slow_result(1, 60000)));
    });
}

TEST_CASE("stream: destroyed with work recorded or running, and moved") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        for (const bool submit : {false, true}) {
            Buffer<std::uint32_t> a(backend, 1024), b(backend, 1024);
            Stream stream(backend);
            stream.fill(a.view(), 1);
            stream.dispatch(program, {a, b}, 1024, std::uint32_t{10000});
            if (submit) stream.submit();
        }
        Buffer<std::uint32_t> a(backend, 16);
        Stream first(backend), second(backend);
        first.fill(a.view(), 8);
        second.fill(a.view(), 9);
        second.submit();
        second = std::move(first);
        CHECK(second.download(a) == Words(16, 8));
        check_usable(backend);
    });
}

TEST_CASE("stream: keeps the buffers it uses until the work is done") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        Stream stream(backend);
        Buffer<std::uint32_t> out(backend, 1024);
        {
            Buffer<std::uint32_t> temporary(backend, 1024, "temporary");
            stream.fill(temporary.view(), 3);
            stream.dispatch(program, {temporary, out}, 1024, std::uint32_t{10000});
            stream.submit();
        }
        const auto live = [&] {
            std::uint64_t count = 0;
            for (const auto& named : backend.memory().names)
                if (named.name == "temporary") count = named.live_count;
            return count;
        };
        CHECK(live() == 1);
        stream.wait();
        CHECK(live() == 0);
    });
}

TEST_CASE("stream: views beyond their buffer, and objects that were moved from, are errors") {
    on_device([](weft::Backend& backend) {
        weft::Buffer<std::uint32_t> buffer(backend, 64), other(backend, 64);
        weft::Stream stream(backend);
        const auto beyond = weft::detail::Access::make<weft::BufferView<std::uint32_t>>(
            weft::detail::Access::object(buffer.view()), 60u, 64u);
        check_error(weft::Errc::invalid_argument,
                    "view reaches beyond its buffer (got offset 240 and 256 bytes",
                    [&] { stream.fill(beyond, 1); });
        check_error(weft::Errc::invalid_argument, "view reaches beyond its buffer",
                    [&] { stream.copy<std::uint32_t>(beyond, other.view()); });
        const weft::Buffer<std::uint32_t> taken = std::move(buffer);
        check_error(weft::Errc::invalid_argument, "moved from", [&] { stream.fill(buffer.view(), 1); });
        weft::Stream moved = std::move(stream);
        check_error(weft::Errc::invalid_argument, "Stream: used after it was moved from",
                    [&] { stream.submit(); });
        moved.fill(taken.view(), 7);
        CHECK(moved.download(taken)[63] == 7);
    });
}
