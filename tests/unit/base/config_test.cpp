// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "base/config_parse.hpp"
#include "support/error_text.hpp"

namespace {

using weft::Config;
using weft::Errc;

using Values = std::map<std::string, std::string>;

Config parse(const Values& values) {
    return weft::core::parse_config([&](const char* name) -> std::optional<std::string> {
        const auto found = values.find(name);
        if (found == values.end()) return std::nullopt;
        return found->second;
    });
}

std::string refusal(const Values& values) {
    try {
        parse(values);
    } catch (const weft::Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
        return error.what();
    }
    return "accepted";
}

const char* const kVariables[] = {"WEFT_DEVICE",         "GPU_STREAM_CHUNK_ELEMS",
                                  "GPU_DEVICE_LOCAL",    "WEFT_SLOTS",
                                  "WEFT_PATH",           "WEFT_COPY_THREADS",
                                  "WEFT_QUEUES",         "WEFT_HOST_ALLOC",
                                  "WEFT_VALIDATION",     "WEFT_LOG",
                                  "WEFT_CACHE",          "WEFT_CACHE_DIR",
                                  "WEFT_VULKAN_LIBRARY", "WEFT_TRACE",
                                  "WEFT_DISPATCH_MS"};

void check_default(const Config& config) {
    CHECK(config.device.empty());
    CHECK_FALSE(config.chunk_elements.has_value());
    CHECK_FALSE(config.device_local.has_value());
    CHECK_FALSE(config.ring_slots.has_value());
    CHECK(config.path == weft::Path::automatic);
    CHECK_FALSE(config.copy_threads.has_value());
    CHECK(config.dispatch_ms == 250);
    CHECK(config.queues == weft::QueueMode::automatic);
    CHECK(config.host_allocator == weft::HostAllocator::automatic);
    CHECK(config.validation == weft::Validation::off);
    CHECK(config.log_level == weft::LogLevel::warning);
    CHECK(config.cache);
    CHECK(config.cache_dir.empty());
    CHECK(config.vulkan_library.empty());
    CHECK(config.trace.empty());
}

TEST_CASE("unset and empty variables give the default configuration") {
    check_default(parse({}));
    Values empty;
    for (const char* name : kVariables) empty[name] = "";
    check_default(parse(empty));
}

TEST_CASE("each variable reaches its field") {
    const Config config = parse({{"WEFT_DEVICE", "h100"},
                                 {"GPU_STREAM_CHUNK_ELEMS", "65536"},
                                 {"GPU_DEVICE_LOCAL", "1"},
                                 {"WEFT_SLOTS", "2"},
                                 {"WEFT_PATH", "host"},
                                 {"WEFT_COPY_THREADS", "8"},
                                 {"WEFT_DISPATCH_MS", "40"},
                                 {"WEFT_QUEUES", "split"},
                                 {"WEFT_HOST_ALLOC", "vulkan"},
                                 {"WEFT_VALIDATION", "sync"},
                                 {"WEFT_LOG", "debug"},
                                 {"WEFT_CACHE", "0"},
                                 {"WEFT_CACHE_DIR", "/a b"},
                                 {"WEFT_VULKAN_LIBRARY", "/x/libvulkan.so"},
                                 {"WEFT_TRACE", "a trace.json"}});
    CHECK(config.trace == "a trace.json");
    CHECK(config.device == "h100");
    CHECK(config.chunk_elements == 65536u);
    CHECK(config.device_local == true);
    CHECK(config.ring_slots == 2u);
    CHECK(config.path == weft::Path::host);
    CHECK(config.copy_threads == 8u);
    CHECK(config.dispatch_ms == 40u);
    CHECK(config.queues == weft::QueueMode::split);
    CHECK(config.host_allocator == weft::HostAllocator::vulkan);
    CHECK(config.validation == weft::Validation::sync);
    CHECK(config.log_level == weft::LogLevel::debug);
    CHECK_FALSE(config.cache);
    CHECK(config.cache_dir == "/a b");
    CHECK(config.vulkan_library == "/x/libvulkan.so");
}

TEST_CASE("every word of a variable has its meaning") {
    using weft::Path, weft::QueueMode, weft::LogLevel, weft::Validation;
    const std::pair<const char*, Path> paths[] = {{"auto", Path::automatic},
                                                  {"staged", Path::staged},
                                                  {"direct", Path::direct},
                                                  {"imported", Path::imported},
                                                  {"host", Path::host}};
    for (const auto& [word, path] : paths) {
        CHECK(parse({{"WEFT_PATH", word}}).path == path);
        CHECK(std::string(weft::to_string(path)) == word);
    }
    const std::pair<const char*, QueueMode> modes[] = {
        {"auto", QueueMode::automatic}, {"single", QueueMode::single}, {"split", QueueMode::split}};
    for (const auto& [word, mode] : modes) {
        CHECK(parse({{"WEFT_QUEUES", word}}).queues == mode);
        CHECK(std::string(weft::to_string(mode)) == word);
    }
    const std::pair<const char*, LogLevel> levels[] = {{"off", LogLevel::off},
                                                       {"error", LogLevel::error},
                                                       {"warning", LogLevel::warning},
                                                       {"info", LogLevel::info},
                                                       {"debug", LogLevel::debug}};
    for (const auto& [word, level] : levels) CHECK(parse({{"WEFT_LOG", word}}).log_level == level);
    const std::pair<const char*, Validation> validations[] = {
        {"0", Validation::off}, {"1", Validation::on}, {"sync", Validation::sync}};
    for (const auto& [word, validation] : validations)
        CHECK(parse({{"WEFT_VALIDATION", word}}).validation == validation);
    CHECK(parse({{"GPU_DEVICE_LOCAL", "0"}}).device_local == false);
    CHECK(parse({{"WEFT_CACHE", "1"}}).cache);
    CHECK(parse({{"WEFT_HOST_ALLOC", "auto"}}).host_allocator == weft::HostAllocator::automatic);
    CHECK(parse({{"WEFT_HOST_ALLOC", "cuda"}}).host_allocator == weft::HostAllocator::cuda);
    CHECK(std::string(weft::to_string(static_cast<Path>(77))) == "unknown");
    CHECK(std::string(weft::to_string(static_cast<QueueMode>(77))) == "unknown");
}

TEST_CASE("chunk elements: whole numbers of at least 1, nothing else") {
    CHECK(parse({{"GPU_STREAM_CHUNK_ELEMS", "1"}}).chunk_elements == 1u);
    CHECK(parse({{"GPU_STREAM_CHUNK_ELEMS", "007"}}).chunk_elements == 7u);
    CHECK(parse({{"GPU_STREAM_CHUNK_ELEMS", "18446744073709551615"}}).chunk_elements ==
          18446744073709551615u);
    for (const char* bad :
         {"0", "-1", "abc", "+5", " 5", "5 ", "\t5", "5\n", " ", "0x10", "1e6", "1.5", "5,", "1 000", "-0"}) {
        CAPTURE(bad);
        CHECK(refusal({{"GPU_STREAM_CHUNK_ELEMS", bad}}) ==
              std::string("Config::from_env: GPU_STREAM_CHUNK_ELEMS must be a whole number of at least 1 "
                          "(got \"") +
                  bad + "\")");
    }
    for (const char* large : {"18446744073709551616", "99999999999999999999999999"}) {
        CAPTURE(large);
        CHECK(refusal({{"GPU_STREAM_CHUNK_ELEMS", large}}) ==
              std::string("Config::from_env: GPU_STREAM_CHUNK_ELEMS must be a whole number below 2^64 "
                          "(got \"") +
                  large + "\")");
    }
}

TEST_CASE("bounded numbers name their bounds") {
    CHECK(parse({{"WEFT_SLOTS", "1"}}).ring_slots == 1u);
    CHECK(parse({{"WEFT_SLOTS", "16"}}).ring_slots == 16u);
    CHECK(parse({{"WEFT_COPY_THREADS", "256"}}).copy_threads == 256u);
    // The last two would be legal if only their low 32 or 64 bits were read.
    for (const char* bad : {"0", "17", "-1", "two", "4294967298", "18446744073709551618"}) {
        CAPTURE(bad);
        CHECK(refusal({{"WEFT_SLOTS", bad}}) ==
              std::string("Config::from_env: WEFT_SLOTS must be a whole number from 1 to 16 (got \"") + bad +
                  "\")");
    }
    CHECK(parse({{"WEFT_DISPATCH_MS", "1"}}).dispatch_ms == 1u);
    CHECK(parse({{"WEFT_DISPATCH_MS", "4294967295"}}).dispatch_ms == 4294967295u);
    for (const char* bad : {"0", "-1", "fast", "4294967296", "2.5"}) {
        CAPTURE(bad);
        CHECK(refusal({{"WEFT_DISPATCH_MS", bad}}) ==
              std::string(
                  "Config::from_env: WEFT_DISPATCH_MS must be a whole number from 1 to 4294967295 (got \"") +
                  bad + "\")");
    }
    for (const char* bad : {"0", "257", "4294967297"}) {
        CAPTURE(bad);
        CHECK(
            refusal({{"WEFT_COPY_THREADS", bad}}) ==
            std::string("Config::from_env: WEFT_COPY_THREADS must be a whole number from 1 to 256 (got \"") +
                bad + "\")");
    }
}

TEST_CASE("an unknown word is refused and the legal ones are listed") {
    const struct {
        const char* name;
        const char* bad;
        const char* legal;
    } rows[] = {
        {"GPU_DEVICE_LOCAL", "yes", "0, 1"},
        {"GPU_DEVICE_LOCAL", "2", "0, 1"},
        {"WEFT_PATH", "Staged", "auto, staged, direct, imported, host"},
        {"WEFT_QUEUES", "two", "auto, single, split"},
        {"WEFT_HOST_ALLOC", "hip", "auto, vulkan, cuda"},
        {"WEFT_VALIDATION", "2", "0, 1, sync"},
        {"WEFT_LOG", "warn", "off, error, warning, info, debug"},
        {"WEFT_CACHE", "true", "0, 1"},
        {"WEFT_CACHE", "1 ", "0, 1"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        CHECK(refusal({{row.name, row.bad}}) == std::string("Config::from_env: ") + row.name +
                                                    " must be one of: " + row.legal + " (got \"" + row.bad +
                                                    "\")");
    }
}

TEST_CASE("an enum with an invalid value is refused before the search for a device") {
    const auto refused = [](const char* text, auto&& change) {
        Config config;
        weft::core::check_enums(config);
        change(config);
        CHECK(weft_test::error_text(Errc::invalid_argument, [&] { weft::core::check_enums(config); }) ==
              text);
    };
    refused("Config: no such path (got 5, need 0 to 4)",
            [](Config& c) { c.path = static_cast<weft::Path>(5); });
    refused("Config: no such queue mode (got -1, need 0 to 2)",
            [](Config& c) { c.queues = static_cast<weft::QueueMode>(-1); });
    refused("Config: no such host allocator (got 3, need 0 to 2)",
            [](Config& c) { c.host_allocator = static_cast<weft::HostAllocator>(3); });
    refused("Config: no such validation (got 3, need 0 to 2)",
            [](Config& c) { c.validation = static_cast<weft::Validation>(3); });
    refused("Config: no such log level (got 5, need 0 to 4)",
            [](Config& c) { c.log_level = static_cast<weft::LogLevel>(5); });
}

TEST_CASE("from_env reads the environment of the process") {
    const char* const name = "GPU_STREAM_CHUNK_ELEMS";
    const char* const before = std::getenv(name);
    const std::string saved = before == nullptr ? "" : before;
    setenv(name, "4242", 1);
    CHECK(Config::from_env().chunk_elements == 4242u);
    setenv(name, "abc", 1);
    CHECK_THROWS_WITH_AS(Config::from_env(),
                         "Config::from_env: GPU_STREAM_CHUNK_ELEMS must be a whole number of at least 1 (got "
                         "\"abc\")",
                         weft::Error);
    unsetenv(name);
    CHECK_FALSE(Config::from_env().chunk_elements.has_value());
    if (before != nullptr) setenv(name, saved.c_str(), 1);
}

}  // namespace
