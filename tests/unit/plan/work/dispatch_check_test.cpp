// SPDX-License-Identifier: Apache-2.0
// The reasons for which a dispatch is refused, and the numbers in the errors.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <weft/error.hpp>

#include "plan/work/dispatch_plan.hpp"

using weft::Access;
using weft::Binding;
using weft::core::check_dispatch;
using weft::core::DispatchRange;
using weft::core::DispatchRequest;

namespace {

struct Case {
    std::vector<DispatchRange> ranges;
    std::uint64_t parameter_bytes = 4, elements = 1;
    std::string part;  // of the error text; empty: accepted
};

std::string refusal(const Case& c, std::uint32_t push_bytes) {
    const std::vector<Binding> bindings{{0, Access::read, "x", 4}, {3, Access::read_write, "", 36}};
    weft::DeviceLimits limits{};
    limits.max_storage_buffer_range = 1 << 20;
    limits.storage_buffer_offset_alignment = 64;
    try {
        check_dispatch({.function = "Stream::dispatch",
                        .program = "saxpy",
                        .bindings = bindings,
                        .ranges = c.ranges,
                        .arguments = c.ranges.size(),
                        .push_constant_bytes = push_bytes,
                        .parameter_bytes = c.parameter_bytes,
                        .elements = c.elements},
                       limits);
    } catch (const weft::Error& e) {
        CHECK(e.code() == weft::Errc::invalid_argument);
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("dispatch_check: table") {
    const std::vector<Case> cases{
        {{{0, 64, false}, {64, 1 << 20, true}}, 4, 0xffffffffu, ""},
        {{{0, 64, true}},
         4,
         1,
         "number of arguments (got 1, need 2 of them: binding 0 \"x\", read; binding 3, read_write)"},
        {{{0, 4}, {0, 4}, {0, 4}}, 4, 1, "number of arguments (got 3, need 2"},
        {{{0, 64}, {0, 64}}, 0, 1, "parameters do not fit the push-constant block (got 0, need 4 bytes)"},
        {{{0, 64}, {0, 64}}, 8, 1, "(got 8, need 4 bytes)"},
        {{{0, 64}, {0, 64}}, 4, 0x100000000u, "too many elements (got 4294967296, need 4294967295 at most)"},
        {{{0, 64, false}, {0, 64, false}},
         4,
         1,
         "binding 3, read_write: is written but was given a read-only view"},
        {{{0, 0}, {0, 64}}, 4, 1, "binding 0 \"x\": was given an empty range"},
        {{{0, 64}, {0, (1 << 20) + 1}},
         4,
         1,
         "binding 3, read_write: range is larger than one binding can be (got 1048577, need 1048576"},
        // A range holds the fixed part of the block and one element, and may end inside a later element.
        {{{0, 4}, {0, 36}}, 4, 1, ""},
        {{{0, 5}, {0, 37}}, 4, 1, ""},
        {{{0, 3}, {0, 36}},
         4,
         1,
         "binding 0 \"x\": range is shorter than the shader's block (got 3 bytes, need 4)"},
        {{{0, 4}, {0, 35}},
         4,
         1,
         "binding 3, read_write: range is shorter than the shader's block (got 35 bytes, need 36)"},
        {{{32, 64}, {0, 64}},
         4,
         1,
         "binding 0 \"x\": offset is not aligned (got 32, need 64 bytes or a multiple)"},
        // Ranges may be equal, adjacent or in different buffers, but must not overlap in part.
        {{{64, 128, true, 7}, {64, 128, true, 7}}, 4, 1, ""},
        {{{0, 64, true, 7}, {64, 128, true, 7}}, 4, 1, ""},
        {{{192, 64, true, 7}, {64, 128, true, 7}}, 4, 1, ""},
        {{{0, 256, true, 7}, {64, 128, true, 8}}, 4, 1, ""},
        {{{0, 256, true, 0}, {64, 128, true, 0}}, 4, 1, ""},
        {{{0, 256, true, 7}, {64, 128, true, 7}},
         4,
         1,
         "binding 0 \"x\" and binding 3, read_write overlap in part and one is written (got 256 bytes from 0 "
         "and 128 "
         "bytes "
         "from 64, need the same range or ranges apart)"},
        {{{64, 65, true, 7}, {128, 128, true, 7}}, 4, 1, "(got 65 bytes from 64 and 128 bytes from 128"},
        {{{64, 128, true, 7}, {64, 64, true, 7}}, 4, 1, "(got 128 bytes from 64 and 64 bytes from 64"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.part);
        const std::string text = refusal(c, 12);
        if (c.part.empty()) {
            CHECK(text == "");
            continue;
        }
        CHECK(text.find("Stream::dispatch: program \"saxpy\" ") == 0);
        CHECK(text.find(c.part) != std::string::npos);
    }
    // Two ranges that are only read may overlap.
    {
        const std::vector<Binding> readers{{0, Access::read, "a"}, {1, Access::read, "b"}};
        const std::vector<DispatchRange> meeting{{0, 256, false, 7}, {64, 256, false, 7}};
        weft::DeviceLimits limits{};
        limits.max_storage_buffer_range = 1 << 20;
        limits.storage_buffer_offset_alignment = 64;
        CHECK_NOTHROW(check_dispatch({.function = "f",
                                      .program = "p",
                                      .bindings = readers,
                                      .ranges = meeting,
                                      .arguments = 2,
                                      .elements = 1},
                                     limits));
    }
    // Without a block, or with one of count and first alone, there are no parameters.
    for (const std::uint32_t push : {0u, 4u, 8u}) {
        CAPTURE(push);
        CHECK(refusal({{{0, 64}, {0, 64}}, 0, 1, ""}, push) == "");
        CHECK(refusal({{{0, 64}, {0, 64}}, 4, 1, ""}, push).find("(got 4, need 0 bytes)") !=
              std::string::npos);
    }
}
