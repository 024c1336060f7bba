// SPDX-License-Identifier: Apache-2.0
// The two ways in which E8's decoder stores vectors give the same bits, whichever the plan selects on this
// device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops_vulkan/lattice/lattice_scales.hpp"
#include "ops_vulkan/lattice/lattice_shaders.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft;
using namespace weft_test;

constexpr std::uint32_t kUntouched = 0x7fc00abcu;
constexpr std::size_t kBeyond = 64;  // values after the last vector

struct Case {
    LatticeCode code;
    std::size_t vectors;
    std::uint32_t max_workgroups;
};

std::vector<std::uint32_t> decoded(Backend& backend, const Case& c, const std::vector<std::uint32_t>& codes,
                                   const std::vector<std::uint32_t>& status, bool staged) {
    const std::size_t values = c.vectors * 8;
    const kernels::ResidentVectors r =
        kernels::resident_decode(c.code, values, codes.size(), status.size(), {});
    kernels::LatticePlan plan = kernels::plan_lattice(backend.device(), kernels::LatticeOp::decode, c.code,
                                                      true, r.shape.element_vectors);
    plan.constants.emplace_back(kernels::kStagedId, staged);
    const Program program(backend, kernels::lattice_words(kernels::LatticeOp::decode, Lattice::e8, false),
                          ProgramOptions{.constants = plan.constants,
                                         .elements_per_workgroup = plan.elements_per_workgroup,
                                         .max_workgroups = std::min(plan.max_workgroups, c.max_workgroups)});
    Stream stream(backend);
    Buffer<std::uint32_t> codes_there(backend, codes.size()), status_there(backend, status.size()),
        out(backend, values + kBeyond);
    stream.upload(codes, codes_there);
    stream.upload(status, status_there);
    stream.fill(out.view(), kUntouched);
    stream.dispatch(program,
                    {BufferView<const std::uint32_t>(codes_there.view()),
                     BufferView<const std::uint32_t>(status_there.view()), out.view(0, values),
                     kernels::resident_scales(stream, c.code)},
                    r.elements, r.parameters);
    return stream.download(out);
}

void check_both(Backend& backend) {
    std::mt19937 random(8);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    for (const auto& [q, levels, packed] : {std::tuple{4u, 2u, true}, std::tuple{4u, 2u, false},
                                            std::tuple{4u, 1u, true}, std::tuple{5u, 3u, true}})
        for (const std::size_t vectors : {1, 7, 63, 64, 65, 255, 256, 257, 1000})
            for (const std::uint32_t max_workgroups : {1u, 65535u}) {
                const Case c{{.lattice = Lattice::e8, .q = q, .levels = levels, .packed = packed},
                             vectors,
                             max_workgroups};
                CAPTURE(q);
                CAPTURE(packed);
                CAPTURE(vectors);
                std::vector<float> x(vectors * 8);
                for (float& value : x) value = normal(random);
                std::vector<std::uint8_t> bytes(code_bytes(c.code, vectors)), statuses(vectors);
                lattice_encode(backend, c.code, x, bytes, statuses);
                std::vector<std::uint32_t> codes(code_words(c.code, vectors)), status(status_words(vectors));
                std::memcpy(codes.data(), bytes.data(), bytes.size());
                std::memcpy(status.data(), statuses.data(), statuses.size());
                const auto alone = decoded(backend, c, codes, status, false);
                const auto staged = decoded(backend, c, codes, status, true);
                CHECK(alone == staged);
                for (std::size_t i = vectors * 8; i < staged.size(); ++i) REQUIRE(staged[i] == kUntouched);
                std::vector<float> y(vectors * 8);
                lattice_decode(backend, c.code, bytes, statuses, y);
                CHECK(std::memcmp(y.data(), staged.data(), y.size() * sizeof(float)) == 0);
            }
}

}  // namespace

TEST_CASE("lattice: E8 is stored the same through shared memory and without it") {
    on_device(check_both);
}
