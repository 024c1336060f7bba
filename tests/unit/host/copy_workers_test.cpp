// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "host/copy_streaming.hpp"
#include "host/copy_workers.hpp"
#include "host/thread_parts.hpp"

namespace {

using weft::core::copy_streaming;
using weft::core::CopyWorkers;
using weft::core::HostCopy;

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGuard = 64, kLine = 64;
constexpr unsigned char kUntouched = 0xa5;

/// Bytes that differ from their neighbours, so that a copy that is off by some bytes is found.
std::vector<unsigned char> noise(std::size_t bytes, std::uint32_t seed) {
    std::vector<unsigned char> out(bytes);
    for (unsigned char& byte : out) {
        seed = seed * 1664525u + 1013904223u;
        byte = static_cast<unsigned char>(seed >> 24);
    }
    return out;
}

/// Memory with guard bytes around a range that starts `shift` bytes after a cache line.
class GuardedRange {
  public:
    GuardedRange(std::size_t bytes, std::size_t shift) : memory_(bytes + 2 * kGuard + 2 * kLine) {
        place(bytes, shift);
    }
    /// The same memory for another range, untouched again.
    void place(std::size_t bytes, std::size_t shift) {
        bytes_ = bytes;
        void* start = memory_.data() + kGuard;
        std::size_t room = memory_.size() - kGuard;
        begin_ = static_cast<unsigned char*>(std::align(kLine, 1, start, room)) + shift;
        std::memset(begin_ - kGuard, kUntouched, bytes + 2 * kGuard);
    }
    unsigned char* data() { return begin_; }
    bool holds(const unsigned char* expected) const {
        const auto untouched = [](unsigned char byte) { return byte == kUntouched; };
        return (bytes_ == 0 || std::memcmp(begin_, expected, bytes_) == 0) &&
               std::all_of(begin_ - kGuard, begin_, untouched) &&
               std::all_of(begin_ + bytes_, begin_ + bytes_ + kGuard, untouched);
    }

  private:
    std::vector<unsigned char> memory_;
    unsigned char* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

bool copied_exactly(GuardedRange& target, std::size_t bytes, std::size_t target_shift,
                    const unsigned char* source) {
    target.place(bytes, target_shift);
    copy_streaming(target.data(), source, bytes);
    return target.holds(source);
}

TEST_CASE("copy_streaming copies short ranges at every alignment") {
    const auto source = noise(512, 1);
    GuardedRange target(512, 0);
    std::vector<std::size_t> sizes{0, 1, 2, 3, 7, 8, 15, 16};
    for (std::size_t n = 31; n <= 129; ++n) sizes.push_back(n);
    std::size_t wrong = 0;
    for (const std::size_t n : sizes)
        for (std::size_t to = 0; to < 64; ++to)
            for (const std::size_t from : {0, 1, 31, 32, 33, 63})
                wrong += copied_exactly(target, n, to, source.data() + from) ? 0u : 1u;
    CHECK(wrong == 0);
}

TEST_CASE("copy_streaming copies long ranges at every alignment of both ends") {
    const std::size_t size = 64 * kKiB;
    const auto source = noise(size + 512, 2);
    GuardedRange target(size + 256, 0);
    std::size_t wrong = 0;
    for (std::size_t to = 0; to < 64; ++to)
        for (std::size_t from = 0; from < 64; ++from)
            wrong += copied_exactly(target, size + 77, to, source.data() + from) ? 0u : 1u;
    CHECK(wrong == 0);
    for (const std::size_t n : {size - 1, size, size + 1, size + 31, size + 32, size + 127, size + 129})
        for (std::size_t to = 0; to < 64; ++to)
            wrong += copied_exactly(target, n, to, source.data() + (to * 7 + 3) % 64) ? 0u : 1u;
    CHECK(wrong == 0);
}

TEST_CASE("copy_streaming copies several MiB") {
    const auto source = noise(5 * kMiB + 64, 3);
    GuardedRange target(5 * kMiB + 64, 0);
    CHECK(copied_exactly(target, 5 * kMiB + 13, 5, source.data() + 9));
}

TEST_CASE("nothing to copy needs no memory") {
    copy_streaming(nullptr, nullptr, 0);
    CopyWorkers workers(4);
    workers.copy({});
    std::vector<unsigned char> target(kMiB), source = noise(kMiB, 4);
    const HostCopy copies[] = {{nullptr, nullptr, 0}, {target.data(), source.data(), kMiB}, {}};
    workers.copy(copies);  // large enough for the workers, which must skip the empty ones
    CHECK(target == source);
}

/// Copies of these sizes in one call, each with its own guards.
bool copies_all(CopyWorkers& workers, const std::vector<std::size_t>& sizes, std::uint32_t seed) {
    std::vector<std::vector<unsigned char>> sources;
    std::vector<GuardedRange> targets;
    std::vector<HostCopy> copies;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        sources.push_back(noise(sizes[i], seed + static_cast<std::uint32_t>(i)));
        targets.emplace_back(sizes[i], (i * 13) % 64);
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
        copies.push_back({targets[i].data(), sources[i].data(), sizes[i]});
    workers.copy(copies);
    bool good = true;
    for (std::size_t i = 0; i < sizes.size(); ++i) good = good && targets[i].holds(sources[i].data());
    return good;
}

TEST_CASE("workers copy every byte once, whatever their number") {
    const std::size_t part = 128 * kKiB;  // bytes that one thread copies at a time
    for (const std::uint32_t threads : {0u, 1u, 2u, 16u}) {
        CAPTURE(threads);
        CopyWorkers workers(threads);
        for (const std::size_t size : {std::size_t{1}, part - 1, part, part + 1, 2 * part, 2 * part + 1,
                                       3 * part - 1, 16 * part, 3 * kMiB + 77})
            CHECK(copies_all(workers, {size}, 11));
        CHECK(copies_all(workers, {0, part, 0, 0, 8 * part + 1, 1, 0, part - 1, 0}, 12));
        std::vector<std::size_t> many(256, 3000);  // more copies than one range would have parts
        for (std::size_t i = 0; i < many.size(); i += 5) many[i] = 0;
        many[100] = kMiB + 1;
        CHECK(copies_all(workers, many, 13));
    }
}

TEST_CASE(
    "the work of the threads of each copy is reported once, byte by byte, on tracks that never overlap") {
    weft::core::TraceRecorder recorder;
    const auto sink = recorder.open(1u << 20, 0);
    CopyWorkers workers(16);
    const std::size_t size = 3 * kMiB + 5;
    constexpr int kCopies = 20;
    const auto caller = [&](std::uint32_t seed) {
        const auto source = noise(size, seed);
        std::vector<unsigned char> target(size);
        weft::core::CopyLabel label{&recorder, {}};
        label.event.stage = weft::Stage::copy_in;
        for (int i = 0; i < kCopies; ++i) {
            const HostCopy copies[] = {{target.data(), source.data(), size},
                                       {target.data(), source.data(), 0}};
            workers.copy(copies, label);
        }
        const HostCopy small{target.data(), source.data(), 100};  // too small to wake a worker
        workers.copy({&small, 1}, label);
    };
    std::thread other(caller, 21);
    caller(22);
    other.join();
    const weft::core::TraceData data = recorder.read(*sink);
    std::uint64_t bytes = 0;
    for (const auto& event : data.stages) {
        bytes += event.bytes;
        CHECK(event.bytes != 0);
        CHECK(event.begin_ns <= event.end_ns);
        CHECK(event.begin_ns >= data.begin_ns);
    }
    CHECK(bytes == 2 * (kCopies * size + 100));
    CHECK(data.stages.size() >= 2 * (kCopies + 1));
    std::size_t overlaps = 0;
    for (const auto& a : data.stages)
        for (const auto& b : data.stages)
            overlaps +=
                &a != &b && a.row == b.row && a.begin_ns < b.end_ns && b.begin_ns < a.end_ns ? 1u : 0u;
    CHECK(overlaps == 0);
}

TEST_CASE("many callers share the workers") {
    for (const std::uint32_t threads : {1u, 2u, 16u}) {
        CAPTURE(threads);
        CopyWorkers workers(threads);
        constexpr std::size_t kCallers = 6;
        std::vector<int> good(kCallers, 0);
        std::vector<std::thread> callers;
        for (std::size_t caller = 0; caller < kCallers; ++caller)
            callers.emplace_back([&, caller] {
                for (std::uint32_t round = 0; round < 8; ++round)
                    good[caller] +=
                        copies_all(workers, {kMiB + caller, 0, 300 * kKiB + round}, round) ? 1 : 0;
            });
        for (std::thread& caller : callers) caller.join();
        for (const int rounds : good) CHECK(rounds == 8);
    }
}

TEST_CASE("workers that never started, or have just worked, end immediately") {
    for (int round = 0; round < 50; ++round) {
        CopyWorkers idle(16);
        CopyWorkers used(3);
        std::vector<unsigned char> target(kMiB), source = noise(kMiB, 21);
        const HostCopy copy{target.data(), source.data(), kMiB};
        used.copy({&copy, 1});
        REQUIRE(target == source);
    }
}

}  // namespace

TEST_CASE("parts of work for threads cover everything, and none is empty") {
    for (const std::uint64_t count : {0, 1, 2, 7, 100})
        for (const std::uint64_t least : {1, 3, 1000})
            for (const std::uint32_t threads : {1u, 4u, 9u}) {
                std::vector<std::pair<std::uint64_t, std::uint64_t>> parts(threads);
                weft::kernels::in_parts(count, least, threads,
                                        [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
                                            parts[part] = {first, last};
                                            if (first == last) parts[part] = {count + 1, count + 1};
                                        });
                std::uint64_t at = 0;
                for (const auto& [first, last] : parts) {
                    if (last == 0) continue;  // not called
                    CHECK(first == at);
                    at = last;
                }
                CHECK(at == count);
            }
}
