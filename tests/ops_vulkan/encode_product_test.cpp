// SPDX-License-Identifier: Apache-2.0
// Product states, with the factors of passes shared by a workgroup or multiplied by every invocation. Both
// variants run, whichever the plan selects on this device, and are compared with products in long double.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ops/encode/encode_plan.hpp"
#include "ops_vulkan/encode/encode_steps.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft::kernels;
using weft::c32;
using weft::c64;
using weft::EncodeMethod;

constexpr std::uint64_t kRows = 3, kBad = 1;  // the fault of the bad row is in its last value but one
constexpr std::uint32_t kInfinite = 3;        // shaders/encode/encode_parameters.h
using Exact = std::complex<long double>;

std::vector<double> values_of(std::uint32_t qubits) {
    std::vector<double> values(kRows * qubits);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 2.5 * std::sin(static_cast<double>(7 * i + 1)) + (i % 5 == 0 ? 100.0 : 0.0);
    values[kBad * qubits + qubits - 2] = std::numeric_limits<double>::infinity();
    return values;
}

Exact factor_of(EncodeMethod method, long double x, bool bit) {
    if (method == EncodeMethod::angle) return bit ? std::sin(x) : std::cos(x);
    const long double root = std::sqrt(0.5L);
    if (method == EncodeMethod::phase) return bit ? root * Exact(std::cos(x), std::sin(x)) : Exact(root);
    const Exact turn(std::cos(x), std::sin(x));
    return bit ? (1.0L - turn) / 2.0L : (1.0L + turn) / 2.0L;
}

template <class Value, class Amplitude>
void check(weft::Backend& backend, EncodeMethod method, std::uint32_t qubits, bool alone,
           std::uint32_t max_workgroups, weft::EncodeTypes types) {
    EncodePlan plan = plan_encode(backend.device(), method, types, {kRows, qubits}, qubits, false);
    REQUIRE(plan.kernel == EncodeKernel::product);
    plan.alone = alone;
    plan.max_workgroups = std::min(plan.max_workgroups, max_workgroups);
    const std::vector<double> values = values_of(qubits);
    const std::vector<Value> input(values.begin(), values.end());
    constexpr std::uint64_t kBeyond = 64;
    weft::Buffer<Value> in(backend, input.size());
    weft::Buffer<Amplitude> out(backend, (kRows << qubits) + kBeyond);
    weft::Buffer<std::uint32_t> status(backend, 2 * kRows);
    weft::Stream stream(backend);
    stream.upload(input, in);
    stream.fill(out.view(), 0x40400000u);
    const EncodeScratch scratch(stream, plan);
    encode_resident(stream, plan, scratch, in, out.view(0, kRows << qubits), status.view(), false);
    const std::vector<std::uint32_t> want_status{0, 0, kInfinite, qubits - 2, 0, 0};
    CHECK(stream.download(status) == want_status);
    const std::vector<Amplitude> states = stream.download(out);
    double worst = 0;
    for (std::uint64_t row = 0; row < kRows; ++row)
        for (std::uint64_t i = 0; i < std::uint64_t{1} << qubits; ++i) {
            Exact want = row == kBad ? 0 : 1;
            for (std::uint32_t k = 0; row != kBad && k < qubits; ++k)
                want *= factor_of(method, input[row * qubits + k], ((i >> k) & 1) != 0);
            const Amplitude got = states[(row << qubits) + i];
            const auto off = static_cast<double>(std::abs(Exact(got.real(), got.imag()) - want));
            if (!(off <= worst)) worst = off;
        }
    CHECK(worst < (sizeof(Amplitude) == 16 ? 1e-14 : 1e-6));
    const Amplitude untouched = states[kRows << qubits];
    for (std::uint64_t i = kRows << qubits; i < states.size(); ++i) CHECK(states[i] == untouched);
}

}  // namespace

TEST_CASE("encode products: factors shared by a workgroup and not shared") {
    weft_test::on_device([](weft::Backend& backend) {
        using weft::ElementType, weft::ElementType;
        for (const EncodeMethod method : {EncodeMethod::angle, EncodeMethod::phase, EncodeMethod::iqp_z})
            for (const std::uint32_t qubits : {12u, 13u, 14u})
                for (const bool alone : {false, true})
                    for (const std::uint32_t workgroups : {2u, 65535u}) {
                        CAPTURE(std::string(to_string(method)));
                        CAPTURE(qubits);
                        CAPTURE(alone);
                        check<float, c32>(backend, method, qubits, alone, workgroups,
                                          {weft::kFloat32, weft::kComplex64});
                        check<double, c32>(backend, method, qubits, alone, workgroups,
                                           {weft::kFloat64, weft::kComplex64});
                        check<double, c64>(backend, method, qubits, alone, workgroups,
                                           {weft::kFloat64, weft::kComplex128});
                    }
    });
}
