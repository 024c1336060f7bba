// SPDX-License-Identifier: Apache-2.0
// One function for all ways to call an encode on Vulkan, with guard words after the outputs.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_oracle.hpp"

namespace weft_test {

enum class EncodeRoute {
    resident,
    streamed,
    chunked,  ///< streamed with chunks of one element, so that boundaries are within the batch
};

template <class Amplitude>
Amplitude guard_amplitude() {
    return Amplitude(-123.25f, 77.5f);
}

/// States of `values`, [samples, 2^qubits]. Errors: as weft::encode.
template <class Amplitude, class Value>
std::vector<Amplitude> encode_by(weft::Backend& backend, EncodeRoute route, weft::EncodeMethod method,
                                 const std::vector<Value>& values, const weft::StateShape& shape,
                                 bool check_values = false) {
    constexpr std::size_t kGuards = 64;
    std::vector<Amplitude> all(shape.amplitudes() + kGuards, guard_amplitude<Amplitude>());
    if (route == EncodeRoute::resident) {
        weft::Buffer<Value> in(backend, values.size());
        weft::Buffer<Amplitude> out(backend, all.size());
        weft::Stream stream(backend);
        stream.upload(values, in);
        stream.upload(all, out);
        weft::encode(stream, method, in, out.view(0, shape.amplitudes()), shape,
                     {.check_values = check_values})
            .require_all(stream);
        all = stream.download(out);
    } else {
        weft::EncodeHostOptions options{.check_values = check_values};
        if (route == EncodeRoute::chunked) options.batch.chunk_elements = 1;
        weft::encode(backend, method, values, std::span(all).first(shape.amplitudes()), shape, options);
    }
    for (std::size_t i = shape.amplitudes(); i < all.size(); ++i)
        CHECK(all[i] == guard_amplitude<Amplitude>());
    all.resize(shape.amplitudes());
    return all;
}

template <class Value>
std::vector<Value> cast_values(const std::vector<double>& values) {
    std::vector<Value> out(values.size());
    std::transform(values.begin(), values.end(), out.begin(), [](double v) { return static_cast<Value>(v); });
    return out;
}

template <class Amplitude>
double worst_difference(const std::vector<Amplitude>& got, std::size_t first,
                        const std::vector<Exact>& want) {
    double worst = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        const Exact g(got[first + i].real(), got[first + i].imag());
        const double difference = static_cast<double>(std::abs(g - want[i]));
        if (!(difference <= worst)) worst = difference;  // NaN counts as the worst difference
    }
    return worst;
}

/// The bound of docs/encode.md.
template <class Amplitude>
constexpr double tolerance(weft::EncodeMethod method, std::uint32_t qubits) {
    if (std::is_same_v<Amplitude, weft::c64>) return 1e-12;
    return method == weft::EncodeMethod::amplitude ? 1e-6 : qubits * 2.5e-7;
}

}  // namespace weft_test
