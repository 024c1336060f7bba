// SPDX-License-Identifier: Apache-2.0
// Extreme sizes: nothing at all, odd numbers of bytes, more than 32 bits can count, more than is possible.
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Errc;
using weft::Program;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = kMiB << 10;
constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

std::vector<std::uint8_t> bytes(std::size_t count, std::uint32_t seed) {
    const auto source = words(count / 4 + 1, seed);
    std::vector<std::uint8_t> out(count);
    std::memcpy(out.data(), source.data(), count);
    return out;
}

}  // namespace

TEST_CASE("sizes: empty arrays and jobs run nothing, in every call") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        const std::uint64_t before = backend.counters().submissions;
        weft::Buffer<std::uint32_t> none(backend, 0), some(backend, 4);
        weft::HostBuffer<std::uint32_t> host(backend, 0);
        CHECK(host.begin() == host.end());
        weft::Stream stream(backend);
        stream.upload(std::vector<std::uint32_t>{}, none);
        stream.upload(std::span<const std::uint32_t>{}, some.view(4, 0));
        stream.fill(none.view(), 1);
        stream.copy(some.view(2, 0), none.view());
        stream.copy(some.view(2, 0), some.view(2, 0));
        stream.dispatch(program, {some, some}, 0, AffineParameters{1, 1});
        CHECK(stream.download(none).empty());
        stream.submit();
        CHECK(stream.wait());
        weft::Job job{
            .inputs = {{nullptr, 0}}, .outputs = {{nullptr, 0}}, .parameters = AffineParameters{1, 1}};
        CHECK(weft::run_batch(backend, program, {&job, 1}).jobs == 1);
        CHECK(weft::run_batch(backend, program, {}).jobs == 0);
        weft::JobPipeline pipeline(backend, program);
        CHECK(pipeline.wait(pipeline.submit(job)));
        pipeline.wait_all();
        weft::field_add(backend, weft::Field::bls12_381_fp, {}, {}, {});
        CHECK(backend.counters().submissions == before);
        check_error(Errc::invalid_argument, "got 0 bytes",
                    [&] { weft::HostRegistration registration(backend, {}); });
    });
}

TEST_CASE("sizes: odd numbers of bytes at odd offsets, from and to odd addresses") {
    on_device([](weft::Backend& backend) {
        weft::Stream stream(backend);
        for (const std::size_t count : {1u, 2u, 3u, 5u, 7u, 15u, 17u, 63u, 65u, 255u, 4097u})
            for (const std::size_t offset : {0u, 1u, 3u, 6u, 13u}) {
                CAPTURE(count);
                CAPTURE(offset);
                const auto source = bytes(count + offset, static_cast<std::uint32_t>(count));
                const auto part = std::span(source).subspan(offset);
                weft::Buffer<std::uint8_t> a(backend, count + 40), b(backend, count + 40);
                const std::vector<std::uint8_t> guard(count + 40, 0xee);
                stream.upload(guard, a);
                stream.upload(guard, b);
                stream.upload(part, a.view(offset, count));
                stream.copy(a.view(offset, count), b.view(offset + 7, count));
                std::vector<std::uint8_t> out(count + 40 + 1, 0x11);
                stream.download<std::uint8_t>(b.view(), std::span(out).subspan(1));
                REQUIRE(out[0] == 0x11);
                for (std::size_t i = 0; i < count + 40; ++i) {
                    const bool inside = i >= offset + 7 && i < offset + 7 + count;
                    REQUIRE(out[i + 1] == (inside ? part[i - offset - 7] : 0xee));
                }
            }
    });
}

TEST_CASE("sizes: counts whose bytes do not fit 64 bits are refused by number") {
    on_device([](weft::Backend& backend) {
        struct Big {
            std::byte bytes[48];
        };
        for (const std::size_t count : {kMost, kMost / 2, kMost / 48 + 1, kMost / 48}) {
            check_error(Errc::invalid_argument, ":", [&] { weft::Buffer<Big> buffer(backend, count); });
            check_error(Errc::invalid_argument, ":", [&] { weft::HostBuffer<Big> buffer(backend, count); });
        }
        weft::Buffer<std::uint32_t> buffer(backend, 16);
        for (const auto& [first, count] : {std::pair{std::size_t{1}, kMost},
                                           {kMost, std::size_t{1}},
                                           {kMost / 4, kMost / 4},
                                           {kMost, kMost}})
            check_error(Errc::invalid_argument, "range beyond the end", [&] { buffer.view(first, count); });
        // The size of a view that is made by hand must not overflow either.
        weft::Stream stream(backend);
        const auto wrapped = weft::detail::Access::make<weft::BufferView<std::uint32_t>>(
            weft::detail::Access::object(buffer.view()), kMost / 4, 2u);
        check_error(Errc::invalid_argument, "beyond its buffer", [&] { stream.fill(wrapped, 1); });

        const Program program(backend, kAffine);
        std::vector<std::uint32_t> in(16), out(16, 5);
        for (const std::uint64_t elements :
             {std::uint64_t{1} << 32, std::uint64_t{1} << 62, std::numeric_limits<std::uint64_t>::max()}) {
            weft::Job job{
                .inputs = {in}, .outputs = {out}, .elements = elements, .parameters = AffineParameters{1, 1}};
            check_error(Errc::invalid_argument, std::to_string(elements), [&] {
                weft::run_batch(backend, program, {&job, 1});
            });
            check_error(Errc::invalid_argument, std::to_string(elements), [&] {
                stream.dispatch(program, {buffer, buffer}, elements, AffineParameters{1, 1});
            });
        }
        weft::Job job{.inputs = {{in.data(), kMost - 3}},
                      .outputs = {{out.data(), 64}},
                      .elements = 16,
                      .parameters = AffineParameters{1, 1}};
        check_error(Errc::invalid_argument, ":", [&] { weft::run_batch(backend, program, {&job, 1}); });
        CHECK(out == std::vector<std::uint32_t>(16, 5));
    });
}

TEST_CASE("sizes: buffers beyond 4 GiB are whole, where the device has such") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kBytes = 4608 * kMiB;
        const weft::MemoryReport memory = backend.memory();
        if (backend.device().limits.max_buffer_bytes < kBytes || memory.heaps[0].size < 4 * kBytes) {
            MESSAGE("skipped: buffers hold at most " << backend.device().limits.max_buffer_bytes << " bytes");
            return;
        }
        const Program program(backend, kAffine);
        constexpr std::size_t kFirst = (4 * kGiB + 12 * 256) / 4, kCount = 1000000;
        weft::Buffer<std::uint32_t> a(backend, kBytes / 4), b(backend, kBytes / 4);
        weft::Stream stream(backend);
        const auto in = words(kCount);
        stream.fill(a.view(), 1);
        stream.fill(b.view(), 2);
        stream.upload(std::span<const std::uint32_t>(in), a.view(kFirst, kCount));
        stream.dispatch(program, {a.view(kFirst, kCount), b.view(kFirst + 64, kCount)}, kCount,
                        AffineParameters{3, 4});
        stream.copy(b.view(kFirst + 64, kCount), a.view(kFirst + 2 * kCount, kCount));
        std::vector<std::uint32_t> out(kCount), low(kCount);
        stream.download<std::uint32_t>(a.view(kFirst + 2 * kCount, kCount), std::span(out));
        std::size_t wrong = 0;
        for (std::uint32_t i = 0; i < kCount; ++i) wrong += out[i] == in[i] * 3 + 4 + i ? 0u : 1u;
        CHECK(wrong == 0);
        // The ranges that these offsets would have if they were cut to 32 bits are untouched.
        stream.download<std::uint32_t>(a.view(12 * 64, kCount), std::span(low));
        CHECK(low == std::vector<std::uint32_t>(kCount, 1));
        stream.download<std::uint32_t>(b.view(12 * 64 + 64, kCount), std::span(low));
        CHECK(low == std::vector<std::uint32_t>(kCount, 2));
        CHECK(stream.download(b).back() == 2);
    });
}
