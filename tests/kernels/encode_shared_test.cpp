// SPDX-License-Identifier: Apache-2.0
// Amplitude rows that workgroups share, with fewer workgroups than a row has blocks: all but the last block
// of a row are left after some patience, and the last one must do them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/encode_plan.hpp"
#include "kernels/encode_steps.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft::kernels;
using weft::c32;
using weft::c64;
using weft::DeviceType;

constexpr std::uint64_t kRows = 5;
constexpr std::uint32_t kQubits = 16;

// Plain, not a number in the third block, zeros, blocks of far scales, plain but for an empty block.
std::vector<double> rows_of(std::uint64_t features, double large) {
    std::vector<double> values(kRows * features);
    for (std::uint64_t i = 0; i < features; ++i) {
        values[i] = static_cast<double>(i % 11) - 5;
        values[features + i] = 1;
        values[3 * features + i] = i < 5000 ? large : 1 / large;
        values[4 * features + i] = i >= 8192 && i < 16384 ? 0 : 3;
    }
    values[features + 20000] = std::numeric_limits<double>::quiet_NaN();
    return values;
}

template <class Value, class Amplitude>
struct Result {
    std::vector<Amplitude> states;
    std::vector<std::uint32_t> status;
};

template <class Value, class Amplitude>
Result<Value, Amplitude> encode_with(weft::Backend& backend, EncodePlan plan, std::uint32_t max_groups,
                                     const std::vector<double>& values) {
    plan.max_groups = max_groups;
    const std::vector<Value> input(values.begin(), values.end());
    weft::Buffer<Value> in(backend, input.size());
    weft::Buffer<Amplitude> out(backend, kRows << kQubits);
    weft::Buffer<std::uint32_t> status(backend, 2 * kRows);
    weft::Stream stream(backend);
    stream.upload(input, in);
    stream.fill(out.view(), 0x40400000u);
    encode_resident(stream, plan, in, out, status.view(), false);
    return {stream.download(out), stream.download(status)};
}

template <class Value, class Amplitude>
void check_against(const std::vector<double>& values, std::uint64_t features,
                   const Result<Value, Amplitude>& result) {
    const std::vector<std::uint32_t> want_status{0, 0, 2, 20000, 1, 0, 0, 0, 0, 0};
    CHECK(result.status == want_status);
    const double slack = sizeof(Amplitude) == 16 ? 1e-14 : 1e-7;
    for (std::uint64_t row = 0; row < kRows; ++row) {
        long double squares = 0;
        for (std::uint64_t i = 0; i < features; ++i) {
            const long double v = static_cast<Value>(values[row * features + i]);
            squares += v * v;
        }
        double worst = 0;
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kQubits; ++i) {
            const long double v = i < features ? static_cast<Value>(values[row * features + i]) : Value(0);
            const long double want = want_status[2 * row] == 0 ? v / std::sqrt(squares) : 0;
            const Amplitude got = result.states[(row << kQubits) + i];
            const auto off = static_cast<double>(std::abs(got.real() - want) + std::abs(got.imag()));
            if (!(off <= worst)) worst = off;
        }
        CAPTURE(row);
        CHECK(worst < slack);
    }
}

template <class Value, class Amplitude>
void check_types(weft::Backend& backend, weft::EncodeTypes types, double large) {
    for (const std::uint64_t features : {std::uint64_t{1} << kQubits, std::uint64_t{50001}}) {
        const EncodePlan plan = plan_encode(backend.device(), weft::EncodeMethod::amplitude, types,
                                            {kRows, kQubits}, features, false);
        REQUIRE(plan.kernel == EncodeKernel::amplitude_shared);
        const std::vector<double> values = rows_of(features, large);
        const auto all = encode_with<Value, Amplitude>(backend, plan, plan.max_groups, values);
        check_against(values, features, all);
        for (const std::uint32_t groups : {1u, 3u, 13u}) {
            CAPTURE(groups);
            const auto few = encode_with<Value, Amplitude>(backend, plan, groups, values);
            CHECK(few.status == all.status);
            CHECK(std::memcmp(few.states.data(), all.states.data(), all.states.size() * sizeof(Amplitude)) ==
                  0);
        }
    }
}

}  // namespace

TEST_CASE("encode amplitude: blocks that nobody waits for are done by the last of their row") {
    weft_test::on_device([](weft::Backend& backend) {
        if (backend.device().type == DeviceType::cpu) {
            MESSAGE("skipped: a software device runs too few workgroups for rows to be shared");
            return;
        }
        using weft::StateType, weft::ValueType;
        check_types<double, c32>(backend, {ValueType::float64, StateType::complex64}, 1e200);
        check_types<float, c32>(backend, {ValueType::float32, StateType::complex64}, 1e25);
        check_types<double, c64>(backend, {ValueType::float64, StateType::complex128}, 1e200);
    });
}
