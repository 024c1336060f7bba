// SPDX-License-Identifier: Apache-2.0
// The host's memory runs out at every allocation of a call: a status, no crash, and the next call works.
#include "fault/failing_allocations.hpp"

#include "capi/faults.hpp"

using namespace weft_test;

namespace {

void run_all(FaultWorld& w, const FaultPart& part, bool from_there_on) {
    CAPTURE(std::string(part.name));
    CAPTURE(from_there_on);
    const Watchdog watchdog(part.name);
    REQUIRE(part.run(w) == WEFT_OK);
    bool failed = true;
    for (std::int64_t index = 0; failed; ++index) {
        CAPTURE(index);
        w.forget();
        begin_counting(index, from_there_on);
        const weft_status status = part.run(w);
        failed = end_counting();
        INFO("error: " << std::string(weft_last_error()));
        if (status != WEFT_OK) {
            REQUIRE(failed);
            REQUIRE(status == WEFT_OUT_OF_MEMORY);
            REQUIRE(std::string(weft_last_error()) != "");
        }
        w.forget();
        REQUIRE(part.run(w) == WEFT_OK);
        if (!failed) CHECK(index > 2);  // the part does allocate
    }
}

}  // namespace

TEST_CASE("c: each allocation of a call fails, once or from then on") {
    control().reset();
    known_control = &control();
    {
        FaultWorld w;
        for (const FaultPart& part : kFaultParts)
            for (const bool from_there_on : {false, true}) run_all(w, part, from_there_on);
        CHECK_OK(weft_backend_trim(w.backend));
        weft_memory memory{};
        memory.size = sizeof(memory);
        CHECK_OK(weft_backend_memory(w.backend, &memory));
        CHECK(memory.live_buffers == 2);
    }
    check_nothing_left();
}

TEST_CASE("c: allocations fail while a backend is made") {
    known_control = &control();
    FaultWorld().forget();  // drivers stay loaded from now on
    std::int64_t index = 0;
    for (bool failed = true; failed; index += 9) {
        CAPTURE(index);
        const Watchdog watchdog("allocation " + std::to_string(index));
        control().reset();
        {
            const weft_backend_options options = quiet_options();
            Backend backend;
            Program program;
            begin_counting(index, index % 2 == 1);
            weft_status status = weft_backend_create(&options, &backend);
#ifdef __SANITIZE_ADDRESS__
            // The validator of SPIRV-Tools leaves memory behind if it has no more.
            failed = end_counting();
#endif
            if (status == WEFT_OK)
                status =
                    weft_program_create(backend, {kAffineWords, sizeof(kAffineWords)}, nullptr, &program);
#ifndef __SANITIZE_ADDRESS__
            failed = end_counting();
#endif
            INFO("error: " << std::string(weft_last_error()));
            REQUIRE((status == WEFT_OK || (failed && status == WEFT_OUT_OF_MEMORY)));
            CHECK((static_cast<weft_program*>(program) != nullptr) == (status == WEFT_OK));
        }
        check_nothing_left();
    }
    MESSAGE(index << " allocations");
    CHECK(index > 20);
}

TEST_CASE("c: an error without memory for its text still has a text") {
    known_control = &control();
    begin_counting(0, true);
    weft_lattice_table* table = nullptr;
    const weft_status status = weft_lattice_table_create(WEFT_LATTICE_D4, 4, &table);
    const std::int64_t length = static_cast<std::int64_t>(std::char_traits<char>::length(weft_last_error()));
    end_counting();
    CHECK(status == WEFT_OUT_OF_MEMORY);
    CHECK(length > 10);
    CHECK(table == nullptr);
}
