// SPDX-License-Identifier: Apache-2.0
// Faults of the driver: each call that may fail does so once, and the status says what happened.
#include "capi/faults.hpp"

using namespace weft_test;
using weft_fault::Calls;
using weft_fault::Rule;

namespace {

/// Fails the index-th call while a backend is made and used, for each index until none fails.
void fail_each(Calls calls, int result, weft_status expected, std::uint64_t step) {
    bool failed = true;
    for (std::uint64_t index = 0; failed; index += step) {
        CAPTURE(index);
        const Watchdog watchdog("call " + std::to_string(index));
        control().reset();
        control().fail(Rule{.calls = calls, .index = index, .result = result});
        weft_status status = WEFT_OK;
        std::string text;
        {
            Backend backend;
            const weft_backend_options options = quiet_options();
            status = weft_backend_create(&options, &backend);
            Program program;
            if (status == WEFT_OK)
                status =
                    weft_program_create(backend, {kAffineWords, sizeof(kAffineWords)}, nullptr, &program);
            AffineJob work(100);
            if (status == WEFT_OK) status = weft_run_batch(backend, program, &work.job, 1, nullptr, nullptr);
            if (status == WEFT_OK) CHECK(work.right());
            text = weft_last_error();
        }
        const std::string function = control().failed();
        CAPTURE(function);
        CAPTURE(text);
        failed = !function.empty();
        // Some failures are not essential, and without a usable device there is none.
        CHECK((status == WEFT_OK || (failed && (status == expected || status == WEFT_NO_DEVICE))));
        if (status != WEFT_OK) CHECK(!text.empty());
        control().fail_no_more();
        check_nothing_left();
    }
}

}  // namespace

TEST_CASE("c: every call of the driver that may run out of memory") {
    fail_each(Calls::may_run_out, weft_fault::kOutOfDeviceMemory, WEFT_OUT_OF_MEMORY, 1);
}

TEST_CASE("c: every call of the driver that may lose the device") {
    fail_each(Calls::may_lose, weft_fault::kDeviceLost, WEFT_DEVICE_LOST, 1);
}

TEST_CASE("c: every call of the driver that a part makes may run out of memory") {
    control().reset();
    {
        FaultWorld w;
        for (const FaultPart& part : kFaultParts) {
            CAPTURE(std::string(part.name));
            const Watchdog watchdog(part.name);
            bool failed = true;
            for (std::uint64_t index = 0; failed; ++index) {
                CAPTURE(index);
                w.forget();
                control().fail(Rule{
                    .calls = Calls::may_run_out, .index = index, .result = weft_fault::kOutOfDeviceMemory});
                const weft_status status = part.run(w);
                const std::string function = control().failed();
                CAPTURE(function);
                INFO("error: " << std::string(weft_last_error()));
                failed = !function.empty();
                CHECK((status == WEFT_OK || (failed && status == WEFT_OUT_OF_MEMORY)));
                control().fail_no_more();
                w.forget();
                REQUIRE(part.run(w) == WEFT_OK);
            }
        }
    }
    check_nothing_left();
}

TEST_CASE("c: a device that is lost says so in every later call, and handles can be released") {
    control().reset();
    {
        FaultWorld w;
        Stream stream;
        CHECK_OK(weft_stream_create(w.backend, nullptr, &stream));
        CHECK_OK(weft_stream_fill(stream, weft_buffer_view(w.x), 1));
        Event event;
        control().fail(Rule{.calls = Calls::may_lose, .result = weft_fault::kDeviceLost});
        CHECK(weft_stream_submit(stream, &event) == WEFT_DEVICE_LOST);
        CHECK(static_cast<weft_event*>(event) == nullptr);
        for (const FaultPart& part : {kFaultParts[0], kFaultParts[2], kFaultParts[4], kFaultParts[7],
                                      kFaultParts[8], kFaultParts[9]}) {
            CAPTURE(std::string(part.name));
            CHECK(part.run(w) == WEFT_DEVICE_LOST);
            CHECK(std::string(weft_last_error()).find("lost") != std::string::npos);
        }
    }
    check_nothing_left();
}
