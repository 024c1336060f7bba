// SPDX-License-Identifier: Apache-2.0
// States that are too large for one binding of lavapipe: made window by window, transformed across windows.
#include <cmath>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::EncodeMethod;

// Qubits 0 and `top` are entangled, all others stay 0: four amplitudes of a state of two qubits.
void check_iqp(weft::Backend& backend, EncodeRoute route, std::uint32_t qubits) {
    const std::uint32_t top = qubits - 1;
    std::vector<double> values(weft::encode_features(EncodeMethod::iqp, qubits), 0.0);
    values[0] = 0.3;
    values[top] = 1.1;
    values[qubits + top - 1] = 0.7;  // pair (0, top) is the last of those of qubit 0
    const auto states = encode_by<c64>(backend, route, EncodeMethod::iqp, values, {1, qubits});
    const auto small = iqp_state(std::vector{0.3, 1.1, 0.7}, 2, true);
    double others = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const std::size_t rest = i & ~(std::size_t{1} | std::size_t{1} << top);
        if (rest != 0) others = std::max(others, std::abs(states[i]));
    }
    CHECK(others < 1e-12);
    for (const std::size_t i : {0u, 1u, 2u, 3u}) {
        const c64 got = states[(i & 1) | (i >> 1) << top];
        CHECK(std::abs(Exact(got.real(), got.imag()) - small[i]) < 1e-12);
    }
}

}  // namespace

TEST_CASE("encode: amplitude and phase beyond one binding") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint32_t kQubits = 24;
        constexpr std::uint64_t kFeatures = (std::uint64_t{1} << kQubits) - 3;
        std::vector<float> values(kFeatures, 2.0f);
        weft::Buffer<float> in(backend, kFeatures);
        weft::Buffer<c32> out(backend, std::size_t{1} << kQubits);
        weft::Stream stream(backend);
        stream.upload(values, in);
        weft::encode_amplitude(stream, in, out, {1, kQubits}).require_all(stream);
        auto states = stream.download(out);
        const float want = static_cast<float>(1 / std::sqrt(static_cast<double>(kFeatures)));
        CHECK(std::abs(states[0].real() / want - 1) < 1.2e-7f);
        CHECK(states[kFeatures / 2 + 1] == states[0]);
        CHECK(states[kFeatures - 1] == states[0]);
        CHECK(states[kFeatures] == c32(0));
        CHECK(states.back() == c32(0));

        values[kFeatures - 2] = std::numeric_limits<float>::quiet_NaN();
        stream.upload(values, in);
        const auto failures = weft::encode_amplitude(stream, in, out, {1, kQubits}).failures(stream);
        REQUIRE(failures.size() == 1);
        CHECK(failures[0].position == kFeatures - 2);

        const auto angles = sample_values(EncodeMethod::phase, kQubits, 8);
        weft::Buffer<float> phases(backend, kQubits);
        stream.upload(cast_values<float>(angles), phases);
        weft::encode_phase(stream, phases, out, {1, kQubits}).require_all(stream);
        states = stream.download(out);
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{0x7fffff},
                                    std::size_t{0x800000}, std::size_t{0xabcdef}, std::size_t{0xffffff}}) {
            CAPTURE(i);
            double sum = 0;
            for (std::uint32_t k = 0; k < kQubits; ++k)
                if ((i >> k & 1) != 0) sum += angles[k];
            CHECK(std::abs(c64(states[i]) - std::polar(std::exp2(-12.0), sum)) < 1e-9);
        }
    });
}

TEST_CASE("encode iqp: across windows, resident and streamed") {
    on_device([](weft::Backend& backend) {
        check_iqp(backend, EncodeRoute::resident, 23);
        check_iqp(backend, EncodeRoute::streamed, 23);
    });
}

TEST_CASE("encode iqp: so many samples that the number of qubits becomes a constant of the shader") {
    on_device([](weft::Backend& backend) {
        for (const std::uint32_t qubits : {4u, 8u, 11u}) {
            CAPTURE(qubits);
            const std::size_t size = std::size_t{1} << qubits, many = (std::size_t{1} << 22) / size + 1;
            const std::vector<double> one = sample_values(EncodeMethod::iqp, qubits, 5);
            std::vector<float> values;
            for (std::size_t i = 0; i < many; ++i) values.insert(values.end(), one.begin(), one.end());
            weft::Buffer<float> in(backend, values.size());
            weft::Buffer<weft::c32> out(backend, many * size);
            weft::Stream stream(backend);
            stream.upload(values, in);
            weft::encode_iqp(stream, in, out, {many, qubits}).require_all(stream);
            const std::vector<weft::c32> states = stream.download(out);
            const std::vector<Exact> want = expected_state(EncodeMethod::iqp, one, qubits);
            for (const std::size_t row : {std::size_t{0}, many / 2, many - 1})
                for (std::size_t i = 0; i < size; ++i) {
                    const weft::c32 got = states[row * size + i];
                    REQUIRE(std::abs(Exact(got.real(), got.imag()) - want[i]) <
                            tolerance<weft::c32>(EncodeMethod::iqp, qubits));
                }
        }
    });
}
