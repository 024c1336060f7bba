// SPDX-License-Identifier: Apache-2.0
// What the build makes of GLSL.
#include <doctest/doctest.h>

#include "support/contractions.hpp"

using namespace weft_test;

namespace {

constexpr std::uint32_t kPreciseLoop[] = {
#include "shaders/precise_loop.spv.inc"
};

}  // namespace

TEST_CASE("shader build: every turn of a loop keeps what is precise") {
    const ContractionCount count = count_contractions(kPreciseLoop);
    CHECK(count.forbidden >= 3);
    CHECK(count.free == 0);
    CHECK(count.fused == 0);
}
