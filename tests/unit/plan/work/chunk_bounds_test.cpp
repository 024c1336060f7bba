// SPDX-License-Identifier: Apache-2.0
#include "plan/work/chunk_bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using weft::Access;
using weft::Binding;
using weft::Job;
using weft::core::ChunkBounds;
using weft::core::cut_chunk;

namespace {

alignas(64) std::byte memory[64];

/// The chunks of a job if `wanted` elements are asked for each time.
std::vector<std::uint64_t> chunks_of(std::uint64_t elements, std::uint64_t wanted,
                                     const ChunkBounds& bounds) {
    std::vector<std::uint64_t> chunks;
    for (std::uint64_t left = elements; left != 0; left -= chunks.back()) {
        chunks.push_back(wanted >= left && left <= bounds.most ? left : cut_chunk(left, wanted, bounds));
        REQUIRE(chunks.back() >= 1);
        REQUIRE(chunks.back() <= left);
    }
    return chunks;
}
using Chunks = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("chunks are as asked for where a single element holds every block") {
    const ChunkBounds bounds{1, 1000};
    CHECK(chunks_of(10, 3, bounds) == Chunks{3, 3, 3, 1});
    CHECK(chunks_of(10, 1, bounds) == Chunks(10, 1));
    CHECK(chunks_of(2500, 5000, bounds) == Chunks{1000, 1000, 500});
}

TEST_CASE("chunks grow to hold a block, the last one too") {
    const ChunkBounds bounds{4, 1000};
    CHECK(chunks_of(12, 1, bounds) == Chunks{4, 4, 4});
    CHECK(chunks_of(13, 1, bounds) == Chunks{4, 4, 5});
    CHECK(chunks_of(15, 1, bounds) == Chunks{4, 4, 7});
    CHECK(chunks_of(11, 10, bounds) == Chunks{11});
    CHECK(chunks_of(1001, 1000, bounds) == Chunks{501, 500});  // no chunk may hold all
}

TEST_CASE("every cut that the bounds allow is found, and only those") {
    for (std::uint64_t least = 1; least <= 9; ++least)
        for (std::uint64_t most = least; most <= 20; ++most)
            for (std::uint64_t elements = 1; elements <= 60; ++elements) {
                const ChunkBounds bounds{least, most};
                bool possible = false;
                for (std::uint64_t k = 1; k <= elements; ++k)
                    possible = possible || (k * least <= elements && elements <= k * most);
                REQUIRE(bounds.can_cut(elements) == possible);
                if (!possible) continue;
                for (const std::uint64_t wanted : {1u, 2u, 5u, 8u, 19u, 100u})
                    for (const std::uint64_t chunk : chunks_of(elements, wanted, bounds)) {
                        REQUIRE(chunk >= least);
                        REQUIRE(chunk <= most);
                    }
            }
}

TEST_CASE("the binding that needs most elements decides, and broadcast inputs do not") {
    const std::vector<Binding> bindings = {
        {0, Access::read, "table", 1 << 20}, {1, Access::read_write, "", 12}, {2, Access::write, "", 36}};
    const weft::core::ProgramNeeds needs{bindings, 8, 256, 0, "p"};
    weft::DeviceLimits limits{};
    limits.max_storage_buffer_range = 1 << 20;
    limits.max_buffer_bytes = 1 << 22;
    limits.max_workgroup_count[0] = 65535;
    Job job;
    job.elements = 100;
    job.inputs = {{memory, 1 << 20, true}, {memory, 800}};
    job.outputs = {{memory, 800}, {memory, 400}};
    CHECK(weft::core::chunk_bounds(needs, limits, job).least == 9);  // 36 bytes by 4
    CHECK(weft::core::chunk_bounds(needs, limits, job).most == (1 << 20) / 8);
    job.outputs = {{memory, 800}, {memory, 100 * 64}};
    CHECK(weft::core::chunk_bounds(needs, limits, job).least == 2);  // 12 bytes by 8
}
