// SPDX-License-Identifier: Apache-2.0
// Chunks, slots and threads of calls on host memory by CUDA.
#include "plan/work/host_chunks.hpp"

#include <doctest/doctest.h>

#include <weft/error.hpp>

#include "support/error_text.hpp"

using namespace weft::core;
using weft::BatchOptions;
using weft::Errc;

namespace {

HostChunkPlan plan(std::uint64_t element_bytes, std::uint64_t multiple, const BatchOptions& options = {},
                   const HostChunkSettings& settings = {}) {
    return plan_host_chunks("call", element_bytes, multiple, options, settings);
}

}  // namespace

TEST_CASE("chunks of 24 MiB in four slots unless something is asked for") {
    CHECK(plan(24, 1) == HostChunkPlan{1u << 20, 4});
    CHECK(plan(0, 1) == HostChunkPlan{24u << 20, 4});
    CHECK(plan(1u << 30, 1) == HostChunkPlan{1, 4});
    CHECK(plan(100, 32).chunk_elements == 251648);  // 251,658 fit
    CHECK(plan(1u << 30, 32) == HostChunkPlan{32, 4});
}

TEST_CASE("what a process asks for is obeyed exactly, and a call wins over it") {
    const HostChunkSettings settings{1000, 2, 0};
    CHECK(plan(24, 1, {}, settings) == HostChunkPlan{1000, 2});
    CHECK(plan(24, 1, {.chunk_elements = 7, .ring_slots = 16}, settings) == HostChunkPlan{7, 16});
    CHECK(plan(24, 1, {.ring_slots = 1}, settings) == HostChunkPlan{1000, 1});
    CHECK(plan(24, 32, {}, settings) == HostChunkPlan{992, 2});
    CHECK(plan(24, 32, {.chunk_elements = 7}, settings) == HostChunkPlan{32, 2});
}

TEST_CASE("copy threads: those asked for, else one a core up to 16") {
    CHECK(host_copy_threads({}, 0) == 1);
    CHECK(host_copy_threads({}, 8) == 8);
    CHECK(host_copy_threads({}, 128) == 16);
    CHECK(host_copy_threads({0, 0, 200}, 8) == 200);
}

TEST_CASE("values out of range are refused by name") {
    const auto text = [](auto&& call) { return weft_test::error_text(Errc::invalid_argument, call); };
    CHECK(text([] {
              check_host_chunks("call", {0x100000000, 1, 1});
          }) ==
          "call: chunk_elements (GPU_STREAM_CHUNK_ELEMS) is out of range (got 4294967296, need 1 to "
          "4294967295)");
    CHECK(text([] {
              check_host_chunks("call", {1, 17, 1});
          }) == "call: ring_slots (WEFT_SLOTS) is out of range (got 17, need 1 to 16)");
    CHECK(text([] {
              check_host_chunks("call", {1, 1, 257});
          }) == "call: copy_threads (WEFT_COPY_THREADS) is out of range (got 257, need 1 to 256)");
    CHECK(text([] { plan(1, 1, {.ring_slots = 17}); }) ==
          "call: BatchOptions::ring_slots is out of range (got 17, need 1 to 16)");
    check_host_chunks("call", {});
    check_host_chunks("call", {0xffffffff, 16, 256});
}
