// SPDX-License-Identifier: Apache-2.0
// The tables of encode: published values, sizes and types that are compared with the definition, and samples
// that cannot be encoded.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include <weft/ops/encode.hpp>

#include "support/encode_oracle.hpp"

namespace weft_test {

/// The types of values and of states.
struct EncodeTypeCase {
    bool wide_values, wide_states;
};
inline constexpr EncodeTypeCase kAllFloat32{false, false}, kAllFloat64{true, true}, kWidened{false, true},
    kNarrowed{true, false};

struct EncodeCase {
    const char* name;
    std::vector<weft::EncodeMethod> methods;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;  ///< qubits, samples
    std::vector<EncodeTypeCase> types;
    std::function<std::vector<double>(weft::EncodeMethod, std::uint32_t qubits, std::uint64_t sample)> row;
    bool chunks = true;        ///< also run with the samples of the batch in several chunks
    double bound64 = 1e-12;    ///< bound of complex128
    std::uint64_t judged = 6;  ///< about this many samples are compared with the definition
};

inline const std::vector<EncodeCase>& encode_cases() {
    using enum weft::EncodeMethod;
    using weft::EncodeMethod;
    static const std::vector<EncodeMethod> kEvery{amplitude, angle, basis, phase, iqp, iqp_z},
        kAngles{angle, phase, iqp_z};
    const auto samples = [](EncodeMethod method, std::uint32_t qubits, std::uint64_t sample) {
        return sample_values(method, qubits, 100 * sample + qubits);
    };
    // Up to a million turns.
    const auto large = [](EncodeMethod method, std::uint32_t qubits, std::uint64_t sample) {
        std::vector<double> angles;
        for (std::uint64_t i = 0; i < weft::encode_features(method, qubits); ++i)
            angles.push_back(static_cast<float>((i % 2 == 0 ? 1 : -1) *
                                                (1e6 - 12345.678 * static_cast<double>(i + sample))));
        return angles;
    };
    // Fewer values than amplitudes, with magnitudes whose squares are out of the range of float32.
    const auto cut = [](std::size_t divisor, double scale) {
        return [divisor, scale](EncodeMethod method, std::uint32_t qubits, std::uint64_t) {
            std::vector<double> row = sample_values(method, qubits, 4);
            row.resize(divisor == 0 ? row.size() : divisor == 1 ? row.size() - 3 : row.size() / 2 - 1);
            for (double& v : row) v = static_cast<float>(v * scale);
            return row;
        };
    };
    static const std::vector<std::pair<std::uint32_t, std::uint64_t>> kRows{
        {3, 1}, {9, 1}, {14, 1}, {15, 1}, {21, 1}},
        kEdges{{1, 3}, {2, 3}, {3, 3},  {4, 3},  {5, 3},  {6, 3},  {7, 3},
               {8, 3}, {9, 3}, {10, 3}, {11, 3}, {12, 3}, {13, 3}, {14, 3}};
    static const std::vector<EncodeCase> cases{
        // Sizes on both sides of every change of method: slabs of small states, one slab, several slabs,
        // passes.
        {"every size", kEvery, kEdges, {kAllFloat64, kAllFloat32}, samples},
        {"types that differ",
         kEvery,
         {{1, 2}, {5, 2}, {8, 2}, {12, 2}, {13, 2}},
         {kWidened, kNarrowed},
         samples},
        {"many small states", kEvery, {{4, 3001}, {9, 301}}, {kAllFloat32}, samples, false},
        {"states of several passes",
         {amplitude, angle, basis, phase, iqp_z},
         {{15, 3}, {17, 2}},
         {kAllFloat32, kAllFloat64},
         samples,
         false},
        {"large angles", kAngles, {{12, 1}}, {kAllFloat64, kAllFloat32}, large, false, 1e-14},
        {"rows as long as the state", {amplitude}, kRows, {kAllFloat32}, cut(0, 1), false},
        {"rows that end before the state", {amplitude}, kRows, {kAllFloat32, kAllFloat64}, cut(1, 1), false},
        {"rows of half the state", {amplitude}, kRows, {kAllFloat32}, cut(2, 1), false},
        {"rows of small values", {amplitude}, kRows, {kAllFloat32}, cut(1, 1e-30), false},
        {"rows of large values", {amplitude}, kRows, {kAllFloat32}, cut(2, 1e30), false},
    };
    return cases;
}

/// Published values.
struct EncodeAnswer {
    weft::EncodeMethod method;
    std::uint32_t qubits;
    std::vector<double> values;
    std::vector<std::pair<std::size_t, std::complex<double>>> amplitudes;  ///< index, value
};

inline const std::vector<EncodeAnswer>& encode_answers() {
    using weft::EncodeMethod;
    constexpr double kPi = std::numbers::pi;
    const auto steps = [](int count) {
        std::vector<double> values;
        for (int i = 1; i <= count; ++i) values.push_back(0.1 * i);
        return values;
    };
    const auto modular = [](int count) {
        std::vector<double> values;
        for (int k = 0; k < count; ++k) values.push_back(7 * k % 13 * 0.1);
        return values;
    };
    static const std::vector<EncodeAnswer> all{
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

/// A batch with samples that cannot be encoded.
struct EncodeFaults {
    weft::EncodeMethod method;
    std::uint32_t qubits;
    std::vector<double> values;                 ///< of all samples
    std::vector<weft::EncodeFailure> failures;  ///< expected
    const char* text;                           ///< a part of the error's text
};

inline const std::vector<EncodeFaults>& encode_faults() {
    using weft::EncodeFault;
    using weft::EncodeMethod;
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const auto with = [](std::size_t size, double value, std::size_t at, double fault) {
        std::vector<double> row(size, value);
        row[at] = fault;
        return row;
    };
    static const std::vector<EncodeFaults> all{
        {EncodeMethod::amplitude,
         2,
         {1, 2, 3, 0, 0, 0, 4, 5, 6},
         {{1, 0, EncodeFault::zero_norm}},
         "sample 1 has zero norm"},
        {EncodeMethod::amplitude,
         1,
         {1, kNaN, 3, 4, kInf, 1, -kInf, kNaN},
         {{0, 1, EncodeFault::not_a_number}, {2, 0, EncodeFault::infinite}, {3, 0, EncodeFault::infinite}},
         "sample 0 value 1 is not a number"},
        {EncodeMethod::angle,
         3,
         {0, 1, 2, 3, 4, kNaN, 0, 0, 0},
         {{1, 2, EncodeFault::not_a_number}},
         "sample 1 value 2 is not a number"},
        {EncodeMethod::phase,
         2,
         {0, -kInf, 1, 1, kNaN, kNaN},
         {{0, 1, EncodeFault::infinite}, {2, 0, EncodeFault::not_a_number}},
         "sample 0 value 1 is infinite"},
        {EncodeMethod::iqp_z, 2, {0, 0, kInf, kNaN}, {{1, 0, EncodeFault::infinite}}, "sample 1 value 0"},
        {EncodeMethod::iqp, 2, {0, kInf, 0, 1, 1, 1}, {{0, 1, EncodeFault::infinite}}, "sample 0 value 1"},
        {EncodeMethod::basis,
         3,
         {-1, 8, 2.5, kNaN, 1e300, 3, -0.0, -0.5, kInf, 4294967296.0, 4503599627370495.5},
         {{0, 0, EncodeFault::negative},
          {1, 0, EncodeFault::out_of_range},
          {2, 0, EncodeFault::fractional},
          {3, 0, EncodeFault::not_a_number},
          {4, 0, EncodeFault::out_of_range},
          {7, 0, EncodeFault::negative},
          {8, 0, EncodeFault::infinite},
          {9, 0, EncodeFault::out_of_range},
          {10, 0, EncodeFault::fractional}},
         "and so on (9 samples"},
        {EncodeMethod::amplitude,
         16,
         with(std::size_t{1} << 16, 1, 40000, kNaN),
         {{0, 40000, EncodeFault::not_a_number}},
         "sample 0 value 40000 is not a number"},
        {EncodeMethod::angle,
         16,
         with(16, 0.5, 7, kInf),
         {{0, 7, EncodeFault::infinite}},
         "sample 0 value 7 is infinite"},
    };
    return all;
}

}  // namespace weft_test
