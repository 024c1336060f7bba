// SPDX-License-Identifier: Apache-2.0
// The line that a lost device adds to its Error.
#include <string>

#include <doctest/doctest.h>

#include "base/driver_text.hpp"

using weft::core::DeviceFault;
using weft::core::fault_text;
using weft::core::kMostFaultBytes;

TEST_CASE("fault: an empty report adds no text") {
    CHECK(fault_text({}) == "");
}

TEST_CASE("fault: description, addresses, vendor records") {
    DeviceFault fault;
    fault.description = "GPU page fault";
    fault.addresses = {{2, 0x7f0000001234, 4096}, {1, 0xdead0000, 1}, {6, 0x40, 0}};
    fault.vendor = {{"MMU", 0x1f, 0xdeadbeef00}};
    CHECK(fault_text(fault) ==
          "GPU page fault; invalid write at 0x7f0000001000..0x7f0000001fff; invalid read at 0xdead0000; "
          "instruction pointer (fault) at 0x40; MMU (code 0x1f, data 0xdeadbeef00)");
}

TEST_CASE("fault: every kind of address has a text, unknown kinds too") {
    const char* words[] = {"no address",
                           "invalid read",
                           "invalid write",
                           "invalid execution",
                           "instruction pointer (unknown)",
                           "instruction pointer (invalid)",
                           "instruction pointer (fault)",
                           "unknown access"};
    for (std::uint32_t type = 0; type < 8; ++type) {
        DeviceFault fault;
        fault.addresses = {{type, 0x10, 1}};
        CHECK(fault_text(fault) == std::string(words[type]) + " at 0x10");
    }
}

TEST_CASE("fault: only the first four of a kind, with the number of the rest") {
    DeviceFault fault;
    for (std::uint64_t i = 0; i < 100; ++i) fault.addresses.push_back({1, i * 0x1000, 1});
    const std::string text = fault_text(fault);
    CHECK(text.find("0x3000") != std::string::npos);
    CHECK(text.find("0x4000") == std::string::npos);
    CHECK(text.ends_with("; and 96 more"));
}

TEST_CASE("fault: a driver's strings cannot break or flood the line") {
    DeviceFault fault;
    fault.description = std::string("first\nsecond\tthird\x01 \r\n");
    CHECK(fault_text(fault) == "first second third");
    fault.description = std::string("cut\0off", 7);
    CHECK(fault_text(fault) == "cut");
    fault.description = std::string(100000, 'd');
    CHECK(fault_text(fault).size() == 256);
    for (int i = 0; i < 8; ++i) fault.vendor.push_back({std::string(100000, 'v'), 1, 2});
    CHECK(fault_text(fault).size() == kMostFaultBytes);
    CHECK(fault_text(fault).ends_with("..."));
}
