// SPDX-License-Identifier: Apache-2.0
// Checks of SPIR-V that the build made from GLSL.
#include <doctest/doctest.h>

#include "support/contractions.hpp"

using namespace weft_test;

namespace {

constexpr std::uint32_t kPreciseLoop[] = {
#include "shaders/precise_loop.spv.inc"
};

}  // namespace

TEST_CASE("shader build: every iteration of a loop keeps what is precise") {
    const ContractionCount count = count_contractions(kPreciseLoop);
    CHECK(count.forbidden >= 3);
    CHECK(count.free == 0);
    CHECK(count.fused == 0);
}
