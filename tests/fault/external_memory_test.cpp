// SPDX-License-Identifier: Apache-2.0
// Memory that is exported and imported as a file descriptor: who owns it, whichever call fails. This is a
// private part, on which interop with CUDA is built; software devices support it too.
#include <fcntl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fault/fixture.hpp"
#include "support/open_descriptors.hpp"
#include "vulkan/backend/external_memory.hpp"

using namespace weft_test;
using weft::Errc;
using weft_fault::Calls;
using Word = std::uint32_t;

namespace {

using weft::detail::Access;

constexpr std::size_t kCount = 5000;

bool is_open(int fd) {
    return fcntl(fd, F_GETFD) >= 0;
}

weft::Buffer<Word> make_exportable(weft::Backend& backend) {
    return Access::make<weft::Buffer<Word>>(
        weft::core::make_exportable_buffer(*Access::backend_state(backend), kCount * sizeof(Word), "mine"),
        kCount);
}

/// Words [first, first + count) of the allocation.
weft::Buffer<Word> import_words(weft::Backend& backend, const weft::core::FileDescriptor& fd,
                                std::uint64_t bytes, std::size_t first, std::size_t count) {
    return Access::make<weft::Buffer<Word>>(
        weft::core::import_buffer(*Access::backend_state(backend),
                                  {fd.get(), bytes, first * sizeof(Word), count * sizeof(Word)}, "theirs"),
        count);
}

/// One round of all calls. The caller checks errors; this function checks the descriptor.
void round_trip(weft::Backend& backend) {
    const weft::Buffer<Word> mine = make_exportable(backend);
    weft::core::ExportedMemory exported = weft::core::export_memory(*Access::object(mine.view()));
    const int fd = exported.fd.get();
    std::optional<weft::Buffer<Word>> theirs;
    try {
        theirs.emplace(import_words(backend, exported.fd, exported.bytes, 1024, 1000));
    } catch (...) {
        CHECK(is_open(fd));  // still belongs to the caller
        throw;
    }
    CHECK_FALSE(is_open(fd));  // belonged to weft and was closed
    exported.fd.release();
    weft::Stream stream(backend);
    const std::vector<Word> in = words(kCount);
    stream.upload(in, mine);
    const std::vector<Word> out = stream.download(*theirs);
    CHECK(out == std::vector<Word>(in.begin() + 1024, in.begin() + 2024));
}

}  // namespace

TEST_CASE("external memory: each side reads what the other wrote, and no descriptor is left") {
    control().reset();
    {
        weft::Backend backend(fault_config());
        round_trip(backend);
        const std::size_t before = open_descriptors();
        for (int i = 0; i < 50; ++i) round_trip(backend);
        CHECK(open_descriptors() == before);
        CHECK(backend.memory().live_buffers == 0);
        CHECK(backend.memory().names.size() >= 2);
    }
    check_nothing_left();
}

TEST_CASE("external memory: an exportable buffer is counted, limited and given back like any other") {
    control().reset();
    {
        weft::Config config = fault_config();
        config.memory_limit = 1 << 20;
        weft::Backend backend(config);
        {
            const weft::Buffer<Word> mine = make_exportable(backend);
            const weft::MemoryReport report = backend.memory();
            CHECK(report.live_buffers == 1);
            CHECK(report.block_bytes >= mine.bytes());
            CHECK(report.block_bytes < 2 * mine.bytes());  // a dedicated allocation, not a block
        }
        CHECK(backend.memory().block_bytes == 0);
        check_error(Errc::out_of_memory, "Buffer \"large\": beyond Config::memory_limit", [&] {
            weft::core::make_exportable_buffer(*Access::backend_state(backend), 2 << 20, "large");
        });
        check_error(Errc::invalid_argument, "Buffer \"huge\": too large for this device", [&] {
            weft::core::make_exportable_buffer(*Access::backend_state(backend), ~std::uint64_t{0} / 2,
                                               "huge");
        });
        check_error(Errc::invalid_argument, "not made to be shared", [&] {
            const weft::Buffer<Word> plain(backend, 4);
            weft::core::export_memory(*Access::object(plain.view()));
        });
    }
    check_nothing_left();
}

TEST_CASE("external memory: ranges that do not fit and invalid descriptors are refused") {
    control().reset();
    {
        weft::Backend backend(fault_config());
        const weft::Buffer<Word> mine = make_exportable(backend);
        weft::core::ExportedMemory exported = weft::core::export_memory(*Access::object(mine.view()));
        const auto refused = [&](std::size_t first, std::size_t count) {
            check_error(Errc::invalid_argument, "does not fit its allocation",
                        [&] { import_words(backend, exported.fd, exported.bytes, first, count); });
            CHECK(is_open(exported.fd.get()));
        };
        refused(0, exported.bytes / 4 + 4);
        refused(exported.bytes / 4, 4);
        refused(1, 4);
        refused(std::size_t{1} << 60, 4);
        const weft::core::FileDescriptor none;
        check_error(Errc::invalid_argument, "no open file descriptor (got -1)",
                    [&] { import_words(backend, none, exported.bytes, 0, 4); });
    }
    check_nothing_left();
}

TEST_CASE("external memory: whichever call fails, no descriptor and no memory is lost") {
    std::size_t before = 0;
    std::uint64_t index = 0;
    for (bool done = false; !done; ++index) {
        CAPTURE(index);
        control().reset();
        {
            weft::Backend backend(fault_config());
            if (index == 0) round_trip(backend);
            if (index == 0) before = open_descriptors();
            control().fail({.calls = Calls::may_run_out, .index = index});
            try {
                round_trip(backend);
                done = control().failed().empty();
            } catch (const weft::Error& e) {
                CHECK(std::string(weft::to_string(e.code())) == "out_of_memory");
            }
            control().fail_no_more();
            backend.wait_idle();
            CHECK(open_descriptors() == before);
            CHECK(backend.memory().live_buffers == 0);
        }
        check_nothing_left();
    }
    MESSAGE(index << " calls");
    CHECK(index > 8);
}

TEST_CASE("external memory: the error for a device that cannot share names what it lacks") {
    control().reset();
    {
        weft::Backend backend(fault_config());
        const auto require = [&] { weft::core::require_external(*Access::backend_state(backend), "test"); };
        if (backend.device().type == weft::DeviceType::cpu)  // lavapipe cannot export timeline semaphores
            check_error(Errc::unsupported, "got no VK_KHR_external_semaphore_fd for timeline semaphores",
                        require);
        else
            CHECK_NOTHROW(require());
    }
    check_nothing_left();
}
