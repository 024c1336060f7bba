// SPDX-License-Identifier: Apache-2.0
// The log: levels, callbacks that throw or log again, many threads; and the text of a driver's message.
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/driver_text.hpp"
#include "base/log.hpp"

using weft::LogLevel;
using namespace weft::core;

TEST_CASE("log: a line passes if its level is at or above the log's") {
    const LogLevel levels[] = {LogLevel::off, LogLevel::error, LogLevel::warning, LogLevel::info,
                               LogLevel::debug};
    for (const LogLevel threshold : levels) {
        std::vector<LogLevel> got;
        const Log log(threshold, [&](LogLevel level, std::string_view) { got.push_back(level); });
        for (const LogLevel level : levels) {
            log.write(level, "x");
            CHECK(log.enabled(level) == (level != LogLevel::off && level <= threshold));
        }
        CHECK(got.size() == static_cast<std::size_t>(threshold));
        for (const LogLevel level : got) CHECK(level <= threshold);
    }
}

TEST_CASE("log: an exception of a callback is dropped, and the next line is logged") {
    int calls = 0;
    const Log log(LogLevel::debug, [&](LogLevel, std::string_view) {
        ++calls;
        if (calls == 1) throw std::runtime_error("mine");
        if (calls == 2) throw 7;
    });
    for (int i = 0; i < 3; ++i) CHECK_NOTHROW(log.write(LogLevel::error, "line"));
    CHECK(calls == 3);
}

TEST_CASE("log: a callback that logs does not wait for itself") {
    const Log* self = nullptr;
    int calls = 0;
    const Log log(LogLevel::debug, [&](LogLevel level, std::string_view) {
        ++calls;
        self->write(level, "(a line from within a callback: this test prints it)");
    });
    self = &log;
    log.write(LogLevel::info, "first");
    log.write(LogLevel::info, "second");
    CHECK(calls == 2);
}

TEST_CASE("log: one line at a time from many threads") {
    std::atomic<int> inside{0};
    bool overlapped = false;
    std::vector<std::string> lines;
    const Log log(LogLevel::debug, [&](LogLevel, std::string_view line) {
        if (inside.fetch_add(1) != 0) overlapped = true;
        lines.emplace_back(line);
        inside.fetch_sub(1);
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&log, t] {
            for (int i = 0; i < 200; ++i) log.write(LogLevel::info, std::to_string(t));
        });
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(overlapped);
    CHECK(lines.size() == 800);
}

TEST_CASE("messages: names that the text lacks are appended, others are not repeated") {
    const MessageObject objects[] = {{0x10, "angles"}, {0x20, ""}, {0xabc, "states"}};
    CHECK(message_text("buffer angles is wrong", objects) == "buffer angles is wrong [0xabc is \"states\"]");
    CHECK(message_text("wrong", objects) == "wrong [0x10 is \"angles\", 0xabc is \"states\"]");
    CHECK(message_text("plain", {}) == "plain");
    const std::string huge(3 * kMostMessageBytes, 'x');
    CHECK(message_text(huge, objects).size() == kMostMessageBytes);
    CHECK(message_text(huge, objects).ends_with("..."));
}
