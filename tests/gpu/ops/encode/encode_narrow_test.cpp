// SPDX-License-Identifier: Apache-2.0
// float64 values on devices without shaderFloat64: the shaders that read doubles as words and compute in
// float. The test runs these shaders directly, because the test devices have the feature.
#include <cmath>
#include <numeric>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_oracle.hpp"
#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::EncodeMethod;

constexpr std::uint32_t kAmplitude[] = {
#include "shaders/encode_amplitude_narrow.spv.inc"
};
constexpr std::uint32_t kProduct[] = {
#include "shaders/encode_product_narrow.spv.inc"
};
constexpr std::uint32_t kIqp[] = {
#include "shaders/encode_iqp_narrow.spv.inc"
};

struct Push {
    std::uint32_t features, qubits, slab_bits, in_base = 0, base = 0, row_base = 0, flags = 0;
};

std::vector<c32> run(weft::Backend& backend, std::span<const std::uint32_t> spirv,
                     const weft::ProgramOptions& options, const std::vector<double>& values,
                     std::uint32_t qubits, std::uint32_t slab_bits) {
    const weft::Program program(backend, spirv, options);
    std::vector<c32> states(std::size_t{1} << qubits);
    std::vector<std::uint32_t> status(2, 77);
    weft::Job job;
    job.inputs = {values};
    job.outputs = {std::span(states), std::span(status)};
    job.elements = 1;
    job.parameters = Push{static_cast<std::uint32_t>(values.size()), qubits, slab_bits};
    weft::run_batch(backend, program, {&job, 1});
    CHECK(status[0] == 0);
    return states;
}

}  // namespace

TEST_CASE("encode in float of float64 values: norms, angles and transforms") {
    on_device([](weft::Backend& backend) {
        for (const double scale : {1.0, 1e200, 1e-200, 1e-309, 1e307, 1e-40, 1e20}) {
            CAPTURE(scale);
            const std::vector<double> x{3 * scale, -4 * scale, 0.1 * scale};
            const auto states = run(backend, kAmplitude, {.constants = {{0u, 32u}, {1u, false}}}, x, 2, 2);
            CHECK(worst_difference(states, 0, amplitude_state(x, 2)) < 2e-7);
        }
        const std::vector<double> angles{0.1, 1e-9, -2.5, 1e6 + 0.123, 7.0 / 3, 0.5, -0.7853, 3, 100, 0.25};
        for (const std::uint32_t method : {0u, 1u, 2u}) {
            CAPTURE(method);
            const auto states = run(backend, kProduct, {.constants = {{0u, 256u}, {1u, false}, {2u, method}}},
                                    angles, 10, 10);
            const EncodeMethod methods[] = {EncodeMethod::angle, EncodeMethod::phase, EncodeMethod::iqp_z};
            CHECK(worst_difference(states, 0, expected_state(methods[method], angles, 10)) <
                  tolerance<c32>(methods[method], 10));
        }
        const auto x = sample_values(EncodeMethod::iqp, 10, 4);
        const auto states = run(backend, kIqp, {.constants = {{0u, 64u}, {1u, false}, {2u, 10u}}}, x, 10, 10);
        CHECK(worst_difference(states, 0, iqp_state(x, 10, true)) < tolerance<c32>(EncodeMethod::iqp, 10));
    });
}
