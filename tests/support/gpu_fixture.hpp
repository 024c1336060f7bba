// SPDX-License-Identifier: Apache-2.0
// The frame of every test that needs a device: makes a Backend from the environment, and checks that nothing
// is left.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <weft/backend.hpp>
#include <weft/buffer.hpp>
#include <weft/error.hpp>
#include <weft/memory_report.hpp>

#include "support/error_text.hpp"

namespace weft_test {

/// Whether a missing device fails the tests instead of skipping them: WEFT_REQUIRE_DEVICE=1.
inline bool device_required() {
    const char* value = std::getenv("WEFT_REQUIRE_DEVICE");
    return value != nullptr && std::string_view(value) == "1";
}

/// A Backend, or nothing and a message if the machine has no device and none is required.
inline std::optional<weft::Backend> make_backend(const weft::Config& config = weft::Config::from_env()) {
    try {
        return std::optional<weft::Backend>(std::in_place, config);
    } catch (const weft::Error& error) {
        const bool absent = error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader;
        if (!absent || device_required()) throw;
        MESSAGE("skipped: " << error.what());
        return std::nullopt;
    }
}

/// Fails the test if buffers are alive or the validation layer reported anything.
inline void check_clean(weft::Backend& backend) {
    backend.wait_idle();
    backend.trim();
    const weft::MemoryReport memory = backend.memory();
    CHECK(memory.live_buffers == 0);
    for (const weft::MemoryReport::Named& named : memory.names) {
        CAPTURE(named.name);
        CHECK(named.live_count == 0);
    }
    CHECK(backend.counters().validation_messages == 0);
}

/// Runs body(Backend&) and checks that no object is left; the body owns every buffer, stream and program that
/// it makes.
template <class Body>
void on_device(Body&& body, const weft::Config& config = weft::Config::from_env()) {
    std::optional<weft::Backend> backend = make_backend(config);
    if (!backend) return;
    body(*backend);
    check_clean(*backend);
}

}  // namespace weft_test
