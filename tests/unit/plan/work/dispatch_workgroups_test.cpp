// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "plan/work/dispatch_plan.hpp"

using namespace weft;
using namespace weft::core;

namespace {

constexpr std::uint64_t k2To32 = std::uint64_t{1} << 32;

DeviceLimits limits_of(std::uint32_t x, std::uint32_t y) {
    DeviceLimits limits;
    limits.max_workgroup_count[0] = x;
    limits.max_workgroup_count[1] = y;
    limits.max_workgroup_count[2] = 3;  // never used
    return limits;
}

}  // namespace

TEST_CASE("workgroups are placed along x as long as they fit, then in the fewest equal rows") {
    const struct {
        std::uint64_t elements;
        WorkgroupRule rule;
        std::uint32_t limit_x, limit_y;
        WorkgroupGrid expected;
    } cases[] = {
        {0, {64, 0, true}, 65535, 65535, {0, 1}},
        {1, {64, 0, false}, 65535, 65535, {1, 1}},
        {64, {64, 0, false}, 65535, 65535, {1, 1}},
        {65, {64, 0, false}, 65535, 65535, {2, 1}},
        {65535, {1, 0, false}, 65535, 65535, {65535, 1}},  // exactly at the limit
        {65535, {1, 0, true}, 65535, 65535, {65535, 1}},
        {65536, {1, 0, true}, 65535, 65535, {32768, 2}},  // one past it
        {65535 * 64, {64, 0, false}, 65535, 65535, {65535, 1}},
        {65535 * 64 + 1, {64, 0, true}, 65535, 65535, {32768, 2}},
        {2 * 65535, {1, 0, true}, 65535, 65535, {65535, 2}},
        {2 * 65535 + 1, {1, 0, true}, 65535, 65535, {43691, 3}},
        {k2To32 - 1, {64, 0, true}, 65535, 65535, {65473, 1025}},
        {k2To32 - 1, {1, 0, true}, 0x7fffffff, 65535, {1431655765, 3}},
        {k2To32 - 1, {1, 0, true}, 65536, 65536, {65536, 65536}},
        {k2To32 - 1, {2, 0, false}, 0x80000000, 1, {0x80000000, 1}},
        {std::uint64_t{65535} * 65535, {1, 0, true}, 65535, 65535, {65535, 65535}},  // full to the last
        {30, {1, 0, true}, 10, 3, {10, 3}},                                          // limits differ
        {30, {1, 0, true}, 3, 10, {3, 10}},
        {11, {1, 0, true}, 10, 3, {6, 2}},
        {k2To32 - 1000, {1, 1000, false}, 65535, 65535, {1000, 1}},  // the shader loops
        {k2To32 - 70000, {1, 70000, true}, 65535, 65535, {35000, 2}},
        {500, {1, 1000, false}, 65535, 65535, {500, 1}},
        {3, {1, 1000, false, 64, 16}, 65535, 65535, {48, 1}},  // 16 workgroups share an element
        {300, {1, 1000, false, 64, 16}, 65535, 65535, {1000, 1}},
        {3, {2, 0, false, 64, 16}, 65535, 65535, {32, 1}},
    };
    for (const auto& c : cases) {
        CAPTURE(c.elements);
        CAPTURE(c.limit_x);
        CAPTURE(c.rule.elements_per_workgroup);
        const auto grid = plan_workgroups(c.elements, c.rule, limits_of(c.limit_x, c.limit_y));
        REQUIRE(grid.has_value());
        CHECK(grid->x == c.expected.x);
        CHECK(grid->y == c.expected.y);
    }
}

TEST_CASE("the rows hold every workgroup, within the limits, with less than one spare workgroup a row") {
    const DeviceLimits limits = limits_of(1000, 77);
    for (std::uint64_t workgroups = 1; workgroups <= 77000; ++workgroups) {
        const auto grid = plan_workgroups(workgroups, {1, 0, true}, limits);
        REQUIRE(grid.has_value());
        const std::uint64_t held = std::uint64_t{grid->x} * grid->y;
        REQUIRE((held >= workgroups && held - workgroups < grid->y));
        REQUIRE((grid->x <= 1000 && grid->y <= 77));
        REQUIRE((grid->y - 1) * std::uint64_t{1000} < workgroups);  // no row more than needed
    }
}

TEST_CASE("indices of spare workgroups do not start again at 0") {
    const struct {
        std::uint64_t elements;
        WorkgroupRule rule;
        std::uint32_t limit_x, limit_y;
        WorkgroupGrid expected;  // {0, 0}: refused
    } cases[] = {
        // 65473 x 1025 workgroups of 64 would be 2^32 + 88 * 64 indices; 2048 rows are the first that fit.
        {k2To32 - 1, {64, 0, true, 64}, 65535, 65535, {32768, 2048}},
        {k2To32 - 1, {64, 0, false, 64}, 0x7fffffff, 65535, {67108864, 1}},
        {k2To32 - 1, {96, 0, false, 96}, 0x7fffffff, 65535, {0, 0}},
        {k2To32 - 96, {96, 0, false, 96}, 0x7fffffff, 65535, {44739242, 1}},
        {k2To32 - 1, {96, 0, true, 96}, 0x7fffffff, 65535, {0, 0}},
        {std::uint64_t{1} << 31, {1024, 0, true, 1024}, 65535, 65535, {63551, 33}},
        {k2To32 - 1, {64, 1000, false, 64}, 65535, 65535, {0, 0}},  // a loop adds 64000 at its end
        {k2To32 - 64000, {64, 1000, false, 64}, 65535, 65535, {1000, 1}},
    };
    for (const auto& c : cases) {
        CAPTURE(c.elements);
        CAPTURE(c.rule.invocations);
        const WorkgroupGrid grid = plan_workgroups(c.elements, c.rule, limits_of(c.limit_x, c.limit_y))
                                       .value_or(WorkgroupGrid{0, 0});
        CHECK(grid.x == c.expected.x);
        CHECK(grid.y == c.expected.y);
    }
    CHECK(too_many_workgroups("p", k2To32 - 1, {96, 0, false, 96}, limits_of(0x7fffffff, 65535))
              .find("too many elements for 32-bit indices") != std::string::npos);
}

TEST_CASE("more workgroups than the axes allow are refused with limit and solutions") {
    const struct {
        std::uint64_t elements;
        WorkgroupRule rule;
        std::uint32_t limit_x, limit_y;
        const char* text;
    } cases[] = {
        {65536,
         {1, 0, false},
         65535,
         65535,
         "dispatch: program \"p\" needs more workgroups than the device allows on the x axis (got 65536, "
         "need "
         "65535 at most; take the index from weft_index() of weft.glsl, which reads both axes, raise "
         "ProgramOptions::elements_per_workgroup or set max_workgroups)"},
        {k2To32 - 1,
         {1, 0, true},
         65535,
         65535,
         "dispatch: program \"p\" needs more workgroups than the device allows on the x and y axes (got "
         "4294967295, need 4294836225 at most; raise ProgramOptions::elements_per_workgroup or set "
         "max_workgroups)"},
        {31, {1, 0, true}, 10, 3, "(got 31, need 30 at most;"},
        {~std::uint64_t{0},
         {1, 0, true},
         65535,
         65535,
         "(got 18446744073709551615, need 4294836225 at most;"},
    };
    for (const auto& c : cases) {
        const DeviceLimits limits = limits_of(c.limit_x, c.limit_y);
        CHECK_FALSE(plan_workgroups(c.elements, c.rule, limits).has_value());
        const std::string text = too_many_workgroups("p", c.elements, c.rule, limits);
        CAPTURE(text);
        CHECK(text.find(c.text) != std::string::npos);
    }
}
