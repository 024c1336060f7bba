// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "plan/spirv/pipeline_key.hpp"

namespace {

using weft::ProgramOptions;
using weft::SpecConstant;
using weft::core::pipeline_key;
using weft::core::PipelineKey;
using Words = std::vector<std::uint32_t>;

TEST_CASE("equal pipelines have equal keys") {
    const Words words{0x07230203, 0x00010300, 1, 2, 0};
    const ProgramOptions options{.constants = {{0, 64u}, {3, true}, {1, 1.5f}}};
    const PipelineKey key = pipeline_key(words, options);
    ProgramOptions other = options;
    std::sort(other.constants.begin(), other.constants.end(),
              [](const SpecConstant& a, const SpecConstant& b) { return a.id > b.id; });
    CHECK(pipeline_key(words, other) == key);
    other = options;
    other.name = "shown to people";
    other.elements_per_workgroup = 7;
    other.max_workgroups = 9;
    CHECK(pipeline_key(words, other) == key);
    CHECK(pipeline_key(Words(words), options) == key);
}

TEST_CASE("every word, the entry point and every constant change the key") {
    const Words words{0x07230203, 0x00010300, 1, 2, 0, 0, 0};
    const ProgramOptions options{.constants = {{0, 64u}, {1, 0u}}};
    std::set<PipelineKey> keys{pipeline_key(words, options)};
    std::size_t variants = 1;
    const auto add = [&](const Words& w, const ProgramOptions& o) {
        keys.insert(pipeline_key(w, o));
        ++variants;
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (const std::uint32_t flip : {1u, 0x80000000u}) {
            Words changed = words;
            changed[i] ^= flip;
            add(changed, options);
        }
    }
    Words swapped = words;
    std::swap(swapped[2], swapped[3]);
    add(swapped, options);
    add(Words(words.begin(), words.end() - 1), options);  // a trailing zero counts
    add({}, options);
    for (const char* entry : {"", "Main", "main2", "mai"}) {
        ProgramOptions changed = options;
        changed.entry = entry;
        add(words, changed);
    }
    const std::vector<SpecConstant> constants[] = {{},
                                                   {{0, 64u}},
                                                   {{1, 0u}},
                                                   {{0, 0u}, {1, 64u}},
                                                   {{0, 65u}, {1, 0u}},
                                                   {{0, 64u}, {2, 0u}},
                                                   {{0, 64u}, {1, 0u}, {2, 0u}}};
    for (const auto& c : constants) {
        ProgramOptions changed = options;
        changed.constants = c;
        add(words, changed);
    }
    using Size = std::array<std::uint32_t, 3>;
    for (const Size& size : {Size{64, 0, 0}, Size{0, 64, 0}, Size{0, 0, 64}, Size{65, 0, 0}}) {
        ProgramOptions changed = options;
        changed.local_size = size;
        add(words, changed);
    }
    for (const std::uint32_t size : {0u, 8u, 64u})
        for (const bool full : {false, true}) {
            if (size == 0 && !full) continue;  // the first one of all
            ProgramOptions changed = options;
            changed.subgroup_size = size;
            changed.require_full_subgroups = full;
            add(words, changed);
        }
    CHECK(keys.size() == variants);
}

TEST_CASE("the key does not depend on where one part ends and the next begins") {
    // The same numbers as words, as characters and as a constant.
    const Words a{1, 2, 'm'}, b{1, 2};
    CHECK(pipeline_key(a, {.entry = "ain"}) != pipeline_key(b, {.entry = "main"}));
    CHECK(pipeline_key(b, {.entry = "", .constants = {{0, 5u}}}) != pipeline_key(b, {.entry = "\5"}));
}

}  // namespace
