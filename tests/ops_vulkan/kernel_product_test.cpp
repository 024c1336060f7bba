// SPDX-License-Identifier: Apache-2.0
// Both shaders of kernels in closed variant, each whatever the device, against the fidelities of qubits in
// double.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft;
using weft_test::on_device;

struct Case {
    std::uint64_t samples, others;  // others 0: symmetric
    std::uint32_t qubits;
    FeatureMap map = FeatureMap::ryrz;
    std::uint64_t before = 0;  // values of the buffer before K
    bool panels = false;       // K in several dispatches
    std::uint32_t part = 0;    // qubits of a dispatch; 0: planned
};

double fidelity(double x, double y, FeatureMap map) {
    const double apart = std::cos((x - y) / 2), together = std::cos((x + y) / 2);
    const double c = apart * apart;
    return map == FeatureMap::ryrz ? c * c + (1 - c) * together * together : c;
}

template <class Real>
std::vector<Real> features_of(std::uint64_t rows, std::uint32_t qubits, double shift) {
    std::vector<Real> x(rows * qubits);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<Real>(1.3 * std::sin(0.37 * static_cast<double>(i) + shift));
    return x;
}

template <class Real>
void check_values(const Case& c, const std::vector<Real>& x, const std::vector<Real>& y,
                  const std::vector<Real>& k, double bound) {
    const std::uint64_t columns = c.others == 0 ? c.samples : c.others;
    std::uint64_t wrong = 0, touched = 0, lopsided = 0;
    for (std::uint64_t i = 0; i < c.samples; ++i)
        for (std::uint64_t j = 0; j < columns; ++j) {
            double want = 1;
            for (std::uint32_t q = 0; q < c.qubits; ++q)
                want *= fidelity(static_cast<double>(x[i * c.qubits + q]),
                                 static_cast<double>(y[j * c.qubits + q]), c.map);
            const Real got = k[c.before + i * columns + j];
            if (!(std::abs(static_cast<double>(got) - want) <= bound)) ++wrong;
            if (c.others != 0) continue;
            if (got != k[c.before + j * columns + i]) ++lopsided;
            if (i == j && got != 1) ++wrong;
        }
    for (std::uint64_t i = 0; i < k.size(); ++i)
        if (i < c.before || i >= c.before + c.samples * columns) touched += std::isnan(k[i]) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(lopsided == 0);
    CHECK(touched == 0);
}

template <class Real>
void check_case(Backend& backend, const Case& c, bool lanes) {
    INFO(c.samples << " x " << c.others << ", " << c.qubits << " qubits, " << c.before << " before, "
                   << (lanes ? "by lanes" : "by shared memory") << (c.panels ? ", panels" : "")
                   << ", parts of " << c.part);
    const KernelMatrixShape shape{c.samples, c.others, c.qubits};
    const kernels::CircuitFacts circuit{c.map, 0, false};
    constexpr ElementType type = sizeof(Real) == 8 ? kFloat64 : kFloat32;
    kernels::KernelMatrixDevice device = kernels::kernel_device(backend, false, {});
    device.gram.software = lanes;
    if (lanes && !device.gram.float64) return;
    if (lanes && sizeof(Real) == 4 && c.qubits > kernels::kLongQubits) return;  // has no such variant
    kernels::KernelMatrixPlan plan = kernels::plan_kernel(device, shape, circuit, type, {});
    REQUIRE(plan.lane_variant == lanes);
    if (c.part != 0) plan.part_qubits = c.part;
    if (c.panels) {
        plan.symmetric = false;
        plan.panel_rows = 11;
    }
    const std::vector<Real> x = features_of<Real>(c.samples, c.qubits, 0);
    const std::vector<Real> y = c.others == 0 ? x : features_of<Real>(c.others, c.qubits, 0.4);
    Stream stream(backend);
    const Buffer<Real> dx(backend, x.size()), dy(backend, y.size());
    const Buffer<Real> dk(backend, c.before + shape.values() + 37);
    std::vector<Real> k(dk.size(), std::numeric_limits<Real>::quiet_NaN());
    stream.upload(x, dx);
    stream.upload(y, dy);
    stream.upload(k, dk);
    const ConstDeviceArray of_x(dx.view()), of_y(dy.view());
    kernels::product_resident(stream, plan, of_x, c.others == 0 ? nullptr : &of_y,
                              DeviceArray(dk.view(c.before, shape.values())), 1.0, {});
    stream.download<Real>(dk.view(), k);
    check_values(c, x, y, k, sizeof(Real) == 8 ? 1e-12 : 2e-6);
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {1, 0, 1},
        {7, 0, 3},
        {8, 0, 4},
        {9, 0, 4},
        {63, 0, 5, FeatureMap::ry},
        {64, 0, 5},
        {65, 0, 2},
        {72, 0, 3, FeatureMap::ry},
        {130, 0, 16},
        {72, 0, 3, FeatureMap::ryrz, 8},
        {72, 0, 3, FeatureMap::ryrz, 6},
        {72, 0, 3, FeatureMap::ryrz, 5},
        {70, 0, 3, FeatureMap::ryrz, 5},
        {257, 0, 32},
        {132, 0, 16},
        {200, 0, 5, FeatureMap::ryrz, 4},
        {130, 132, 4},
        {131, 200, 4, FeatureMap::ry, 4},
        {140, 136, 3, FeatureMap::ryrz, 2},
        {100, 0, 4, FeatureMap::ryrz, 0, true},
        {1, 1, 2},
        {9, 5, 3},
        {5, 9, 3, FeatureMap::ry},
        {64, 64, 4},
        {65, 130, 4},
        {130, 63, 4, FeatureMap::ryrz, 3},
        {50, 70, 4, FeatureMap::ryrz, 3, true},
        {130, 0, 7, FeatureMap::ryrz, 0, false, 3},
        {72, 0, 6, FeatureMap::ry, 8, false, 2},
        {70, 0, 3, FeatureMap::ryrz, 5, false, 1},
        {65, 130, 5, FeatureMap::ryrz, 3, false, 4},
        {50, 70, 4, FeatureMap::ry, 3, true, 1},
        {5, 0, 70, FeatureMap::ryrz, 0, false, 33},
    };
    return all;
}

}  // namespace

TEST_CASE("closed expression by shared memory and by lanes: edges, offsets, panels") {
    on_device([](Backend& backend) {
        for (const bool lanes : {false, true})
            for (const Case& c : cases()) {
                check_case<float>(backend, c, lanes);
                if (backend.device().shader_float64) check_case<double>(backend, c, lanes);
            }
    });
}

TEST_CASE("closed expression by lanes: NaN only in the row and column of one sample") {
    on_device([](Backend& backend) {
        kernels::KernelMatrixDevice device = kernels::kernel_device(backend, false, {});
        device.gram.software = true;
        if (!device.gram.float64) return;
        const KernelMatrixShape shape{21, 0, 3};
        const kernels::KernelMatrixPlan plan =
            kernels::plan_kernel(device, shape, {FeatureMap::ryrz, 0, false}, kFloat32, {});
        std::vector<float> x = features_of<float>(21, 3, 0);
        x[10 * 3 + 1] = std::numeric_limits<float>::infinity();
        Stream stream(backend);
        const Buffer<float> dx(backend, x.size()), dk(backend, shape.values());
        stream.upload(x, dx);
        kernels::product_resident(stream, plan, dx.view(), nullptr, dk.view(), 1.0, {});
        const std::vector<float> k = stream.download(dk);
        std::uint64_t wrong = 0;
        for (std::uint64_t i = 0; i < 21; ++i)
            for (std::uint64_t j = 0; j < 21; ++j)
                if (std::isnan(k[i * 21 + j]) != (i == 10 || j == 10)) ++wrong;
        CHECK(wrong == 0);
    });
}
