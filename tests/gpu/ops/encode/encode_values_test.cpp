// SPDX-License-Identifier: Apache-2.0
// Encoded states: published values, every method, type and route against the definition.
#include <cmath>
#include <numbers>
#include <string>
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

constexpr EncodeMethod kMethods[] = {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                     EncodeMethod::phase,     EncodeMethod::iqp,   EncodeMethod::iqp_z};
constexpr double kPi = std::numbers::pi;

struct Known {
    EncodeMethod method;
    std::uint32_t qubits;
    std::vector<double> values;
    std::vector<std::pair<std::size_t, c64>> amplitudes;  // index, value
};

std::vector<double> steps(int count) {
    std::vector<double> values;
    for (int i = 1; i <= count; ++i) values.push_back(0.1 * i);
    return values;
}

std::vector<double> modular(int count) {
    std::vector<double> values;
    for (int k = 0; k < count; ++k) values.push_back(7 * k % 13 * 0.1);
    return values;
}

const std::vector<Known>& known() {
    static const std::vector<Known> all{
        {EncodeMethod::amplitude, 1, {3, 4}, {{0, 0.6}, {1, 0.8}}},
        {EncodeMethod::amplitude,
         2,
         {1, 2, 3},
         {{0, 0.267261241912424}, {1, 0.534522483824849}, {2, 0.801783725737273}, {3, 0}}},
        {EncodeMethod::amplitude, 2, {1, 2, 3, 4}, {{0, 0.182574185835055}, {3, 0.730296743340221}}},
        {EncodeMethod::amplitude,
         2,
         {-1, 2, -2},
         {{0, -0.333333333333333}, {1, 0.666666666666667}, {2, -0.666666666666667}, {3, 0}}},
        {EncodeMethod::angle,
         3,
         {0.1, 0.2, 0.3},
         {{0, 0.931615796688451},
          {1, 0.093473365470362},
          {2, 0.188847871227156},
          {3, 0.018947989233612},
          {4, 0.288182536624687},
          {7, 0.005861299927169}}},
        {EncodeMethod::angle,
         3,
         {0.4, 0.5, 0.6},
         {{0, 0.667124609992043}, {5, 0.192964728213005}, {7, 0.105417111474795}}},
        {EncodeMethod::angle,
         2,
         {kPi / 6, kPi / 3},
         {{0, 0.433012701892219}, {1, 0.25}, {2, 0.75}, {3, 0.433012701892219}}},
        {EncodeMethod::angle, 2, {kPi / 2, 0}, {{0, 0}, {1, 1}, {2, 0}, {3, 0}}},
        {EncodeMethod::angle,
         2,
         {-0.5, 4.0},
         {{0, -0.573626243360788}, {1, 0.313373444987739}, {2, -0.664156672677358}, {3, 0.362830443930008}}},
        {EncodeMethod::basis, 3, {3}, {{3, 1}, {0, 0}, {7, 0}}},
        {EncodeMethod::basis, 4, {13}, {{13, 1}, {12, 0}, {15, 0}}},
        {EncodeMethod::basis, 3, {-0.0}, {{0, 1}, {1, 0}}},
        {EncodeMethod::phase, 2, {0, 0}, {{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, 0.5}}},
        {EncodeMethod::phase, 2, {kPi / 2, kPi}, {{0, 0.5}, {1, {0, 0.5}}, {2, -0.5}, {3, {0, -0.5}}}},
        {EncodeMethod::phase,
         3,
         {0.1, 0.2, 0.3},
         {{0, 0.353553390593274},
          {1, {0.351787096288476, 0.035296442949997}},
          {7, {0.291800205028701, 0.199631260941787}}}},
        {EncodeMethod::iqp_z, 1, {kPi}, {{0, 0}, {1, 1}}},
        {EncodeMethod::iqp_z, 2, {kPi / 2, kPi}, {{0, 0}, {1, 0}, {2, {0.5, 0.5}}, {3, {0.5, -0.5}}}},
        {EncodeMethod::iqp_z,
         2,
         {0.1, 0.2},
         {{0, {0.982601808061218, 0.148505738525807}},
          {1, {0.007431480859402, -0.049171073128277}},
          {3, {-0.004933563498415, -0.000745635195137}}}},
        {EncodeMethod::iqp_z,
         16,
         steps(16),
         {{0, {0.115720275396142, 0.065768458852651}},
          {65535, {1.475206673586743e-08, 8.384189294297187e-09}}}},
        {EncodeMethod::iqp, 2, {0, 0, kPi}, {{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, -0.5}}},
        {EncodeMethod::iqp,
         2,
         {0.1, 0.2, 0.3},
         {{0, {0.950101589507236, 0.215786305209231}},
          {1, {0.039931699413384, -0.116451639811701}},
          {2, {0.047400493131776, -0.165869596885817}},
          {3, {-0.037433782052397, 0.066534931488287}}}},
        {EncodeMethod::iqp,
         3,
         steps(6),
         {{0, {0.658201175578218, 0.471998034709839}},
          {3, {-0.104368032625659, -0.021261219572863}},
          {7, {0.051810893666964, 0.107689954521813}}}},
        {EncodeMethod::iqp,
         4,
         steps(10),
         {{0, {0.233102298962797, 0.390875351774259}},
          {1, {0.163034848616247, 0.033350325593730}},
          {8, {0.346119133604432, 0.073484693142215}},
          {15, {0.206576211034704, 0.201380125547987}}}},
        {EncodeMethod::iqp,
         11,
         modular(66),
         {{0, {-0.019167699237249, -0.005133128093861}},
          {1, {-0.001065299487049, -0.005092497466509}},
          {1024, {-0.002251961843254, 0.007062232981812}},
          {2047, {0.364613606860402, -0.049097359818257}}}},
    };
    return all;
}

template <class Amplitude, class Value>
void check_known(weft::Backend& backend, EncodeRoute route, const Known& k) {
    const auto state =
        encode_by<Amplitude>(backend, route, k.method, cast_values<Value>(k.values), {1, k.qubits});
    double norm = 0;
    for (const Amplitude& a : state) norm += std::norm(c64(a.real(), a.imag()));
    CHECK(norm == doctest::Approx(1).epsilon(2e-6));
    for (const auto& [index, want] : k.amplitudes) {
        CAPTURE(index);
        // Values as printed hold 15 decimals; those of float32 values and states 7.
        const double slack = std::is_same_v<Value, double> && std::is_same_v<Amplitude, c64> ? 2e-15 : 3e-7;
        CHECK(std::abs(state[index].real() - want.real()) < slack);
        CHECK(std::abs(state[index].imag() - want.imag()) < slack);
    }
}

// Three samples by the definition, every route.
template <class Amplitude, class Value>
void check_exact(weft::Backend& backend, EncodeMethod method, std::uint32_t qubits, std::uint64_t samples) {
    std::vector<double> values;
    std::vector<Exact> want;
    for (std::uint64_t s = 0; s < samples; ++s) {
        const auto row = sample_values(method, qubits, 100 * s + qubits);
        values.insert(values.end(), row.begin(), row.end());
        const auto state = expected_state(method, row, qubits);
        want.insert(want.end(), state.begin(), state.end());
    }
    std::vector<Amplitude> first;
    for (const EncodeRoute route : kEncodeRoutes) {
        CAPTURE(name_of(route));
        const auto states =
            encode_by<Amplitude>(backend, route, method, cast_values<Value>(values), {samples, qubits});
        CHECK(worst_difference(states, 0, want) < tolerance<Amplitude>(method, qubits));
        if (first.empty()) first = states;
        CHECK(std::memcmp(first.data(), states.data(), states.size() * sizeof(Amplitude)) == 0);
    }
}

void check_all_known(weft::Backend& backend) {
    for (const Known& k : known()) {
        CAPTURE(weft::to_string(k.method));
        CAPTURE(k.qubits);
        for (const EncodeRoute route : kEncodeRoutes) {
            CAPTURE(name_of(route));
            check_known<c64, double>(backend, route, k);
            check_known<c32, double>(backend, route, k);
            check_known<c32, float>(backend, route, k);
            check_known<c64, float>(backend, route, k);
        }
    }
}

// Sizes on either side of every switch: slabs of small states, one slab, several, passes.
void check_all_sizes(weft::Backend& backend) {
    for (const EncodeMethod method : kMethods)
        for (const std::uint32_t qubits : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u}) {
            CAPTURE(weft::to_string(method));
            CAPTURE(qubits);
            check_exact<c64, double>(backend, method, qubits, 3);
            check_exact<c32, float>(backend, method, qubits, 3);
        }
}

void check_mixed_types(weft::Backend& backend) {
    for (const EncodeMethod method : kMethods)
        for (const std::uint32_t qubits : {1u, 5u, 8u, 12u, 13u}) {
            CAPTURE(weft::to_string(method));
            CAPTURE(qubits);
            check_exact<c64, float>(backend, method, qubits, 2);
            check_exact<c32, double>(backend, method, qubits, 2);
        }
}

}  // namespace

// One case, one backend: a software device takes longer to compile the shaders than to run them.
TEST_CASE("encode: published values and definitions, every method, size, type and route") {
    on_device([](weft::Backend& backend) {
        check_all_known(backend);
        check_all_sizes(backend);
        check_mixed_types(backend);
    });
}

TEST_CASE("encode iqp: so many samples that the shader has their qubits for a constant") {
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
