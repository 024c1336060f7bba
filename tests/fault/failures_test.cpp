// SPDX-License-Identifier: Apache-2.0
// Every call that may run out of memory, or fail otherwise, is made to fail once.
#include <optional>
#include <string>

#include "fault/script.hpp"

using namespace weft_test;
using weft::Errc;
using weft_fault::Calls;
using weft_fault::Rule;

namespace {

bool allowed(Errc code, int result) {
    if (result == weft_fault::kInitializationFailed) return code == Errc::driver || code == Errc::no_device;
    return code == Errc::out_of_memory;
}

/// Checks after any failure but a lost device: everything is freed and the next work is right.
void check_recovered(weft::Backend& backend, const ScriptKind& kind) {
    backend.wait_idle();
    const weft::MemoryReport memory = backend.memory();
    for (const auto& named : memory.names) {
        CAPTURE(named.name);
        // The areas of slots are kept with their rings.
        CHECK((named.live_count == 0 || named.name.starts_with("slot ")));
    }
    script(backend, kind);
    backend.trim();
    CHECK(backend.memory().live_buffers == 0);
}

/// Runs the script under a rule. Returns false if the rule was never applied.
bool survives(const Rule& rule, const ScriptKind& kind) {
    const std::string what = std::string(kind.name) + ", result " + std::to_string(rule.result) + ", call " +
                             std::to_string(rule.index) + (rule.for_ever ? " and later" : "");
    CAPTURE(what);
    const Watchdog watchdog(what);
    control().reset();
    control().fail(rule);
    std::string failed;
    std::string text;
    {
        std::optional<weft::Backend> backend;
        try {
            backend.emplace(fault_config());
            script(*backend, kind);
        } catch (const weft::Error& error) {
            text = error.what();
            INFO("failed function: " << control().failed() << ", error: " << text);
            CHECK(allowed(error.code(), rule.result));
            CHECK(!control().failed().empty());
        }
        failed = control().failed();
        control().fail_no_more();
        INFO("failed function: " << failed << ", error: " << text);
        if (backend) check_recovered(*backend, kind);
    }
    INFO("failed function: " << failed << ", error: " << text);
    check_nothing_left();
    return !failed.empty();
}

void run_all(int result, const ScriptKind& kind, std::uint64_t step, bool for_ever) {
    std::uint64_t index = 0;
    const Calls calls = for_ever ? Calls::may_allocate : Calls::may_run_out;
    while (survives({.calls = calls, .index = index, .result = result, .for_ever = for_ever}, kind))
        index += step;
    MESSAGE(std::string(kind.name) << ", result " << result << ": " << index << " calls");
    CHECK(index > 50);  // the script does call the driver
}

}  // namespace

TEST_CASE("failures: each call that may run out of device memory") {
    for (const ScriptKind& kind : kScripts) run_all(weft_fault::kOutOfDeviceMemory, kind, 1, false);
}

TEST_CASE("failures: each call fails to initialize") {
    run_all(weft_fault::kInitializationFailed, kScripts[0], 1, false);
}

TEST_CASE("failures: from each point on no object can be made") {
    run_all(weft_fault::kOutOfHostMemory, kScripts[0], 3, true);
}
