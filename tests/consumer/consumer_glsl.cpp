// SPDX-License-Identifier: Apache-2.0
// The smallest program that shows that weft::glsl contains the compiler and weft.glsl: it compiles a shader
// and checks its numbers.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {
constexpr const char* kText = R"(#version 450
#include "weft.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Block { WEFT_COUNT_FIRST uint added; } block;
void main() { if (weft_index() < block.count) values[weft_index()] += block.added; })";
}  // namespace

int main() try {
    weft::Backend backend;
    const weft::Program program{backend, weft::compile_glsl({.text = kText})};
    std::vector<std::uint32_t> values(1000, 40);
    const std::vector<std::uint32_t> expected(1000, 42);
    const weft::Job job{.inputs = {values}, .outputs = {values}, .elements = 1000, .parameters = 2u};
    weft::run_batch(backend, program, {&job, 1});
    if (values == expected) return 0;
    std::fprintf(stderr, "wrong values\n");
    return 1;
} catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
