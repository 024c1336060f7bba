// SPDX-License-Identifier: Apache-2.0
#include <weft/dlpack.hpp>

#include <dlpack/dlpack.h>
#include <doctest/doctest.h>

#include <memory>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;

namespace {

std::uint64_t live(std::string_view name, const weft::Backend& backend) {
    const weft::MemoryReport memory = backend.memory();
    for (const weft::MemoryReport::Named& named : memory.names)
        if (named.name == name) return named.live_count;
    return 0;
}

}  // namespace

TEST_CASE("dlpack: page-locked results are exported without a copy and outlive their buffer") {
    on_device([](weft::Backend& backend) {
        const weft::Program program(backend, kAffine);
        const auto in = words(1000);
        DLManagedTensor* tensor = nullptr;
        {
            const weft::HostBuffer<std::uint32_t> out(backend, 1000, "result");
            const weft::Job job{.inputs = {in},
                                .outputs = {out.span()},
                                .elements = 1000,
                                .parameters = AffineParameters{2, 3}};
            weft::run_batch(backend, program, {&job, 1});
            tensor = weft::to_dlpack(out, {10, 100});
            CHECK(tensor->dl_tensor.data == out.data());
        }
        CHECK(live("result", backend) == 1);
        {
            // The tensor is also imported again, as the input of the next job.
            const weft::HostTensor<std::uint32_t> back(tensor);
            CHECK(back.span()[999] == in[999] * 2 + 3 + 999);
            std::vector<std::uint32_t> again(1000);
            const weft::Job job{.inputs = {back.span()},
                                .outputs = {again},
                                .elements = 1000,
                                .parameters = AffineParameters{1, 0}};
            weft::run_batch(backend, program, {&job, 1});
            CHECK(live("result", backend) == 1);
            CHECK(again[7] == in[7] * 2 + 3 + 7 + 7);
        }
        CHECK(live("result", backend) == 0);
    });
}
