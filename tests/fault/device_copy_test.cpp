// SPDX-License-Identifier: Apache-2.0
// Copies within device memory on a device that is described as a card of NVIDIA, where a shader makes them:
// which bytes the shader copies and which the copy command, and that the bytes and their order are right.
#include <cstdint>
#include <numeric>
#include <vector>

#include "fault/fixture.hpp"

using namespace weft_test;
using Word = std::uint32_t;

namespace {

/// The limit on workgroups makes copies run in parts of 80 KiB.
weft_fault::FakeDriver nvidia_card() {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
    weft_fault::FakeDriver fake{.discrete = true, .vendor = 0x10de};
    fake.heaps = {{kGiB, true}, {kGiB, false}};
    fake.types = {{0, true}, {1, false, true, true}, {1, false, true, true, true}};
    fake.families = {{.queues = 1, .graphics = true, .compute = true, .transfer = true},
                     {.queues = 2, .transfer = true}};
    fake.max_workgroup_count_x = 20;
    return fake;
}

template <class Body>
void on_card(const Body& body) {
    const Watchdog watchdog("device copies");
    control().reset();
    control().lie(nvidia_card());
    {
        weft::Backend backend(fault_config());
        body(backend);
        backend.trim();
        CHECK(backend.memory().live_buffers == 0);
        CHECK(backend.counters().validation_messages == 0);
    }
    check_nothing_left();
    control().reset();
}

std::vector<Word> counted(std::size_t size, Word first) {
    std::vector<Word> words(size);
    std::iota(words.begin(), words.end(), first);
    return words;
}

}  // namespace

TEST_CASE("device copies: by shader or by command, and no other byte is touched") {
    constexpr std::size_t kWords = 100000;
    struct Case {
        std::size_t from, to, count, dispatches, commands;
    };
    on_card([&](weft::Backend& backend) {
        weft::Stream stream(backend);
        const weft::Buffer<Word> source(backend, kWords), target(backend, kWords);
        const std::vector<Word> values = counted(kWords, 1), before(kWords, 0xabababab);
        stream.upload(values, source);
        REQUIRE(stream.wait());
        for (const Case& c : {Case{0, 0, 16380, 0, 1}, Case{0, 0, 16384, 1, 0}, Case{0, 0, 16385, 1, 1},
                              Case{64, 128, 16387, 1, 1}, Case{1, 0, 20000, 0, 1}, Case{0, 1, 20000, 0, 1},
                              Case{0, 0, kWords, 5, 0}, Case{64, 0, kWords - 65, 5, 1}}) {
            CAPTURE(c.from);
            CAPTURE(c.to);
            CAPTURE(c.count);
            stream.upload(before, target);
            REQUIRE(stream.wait());
            const std::uint64_t dispatches = control().calls("vkCmdDispatch"),
                                commands = control().calls("vkCmdCopyBuffer");
            const weft::Sequence sequence = stream.record([&](weft::Stream& s) {
                s.copy<Word>(source.view(c.from, c.count), target.view(c.to, c.count));
            });
            CHECK(control().calls("vkCmdDispatch") - dispatches == c.dispatches);
            CHECK(control().calls("vkCmdCopyBuffer") - commands == c.commands);
            CHECK(sequence.steps() == 1);
            CHECK(sequence.dispatches() == 0);
            CHECK(sequence.barriers() == 0);
            stream.replay(sequence);
            std::vector<Word> right = before;
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(c.from), c.count,
                        right.begin() + static_cast<std::ptrdiff_t>(c.to));
            CHECK(stream.download(target) == right);
        }
    });
}

TEST_CASE("device copies: in the order of the steps around them") {
    // The words have a tail that the command copies, and take 20 workgroups; kSecond is where a binding may
    // begin.
    constexpr std::size_t kWords = 50001, kAdded = 1280, kSecond = 50064;
    on_card([](weft::Backend& backend) {
        weft::Stream stream(backend);
        const weft::Program add(backend, kInPlace);
        const weft::Buffer<Word> a(backend, kWords), b(backend, kWords), both(backend, kSecond + kWords);
        stream.upload(counted(kWords, 7), a);
        stream.copy<Word>(a.view(), b.view());  // reads data that a copy command wrote
        stream.fill(a.view(), 9);               // overwrites its source afterwards
        stream.dispatch(add, {b.view(0, kAdded)}, kAdded);
        stream.copy<Word>(b.view(), both.view(0, kWords));
        stream.copy<Word>(both.view(0, kWords - 8), both.view(kSecond, kWords - 8));  // within one buffer
        stream.copy<Word>(a.view(0, 8), both.view(kSecond + kWords - 8, 8));
        const std::vector<Word> got = stream.download(both);
        for (std::size_t i = 0; i < kWords; ++i) {
            const Word word = static_cast<Word>(i), right = 7 + word + (i < kAdded ? 1000 + word : 0);
            if (got[i] != right || got[kSecond + i] != (i + 8 < kWords ? right : 9)) {
                CAPTURE(i);
                CHECK(got[i] == right);
                CHECK(got[kSecond + i] == (i + 8 < kWords ? right : 9));
                break;
            }
        }
        CHECK(control().calls("vkCmdDispatch") >= 1 + 3 * 3);
    });
}

TEST_CASE("device copies: by the command from and to host memory, and on the copying queues") {
    on_card([](weft::Backend& backend) {
        constexpr std::size_t kWords = 20000;
        weft::Stream stream(backend), copying(backend, {.queue = weft::StreamQueue::download});
        const weft::HostBuffer<Word> host(backend, kWords);
        const weft::Buffer<Word> a(backend, kWords), b(backend, kWords);
        std::iota(host.begin(), host.end(), 3);
        stream.copy<Word>(host.view(), a.view());
        copying.wait_for(stream.submit());
        copying.copy<Word>(a.view(), b.view());
        REQUIRE(copying.wait());
        std::fill(host.begin(), host.end(), 0);
        stream.copy<Word>(b.view(), host.view());
        REQUIRE(stream.wait());
        CHECK(host[0] == 3);
        CHECK(host[kWords - 1] == kWords + 2);
        CHECK(control().calls("vkCmdDispatch") == 0);
    });
}

TEST_CASE("device copies: a profile counts each once, with its bytes") {
    on_card([](weft::Backend& backend) {
        constexpr std::size_t kWords = 100000;
        weft::Stream stream(backend);
        const weft::Buffer<Word> a(backend, kWords), b(backend, kWords);
        stream.fill(a.view(), 1);
        REQUIRE(stream.wait());
        const weft::Profile profile(backend);
        stream.copy<Word>(a.view(0, kWords - 3), b.view(0, kWords - 3));
        stream.copy<Word>(a.view(0, 16), b.view(kWords - 16, 16));
        REQUIRE(stream.wait());
        const weft::ProfileReport report = profile.report();
        REQUIRE(report.kernels.size() == 1);
        CHECK(report.kernels[0].program == "(copy)");
        CHECK(report.kernels[0].times.count == 2);
        CHECK(report.kernels[0].times.bytes == (kWords - 3 + 16) * sizeof(Word));
    });
}
