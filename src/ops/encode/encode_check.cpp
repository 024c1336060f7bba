// SPDX-License-Identifier: Apache-2.0
// Also completes weft/ops/encode_error.hpp.
#include "ops/encode/encode_check.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <weft/error.hpp>

#include "base/span_set.hpp"
#include "host/thread_parts.hpp"

namespace weft {

const char* to_string(EncodeMethod method) noexcept {
    switch (method) {
        case EncodeMethod::amplitude:
            return "amplitude";
        case EncodeMethod::angle:
            return "angle";
        case EncodeMethod::basis:
            return "basis";
        case EncodeMethod::phase:
            return "phase";
        case EncodeMethod::iqp:
            return "iqp";
        case EncodeMethod::iqp_z:
            return "iqp-z";
    }
    return "unknown";
}

const char* to_string(EncodeFault fault) noexcept {
    switch (fault) {
        case EncodeFault::zero_norm:
            return "zero norm";
        case EncodeFault::not_a_number:
            return "not a number";
        case EncodeFault::infinite:
            return "infinite";
        case EncodeFault::negative:
            return "negative";
        case EncodeFault::fractional:
            return "not a whole number";
        case EncodeFault::out_of_range:
            return "out of range";
        case EncodeFault::inexact:
            return "2^24 or more, which float32 does not hold exactly";
    }
    return "unknown";
}

EncodeMethod encode_method(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                      EncodeMethod::phase, EncodeMethod::iqp, EncodeMethod::iqp_z})
        if (lower == to_string(method)) return method;
    throw Error(Errc::invalid_argument, "encode_method: no such method (got " + std::string(name) +
                                            ", need amplitude, angle, basis, phase, iqp or iqp-z)");
}

std::uint64_t encode_features(EncodeMethod method, std::uint32_t qubits) {
    if (qubits < 1 || qubits > kMaxQubits)
        throw Error(Errc::invalid_argument,
                    "encode: qubits out of range (got " + std::to_string(qubits) + ", need 1 to 30)");
    switch (method) {
        case EncodeMethod::amplitude:
            return std::uint64_t{1} << qubits;
        case EncodeMethod::basis:
            return 1;
        case EncodeMethod::iqp:
            return qubits + std::uint64_t{qubits} * (qubits - 1) / 2;
        case EncodeMethod::angle:
        case EncodeMethod::phase:
        case EncodeMethod::iqp_z:
            return qubits;
    }
    throw Error(Errc::invalid_argument,
                "encode: no such method (got " + std::to_string(static_cast<int>(method)) + ", need 0 to 5)");
}

namespace kernels {

void refuse_encode(EncodeMethod method, const std::string& what) {
    throw Error(Errc::invalid_argument, std::string("encode ") + to_string(method) + ": " + what);
}

namespace {

// The fault of an angle or an amplitude that is not finite.
template <class T>
EncodeFault fault_of(T value) {
    return std::isnan(value) ? EncodeFault::not_a_number : EncodeFault::infinite;
}

// Tests the bits of the exponent, which compilers turn into vector code under any flags, unlike
// std::isfinite.
bool finite(float value) {
    return (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
}
bool finite(double value) {
    return (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) != 0x7ff;
}

template <class T>
void find_in_row(std::vector<EncodeFailure>& failures, EncodeMethod method, std::uint64_t sample,
                 std::span<const T> row) {
    bool good = true, zero = method == EncodeMethod::amplitude;
    for (const T value : row) {
        good = good && finite(value);
        zero = zero && value == T(0);
    }
    if (!good) {
        const auto bad = std::find_if(row.begin(), row.end(), [](T value) { return !finite(value); });
        failures.push_back({sample, static_cast<std::uint64_t>(bad - row.begin()), fault_of(*bad)});
    } else if (zero) {
        failures.push_back({sample, 0, EncodeFault::zero_norm});
    }
}

template <class T>
void find_index(std::vector<EncodeFailure>& failures, std::uint64_t sample, T value, double size) {
    const auto add = [&](EncodeFault fault) { failures.push_back({sample, 0, fault}); };
    if constexpr (std::is_floating_point_v<T>) {
        if (!finite(value)) return add(fault_of(value));
        if (value < 0) return add(EncodeFault::negative);
        if (value != std::floor(value)) return add(EncodeFault::fractional);
    } else if (value < 0) {
        return add(EncodeFault::negative);
    }
    if (static_cast<double>(value) >= size) return add(EncodeFault::out_of_range);
    if (std::is_same_v<T, float> && value >= T(16777216)) add(EncodeFault::inexact);
}

template <class T>
void find_in_rows(std::vector<EncodeFailure>& failures, EncodeMethod method, std::uint32_t qubits,
                  std::uint64_t features, const T* values, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t sample = first; sample < last; ++sample) {
        if (method == EncodeMethod::basis)
            find_index(failures, sample, values[sample], std::ldexp(1.0, static_cast<int>(qubits)));
        else if constexpr (std::is_floating_point_v<T>)
            find_in_row<T>(failures, method, sample, {values + sample * features, features});
    }
}

std::string describe(const EncodeFailure& failure, bool batch) {
    const std::string where = (batch ? "job " + std::to_string(failure.job) + " " : std::string()) +
                              "sample " + std::to_string(failure.sample);
    if (failure.fault == EncodeFault::zero_norm) return where + " has zero norm";
    return where + " value " + std::to_string(failure.position) + " is " + to_string(failure.fault);
}

void check_types(const EncodeTypes& types) {
    const auto refuse_type = [](const char* what, ElementType got, const char* need) {
        throw Error(Errc::invalid_argument, std::string("encode: ") + what + " are of type " +
                                                to_string(got) + " (got " + to_string(got) + ", need " +
                                                need + ")");
    };
    if (types.values != kFloat32 && types.values != kFloat64 && types.values != kInt64)
        refuse_type("values", types.values, "float32, float64 or, for basis, int64");
    if (types.states != kComplex64 && types.states != kComplex128)
        refuse_type("states", types.states, "complex64 or complex128");
}

}  // namespace

std::uint64_t check_encode(EncodeMethod method, const StateShape& shape, EncodeTypes types,
                           std::uint64_t values, std::uint64_t states) {
    const std::uint64_t features = encode_features(method, shape.qubits);
    check_types(types);
    if (types.values == kInt64 && method != EncodeMethod::basis)
        refuse_encode(method, "wrong type of values (got int64, need float32 or float64)");
    if (shape.samples == 0) refuse_encode(method, "no samples (got 0, need at least 1)");
    // The bytes of all amplitudes, 16 each, must be countable.
    if (shape.samples > (std::uint64_t{1} << 58 >> shape.qubits))
        refuse_encode(method, "too many samples (got " + std::to_string(shape.samples) + " of " +
                                  std::to_string(shape.qubits) + " qubits, need at most 2^58 amplitudes)");
    if (states != shape.amplitudes())
        refuse_encode(method, "states do not fit the shape (got " + std::to_string(states) +
                                  " amplitudes, need " + std::to_string(shape.amplitudes()) + ")");
    if (values % shape.samples != 0)
        refuse_encode(method, "values do not divide by the samples (got " + std::to_string(values) +
                                  " values, need a multiple of " + std::to_string(shape.samples) + ")");
    const std::uint64_t got = values / shape.samples;
    if (method == EncodeMethod::amplitude ? got < 1 || got > features : got != features)
        refuse_encode(method, "wrong number of values a sample (got " + std::to_string(got) + ", need " +
                                  (method == EncodeMethod::amplitude ? "1 to " : "") +
                                  std::to_string(features) + " for " + std::to_string(shape.qubits) +
                                  " qubits)");
    return got;
}

void check_spans(const ConstHostArray& values, const HostArray& states) {
    const auto refuse_span = [](const std::string& what) {
        throw Error(Errc::invalid_argument, "encode: " + what);
    };
    if (values.data == nullptr) refuse_span("values are null");
    if (states.data == nullptr) refuse_span("states are null");
    const auto in = reinterpret_cast<std::uintptr_t>(values.data);
    const auto out = reinterpret_cast<std::uintptr_t>(states.data);
    if (in % values.type.bytes() != 0) refuse_span("values are not aligned to their type");
    if (out % (states.type.bytes() / 2) != 0) refuse_span("states are not aligned to their type");
    if (core::share_memory(core::span_of(values.data, values.bytes(), 0, false),
                           core::span_of(states.data, states.bytes(), 0, true)))
        refuse_span("states overlap values (need separate memory)");
}

void check_alignment(const EncodePlan& plan, std::uint64_t first_amplitude) {
    const std::uint64_t begin = first_amplitude * plan.amplitude_bytes;
    if (begin % plan.alignment != 0)
        refuse_encode(plan.method, "states begin where the device cannot bind them (got byte " +
                                       std::to_string(begin) + " of their buffer, need a multiple of " +
                                       std::to_string(plan.alignment) + ")");
}

std::vector<EncodeFailure> find_faults(EncodeMethod method, std::uint32_t qubits, std::uint64_t features,
                                       const ConstHostArray& values, std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs.
    constexpr std::uint64_t kValuesPerThread = 1u << 18;
    const std::uint64_t samples = values.size / features;
    std::vector<std::vector<EncodeFailure>> found(std::max(1u, threads));
    const auto scan = [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
        if (values.type == kFloat32)
            find_in_rows(found[part], method, qubits, features, static_cast<const float*>(values.data), first,
                         last);
        else if (values.type == kFloat64)
            find_in_rows(found[part], method, qubits, features, static_cast<const double*>(values.data),
                         first, last);
        else
            find_in_rows(found[part], method, qubits, features, static_cast<const std::int64_t*>(values.data),
                         first, last);
    };
    in_parts(samples, kValuesPerThread / features, threads, scan);
    std::vector<EncodeFailure> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
}

void append_failures(std::vector<EncodeFailure>& failures, std::span<const std::uint32_t> status,
                     std::uint32_t block_bits, std::uint64_t first) {
    for (std::size_t element = 0; 2 * element + 1 < status.size(); ++element) {
        const std::uint32_t fault = status[2 * element];
        if (fault == 0) continue;
        const std::uint64_t sample = first + (element >> block_bits);
        if (!failures.empty() && failures.back().sample == sample) continue;
        failures.push_back({sample, status[2 * element + 1], static_cast<EncodeFault>(fault)});
    }
}

void require_no_failures(EncodeMethod method, std::vector<EncodeFailure> failures, bool written, bool batch) {
    if (failures.empty()) return;
    constexpr std::size_t kMostNamed = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMostNamed, failures.size()); ++i)
        text += (i == 0 ? "" : ", ") + describe(failures[i], batch);
    const std::string count = std::to_string(failures.size());
    if (failures.size() > kMostNamed) text += " and so on";
    text += " (" + count + (failures.size() == 1 ? " sample" : " samples") + " cannot be encoded; ";
    text += written ? "their states are zeros, all others are right)" : "nothing was written)";
    throw EncodeError(std::string("encode ") + to_string(method) + ": " + text, std::move(failures));
}

}  // namespace kernels
}  // namespace weft
