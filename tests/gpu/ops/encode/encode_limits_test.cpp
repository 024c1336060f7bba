// SPDX-License-Identifier: Apache-2.0
// Norms at the ends of the number range, long rows, many samples, states larger than one binding, and
// relations between methods and types.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::EncodeMethod;
using weft::StateShape;

template <class Amplitude, class Value>
void check_ratio(weft::Backend& backend, Value a, Value b, double want_a, double want_b) {
    CAPTURE(static_cast<double>(a));
    for (const EncodeRoute route : {EncodeRoute::resident, EncodeRoute::streamed}) {
        const auto states = encode_by<Amplitude>(backend, route, EncodeMethod::amplitude,
                                                 std::vector<Value>{a, b}, StateShape{1, 1});
        const double slack = std::is_same_v<Amplitude, c64> ? 4e-16 : 1.2e-7;
        CHECK(std::abs(static_cast<double>(states[0].real()) - want_a) <= slack);
        CHECK(std::abs(static_cast<double>(states[1].real()) - want_b) <= slack);
    }
}

std::vector<double> ramp(std::uint32_t qubits, std::uint64_t shift) {
    const std::uint64_t size = std::uint64_t{1} << qubits;
    std::vector<double> row(size);
    for (std::uint64_t i = 0; i < size; ++i)
        row[i] = static_cast<double>((i + shift) % size) / static_cast<double>(size);
    return row;
}

double norm_of(const std::vector<c32>& state) {
    long double sum = 0;
    for (const c32& a : state) sum += std::norm(Exact(a.real(), a.imag()));
    return static_cast<double>(sum);
}

// The last bits of several products in float64 depend on their order.
bool rounds_to(float narrow, double wide) {
    const float magnitude = std::max(std::abs(narrow), std::numeric_limits<float>::min());
    const double ulp = static_cast<double>(std::nextafter(magnitude, 2.0f)) - magnitude;
    return std::abs(narrow - wide) <= 0.5000001 * ulp;
}

}  // namespace

TEST_CASE("encode amplitude: norms neither overflow nor underflow") {
    on_device([](weft::Backend& backend) {
        for (const double scale : {1e200, 1e-200, 1e307, 1e-300, 1e-309, 1.0, 1e154, 1e-162}) {
            const double a = 3 * scale, b = 4 * scale, norm = std::hypot(a, b);
            check_ratio<c64, double>(backend, a, b, a / norm, b / norm);
            check_ratio<c32, double>(backend, a, b, a / norm, b / norm);
        }
        check_ratio<c64, double>(backend, 5e-324, 0, 1, 0);
        check_ratio<c64, double>(backend, -1.7976931348623157e308, 0, -1, 0);
        for (const float scale : {1e30f, 1e-30f, 5e37f, 1e-37f, 1e-44f, 1e19f, 1e-23f}) {
            const float a = 3 * scale, b = 4 * scale;
            const double norm = std::hypot(static_cast<double>(a), static_cast<double>(b));
            check_ratio<c32, float>(backend, a, b, a / norm, b / norm);
            check_ratio<c64, float>(backend, a, b, a / norm, b / norm);
        }
    });
}

TEST_CASE("encode amplitude: ramps of 2^16 values keep their digits, a batch equals single samples") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kSamples = 64;
        std::vector<double> values;
        for (std::uint64_t r = 0; r < kSamples; ++r) {
            const auto row = ramp(16, r);
            values.insert(values.end(), row.begin(), row.end());
        }
        const auto batch =
            encode_by<c64>(backend, EncodeRoute::streamed, EncodeMethod::amplitude, values, {kSamples, 16});
        CHECK(std::abs(batch[1].real() - 1.032394546006181e-07) < 1e-21);
        CHECK(std::abs(batch[32768].real() - 0.003382950448353) < 1e-15);
        CHECK(std::abs(batch[65535].real() - 0.006765797657252) < 1e-15);
        for (const std::uint64_t r : {0u, 1u, 37u, 63u}) {
            const auto single =
                encode_by<c64>(backend, EncodeRoute::resident, EncodeMethod::amplitude, ramp(16, r), {1, 16});
            CHECK(std::equal(single.begin(), single.end(),
                             batch.begin() + static_cast<std::ptrdiff_t>(r << 16)));
        }
        // float32 throughout: a naive sum would be off by 2.1e-7 of the norm.
        const auto floats = cast_values<float>(ramp(16, 0));
        const auto state =
            encode_by<c32>(backend, EncodeRoute::streamed, EncodeMethod::amplitude, floats, {1, 16});
        CHECK(std::abs(std::sqrt(norm_of(state)) - 1) < 7e-8);
        CHECK(std::abs(state[65535].real() / 0.006765797657252 - 1) < 1.2e-7);
        const std::vector<float> ones(65536, 1.0f);
        for (const c32& a :
             encode_by<c32>(backend, EncodeRoute::resident, EncodeMethod::amplitude, ones, {1, 16}))
            REQUIRE(a == c32(0.00390625f));
    });
}

TEST_CASE("encode amplitude: long rows by blocks and parts") {
    on_device([](weft::Backend& backend) {
        // 2^21 values of 1: resident in blocks, streamed by one workgroup. 23 qubits take rounds.
        const std::vector<double> ones(std::size_t{1} << 21, 1);
        for (const EncodeRoute route : {EncodeRoute::resident, EncodeRoute::streamed}) {
            const auto states = encode_by<c64>(backend, route, EncodeMethod::amplitude, ones, {1, 21});
            const bool all = std::all_of(states.begin(), states.end(), [](const c64& a) {
                return std::abs(a.real() - 0.000690533966002) < 1e-15 && a.imag() == 0;
            });
            CHECK(all);
        }
        // One of the rows fails; lengths are odd, and blocks have different scales.
        constexpr std::uint64_t kFeatures = (1u << 18) - 1;
        std::vector<float> values(4 * kFeatures, 0.0f);
        values[5] = 3e30f, values[kFeatures - 1] = -4e30f;
        values[kFeatures + 200001] = std::numeric_limits<float>::infinity();
        for (std::uint64_t i = 0; i < kFeatures; ++i) values[3 * kFeatures + i] = 1e-30f;
        std::vector<c32> states(std::size_t{4} << 18);
        weft::Buffer<float> in(backend, values.size());
        weft::Buffer<c32> out(backend, states.size());
        weft::Stream stream(backend);
        stream.upload(values, in);
        const auto failures = weft::encode_amplitude(stream, in, out, {4, 18}).failures(stream);
        states = stream.download(out);
        REQUIRE(failures.size() == 2);
        CHECK(failures[0].sample == 1);
        CHECK(failures[0].position == 200001);
        CHECK(failures[1].sample == 2);
        CHECK(failures[1].fault == weft::EncodeFault::zero_norm);
        CHECK(states[5].real() == doctest::Approx(0.6).epsilon(1e-7));
        CHECK(states[kFeatures - 1].real() == doctest::Approx(-0.8).epsilon(1e-7));
        CHECK(states[kFeatures] == c32(0));
        CHECK(states[(1u << 18) + 3] == c32(0));
        CHECK(states[(3u << 18) + 12345].real() == doctest::Approx(1 / std::sqrt(262143.0)).epsilon(2e-7));
    });
}

TEST_CASE(
    "encode amplitude: rounds of several rows give the bits of resident ones, and find rows that fail") {
    on_device([](weft::Backend& backend) {
        const StateShape shape{5, backend.device().type == weft::DeviceType::cpu ? 16u : 21u};
        const std::uint64_t features = shape.state_size() - 5;
        std::vector<float> values(shape.samples * features);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013) - 400.5f;
        const auto resident =
            encode_by<c32>(backend, EncodeRoute::resident, EncodeMethod::amplitude, values, shape);
        CHECK(std::abs(norm_of({resident.end() - static_cast<std::ptrdiff_t>(shape.state_size()),
                                resident.end()}) -
                       1) < 1e-6);
        for (const EncodeRoute route : {EncodeRoute::streamed, EncodeRoute::chunked})
            CHECK(encode_by<c32>(backend, route, EncodeMethod::amplitude, values, shape) == resident);
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(3 * features), features, 0.0f);
        std::vector<c32> states(shape.amplitudes(), guard_amplitude<c32>());
        weft::EncodeHostOptions options;
        options.batch.chunk_elements = 2;
        try {
            weft::encode(backend, EncodeMethod::amplitude, values, states, shape, options);
            FAIL("no error");
        } catch (const weft::EncodeError& error) {
            REQUIRE(error.failures().size() == 1);
            CHECK(error.failures()[0].sample == 3);
        }
        for (std::uint64_t i = 0; i < shape.amplitudes(); i += 997)
            CHECK(states[i] == (i >> shape.qubits == 3 ? c32(0) : resident[i]));
    });
}

TEST_CASE("encode amplitude: a streamed row that takes several rounds") {
    on_device([](weft::Backend& backend) {
        const std::uint32_t qubits = 24;  // parts of 2^23, and larger than one binding of lavapipe
        const std::uint64_t features = (std::uint64_t{1} << qubits) - 3;
        std::vector<float> values(features, 2.0f);
        values[0] = 1e20f;
        std::vector<c32> states(std::size_t{1} << qubits, guard_amplitude<c32>());
        weft::encode(backend, EncodeMethod::amplitude, values, states, {1, qubits});
        CHECK(states[0] == c32(1));
        values[0] = 2.0f;
        weft::encode(backend, EncodeMethod::amplitude, values, states, {1, qubits});
        const float want = static_cast<float>(1 / std::sqrt(static_cast<double>(features)));
        CHECK(std::abs(states[0].real() / want - 1) < 2e-7f);
        CHECK(states[features - 1] == states[0]);
        CHECK(states[features] == c32(0));
        CHECK(states.back() == c32(0));
    });
}

// Streams by jobs, by rounds of samples, and by parts of 2^23 values of one sample, between which progress is
// called too.
TEST_CASE("encode: progress of a streamed encode rises to the total, and an exception of it ends the call") {
    on_device([](weft::Backend& backend) {
        struct Call {
            EncodeMethod method;
            std::uint64_t features;
            StateShape shape;
            std::size_t least;  // calls
        };
        for (const Call& call :
             {Call{EncodeMethod::angle, 16, {96, 16}, 2}, Call{EncodeMethod::iqp, 105, {3, 14}, 1},
              Call{EncodeMethod::amplitude, 1u << 24, {1, 24}, 2}}) {
            CAPTURE(weft::to_string(call.method));
            const std::vector<float> values(call.shape.samples * call.features, 0.5f);
            std::vector<c32> states(call.shape.amplitudes());
            std::vector<std::pair<std::size_t, std::size_t>> seen;
            weft::EncodeHostOptions options;
            options.batch.progress = [&](const weft::Progress& p) { seen.emplace_back(p.done, p.total); };
            const weft::OpReport report =
                weft::encode(backend, call.method, values, states, call.shape, options);
            CHECK(report.op == "encode");
            CHECK(report.items == call.shape.samples);
            REQUIRE(seen.size() >= call.least);
            for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i].first >= seen[i - 1].first);
            CHECK(seen.back().first == call.shape.samples);
            CHECK(seen.back().second == call.shape.samples);
            options.batch.progress = [](const weft::Progress&) {
                throw weft::Error(weft::Errc::invalid_argument, "enough");
            };
            check_error(weft::Errc::invalid_argument, "enough",
                        [&] { weft::encode(backend, call.method, values, states, call.shape, options); });
            const auto good = encode_by<c32>(backend, EncodeRoute::streamed, EncodeMethod::basis,
                                             std::vector<float>{3}, {1, 2});
            CHECK(good[3] == c32(1));
        }
    });
}

TEST_CASE("encode: a batch never reaches the limits of a grid") {
    on_device([](weft::Backend& backend) {
        for (const std::uint64_t samples : {65536u, 70000u}) {
            std::vector<double> indices(samples), angles(samples);
            for (std::uint64_t s = 0; s < samples; ++s) {
                indices[s] = static_cast<double>(s % 3 == 0);
                angles[s] = static_cast<double>(s) * 0.001;
            }
            for (const EncodeRoute route : {EncodeRoute::resident, EncodeRoute::streamed}) {
                const auto basis = encode_by<c32>(backend, route, EncodeMethod::basis, indices, {samples, 1});
                const auto angle = encode_by<c64>(backend, route, EncodeMethod::angle, angles, {samples, 1});
                bool right = true;
                for (std::uint64_t s = 0; s < samples; ++s)
                    right = right && basis[2 * s + (s % 3 == 0)] == c32(1) &&
                            basis[2 * s + (s % 3 != 0)] == c32(0) &&
                            std::abs(angle[2 * s].real() - std::cos(angles[s])) < 1e-15 &&
                            std::abs(angle[2 * s + 1].real() - std::sin(angles[s])) < 1e-15;
                CHECK(right);
            }
        }
        // A state of 128 MiB and more in several windows.
        std::vector<c32> state(std::size_t{1} << 25);
        weft::encode(backend, EncodeMethod::basis, std::vector<std::int64_t>{33554431}, state, {1, 25});
        CHECK(state.back() == c32(1));
        CHECK(std::count(state.begin(), state.end(), c32(0)) == (1 << 25) - 1);
    });
}

TEST_CASE("encode amplitude: one sample of 2^26 values") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint64_t kSize = std::uint64_t{1} << 26;
        weft::Buffer<float> in(backend, kSize);
        weft::Buffer<c32> out(backend, kSize);
        weft::Stream stream(backend);
        stream.fill(in.view(), 0x3f800000u);              // 1
        stream.fill(in.view(kSize - 1, 1), 0x46000000u);  // 2^13, whose square equals the sum of all others
        weft::encode_amplitude(stream, in, out, {1, 26}).require_all(stream);
        const double norm = std::sqrt(static_cast<double>(2 * kSize - 1));
        for (const std::uint64_t first : {std::uint64_t{0}, kSize / 2 - 64, kSize - 129}) {
            std::vector<c32> some(128);
            stream.download<c32>(out.view(first, some.size()), std::span(some));
            for (const c32& a : some) {
                REQUIRE(std::abs(static_cast<double>(a.real()) * norm - 1) < 1.2e-7);
                REQUIRE(a.imag() == 0);
            }
        }
        std::vector<c32> last(1);
        stream.download<c32>(out.view(kSize - 1, 1), std::span(last));
        CHECK(std::abs(static_cast<double>(last[0].real()) * norm / 8192 - 1) < 1.2e-7);
    });
}

TEST_CASE("encode: large angles are reduced correctly, iqp-z is the transform of phase") {
    on_device([](weft::Backend& backend) {
        std::vector<double> angles;
        for (int i = 0; i < 12; ++i) angles.push_back((i % 2 == 0 ? 1 : -1) * (1e6 - 12345.678 * i));
        const auto floats = cast_values<float>(angles);
        const std::vector<double> as_floats(floats.begin(), floats.end());
        for (const EncodeMethod method : {EncodeMethod::angle, EncodeMethod::phase, EncodeMethod::iqp_z}) {
            CAPTURE(weft::to_string(method));
            const auto wide = encode_by<c64>(backend, EncodeRoute::resident, method, angles, {1, 12});
            CHECK(worst_difference(wide, 0, expected_state(method, angles, 12)) < 1e-14);
            const auto narrow = encode_by<c32>(backend, EncodeRoute::resident, method, floats, {1, 12});
            CHECK(worst_difference(narrow, 0, expected_state(method, as_floats, 12)) <
                  tolerance<c32>(method, 12));
        }
        for (const std::uint32_t qubits : {1u, 2u, 7u, 12u}) {
            CAPTURE(qubits);
            const auto x = sample_values(EncodeMethod::phase, qubits, 3);
            const auto phase =
                encode_by<c64>(backend, EncodeRoute::resident, EncodeMethod::phase, x, {1, qubits});
            for (const c64& a : phase) CHECK(std::abs(std::abs(a) - std::exp2(-0.5 * qubits)) < 1e-14);
            std::vector<Exact> transformed(phase.begin(), phase.end());
            walsh_hadamard(transformed);
            for (Exact& a : transformed) a *= std::exp2(-0.5L * qubits);
            const auto iqp_z =
                encode_by<c64>(backend, EncodeRoute::resident, EncodeMethod::iqp_z, x, {1, qubits});
            CHECK(worst_difference(iqp_z, 0, transformed) < 1e-14);
            const std::vector<double> none(qubits, 0.0);
            CHECK(encode_by<c64>(backend, EncodeRoute::streamed, EncodeMethod::iqp_z, none, {1, qubits})[0] ==
                  c64(1));
        }
    });
}

// Row 0 has the values i + 1, row 1 has -2 (i + 1): their states have the same magnitudes and opposite signs.
TEST_CASE("encode amplitude: rows of every length around blocks, zeros after them, by both routes") {
    on_device([](weft::Backend& backend) {
        for (const std::uint32_t qubits : {15u, 17u})
            for (const std::uint64_t features : {1u, 4095u, 4097u, 1u << 15}) {
                CAPTURE(qubits);
                CAPTURE(features);
                std::vector<double> values(2 * features);
                double squares = 0;
                for (std::uint64_t i = 0; i < features; ++i) {
                    values[i] = static_cast<double>(i + 1);
                    values[features + i] = -2.0 * static_cast<double>(i + 1);
                    squares += values[i] * values[i];
                }
                for (const EncodeRoute route : {EncodeRoute::resident, EncodeRoute::streamed}) {
                    const auto states =
                        encode_by<c64>(backend, route, EncodeMethod::amplitude, values, {2, qubits});
                    const std::size_t size = std::size_t{1} << qubits;
                    double worst = 0;
                    for (std::size_t i = 0; i < size; ++i) {
                        const double want = i < features ? values[i] / std::sqrt(squares) : 0.0;
                        worst = std::max(
                            {worst, std::abs(states[i] - c64(want)), std::abs(states[size + i] + c64(want))});
                    }
                    CHECK(worst < 1e-14);
                }
            }
    });
}

TEST_CASE("encode: angles that are denormal floats keep their sine in complex128") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> angles{1e-40f, -2.2956e-41f, 1.1745908e-38f, 1e-45f, 1e-38f, 0.0f, -0.0f};
        for (const EncodeRoute route : {EncodeRoute::resident, EncodeRoute::streamed}) {
            const auto states =
                encode_by<c64>(backend, route, EncodeMethod::angle, angles, {angles.size(), 1});
            const auto z = encode_by<c64>(backend, route, EncodeMethod::iqp_z, angles, {angles.size(), 1});
            for (std::size_t s = 0; s < angles.size(); ++s) {
                CHECK(states[2 * s] == c64(1));
                CHECK(states[2 * s + 1] == c64(angles[s]));
                CHECK(z[2 * s + 1].imag() == -0.5 * angles[s]);
            }
        }
    });
}

TEST_CASE("encode: complex64 of float64 values is complex128 rounded, except for its last bits") {
    on_device([](weft::Backend& backend) {
        for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::phase,
                                          EncodeMethod::iqp_z, EncodeMethod::iqp})
            for (const std::uint32_t qubits : {3u, 10u, 16u}) {
                CAPTURE(weft::to_string(method));
                CAPTURE(qubits);
                const auto x = sample_values(method, qubits, 9);
                const auto wide = encode_by<c64>(backend, EncodeRoute::streamed, method, x, {1, qubits});
                const auto narrow = encode_by<c32>(backend, EncodeRoute::streamed, method, x, {1, qubits});
                std::complex<double> overlap = 0;
                bool rounded = true;
                for (std::size_t i = 0; i < wide.size(); ++i) {
                    rounded = rounded && rounds_to(narrow[i].real(), wide[i].real()) &&
                              rounds_to(narrow[i].imag(), wide[i].imag());
                    overlap += std::conj(wide[i]) * c64(narrow[i]);
                }
                CHECK(std::norm(overlap) > 1 - 1e-7);
                CHECK(std::norm(overlap) / norm_of(narrow) > 1 - 1e-10);
                // iqp rounds between its passes.
                CHECK((rounded || (method == EncodeMethod::iqp && qubits > 11)));
            }
    });
}
