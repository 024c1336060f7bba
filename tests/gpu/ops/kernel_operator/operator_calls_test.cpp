// SPDX-License-Identifier: Apache-2.0
// Kernel operators on several devices, and options that are refused. Products, rows and what all back ends
// refuse are in tests/conformance/kernel_operator_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "support/device_pair.hpp"
#include "support/gpu_fixture.hpp"
#include "support/operator_oracle.hpp"

namespace {

using weft_test::scattered;

constexpr std::uint32_t kQubits = 3;

std::vector<float> features(std::size_t samples) {
    return scattered<float>(samples * kQubits, 7);
}

}  // namespace

TEST_CASE("several devices share the rows of a product") {
    weft_test::on_devices(4096, [](weft::Devices& devices) {
        const std::size_t samples = 9000;
        const std::vector<float> x = features(samples), v = scattered<float>(samples * 2, 9);
        const weft::KernelMatrixShape shape{samples, 0, kQubits};
        const weft::KernelOperatorOptions options{.symmetric = weft::Choice::off,
                                                  .low_rank = weft::Choice::off};
        const weft::KernelOperator shared{devices, {}, x, shape, options};
        std::vector<float> out(samples * 2, 1.0f), alone(samples * 2, 1.0f);
        const weft::OpReport report =
            weft::kernel_apply(devices, shared, v, out, {.a = 2, .b = 3, .lambda = 1});
        CHECK(report.items == samples * samples);
        std::uint64_t items = 0;
        for (const weft::DeviceReport& row : report.devices) items += row.items;
        CHECK(items == report.items);
        CHECK(report.devices.size() == devices.size());
        const weft::KernelOperator single{devices[0], {}, x, shape, options};
        weft::kernel_apply(devices[0], single, v, alone, {.a = 2, .b = 3, .lambda = 1});
        CHECK(out == alone);
        weft_test::check_error(weft::Errc::invalid_argument,
                               "kernel_apply: the operator was made on another backend",
                               [&] { weft::kernel_apply(devices[1], single, v, alone); });
    });
}

TEST_CASE("options of batches that do not apply are refused, and the output stays as it is") {
    weft_test::on_device([](weft::Backend& backend) {
        const std::vector<float> x = features(50), v(50, 1.0f);
        const weft::KernelOperator k{backend, {}, x, {50, 0, kQubits}};
        std::vector<float> out(50, 5.0f);
        weft_test::check_error(weft::Errc::invalid_argument, "BatchOptions", [&] {
            weft::KernelApplyHostOptions options;
            options.batch.ring_slots = 2;
            weft::kernel_apply(backend, k, v, out, options);
        });
        CHECK(std::count(out.begin(), out.end(), 5.0f) == 50);
    });
}
