// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/kernel_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "base/span_set.hpp"
#include "host/thread_parts.hpp"

namespace weft {

const char* to_string(FeatureMap map) noexcept {
    return map == FeatureMap::angle ? "angle" : map == FeatureMap::ry ? "ry" : "ryrz";
}
const char* to_string(KernelMatrixMethod method) noexcept {
    return method == KernelMatrixMethod::product ? "product" : "states";
}

FeatureMap feature_map(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const FeatureMap map : {FeatureMap::angle, FeatureMap::ry, FeatureMap::ryrz})
        if (lower == to_string(map)) return map;
    throw Error(Errc::invalid_argument,
                "feature_map: no such map (got " + std::string(name) + ", need angle, ry or ryrz)");
}

double KernelProgress::pairs_per_s() const {
    return elapsed_s > 0 ? static_cast<double>(pairs_done) / elapsed_s : 0;
}
double KernelProgress::remaining_s() const {
    const double rate = pairs_per_s();
    return rate > 0 ? static_cast<double>(pairs - pairs_done) / rate : 0;
}
double KernelMatrixReport::pairs_per_s() const {
    return wall_s > 0 ? static_cast<double>(pairs) / wall_s : 0;
}

namespace kernels {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "kernel_matrix: " + what);
}

const char* name_of(double value) {
    return std::isnan(value) ? "not a number" : "infinite";
}

struct BadValue {
    std::uint64_t index = 0;
    double value = 0;
};

/// The first numbers that are not finite, once scaled, and how many there are.
struct BadValues {
    std::uint64_t count = 0;
    std::vector<BadValue> first;
};

template <class T>
BadValues find_bad(const T* data, std::uint64_t begin, std::uint64_t end, double scale) {
    constexpr std::size_t kMostNamed = 3;
    BadValues bad;
    for (std::uint64_t i = begin; i < end; ++i) {
        const double value = static_cast<double>(data[i]) * scale;
        if (std::isfinite(value)) continue;
        ++bad.count;
        if (bad.first.size() < kMostNamed) bad.first.push_back({i, static_cast<double>(data[i])});
    }
    return bad;
}

BadValues find_bad(const KernelSource& x, std::uint64_t begin, std::uint64_t end, double scale) {
    return x.type == ValueType::float32 ? find_bad(static_cast<const float*>(x.data), begin, end, scale)
                                        : find_bad(static_cast<const double*>(x.data), begin, end, scale);
}

BadValues find_bad_in_parts(const KernelSource& x, double scale, std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs.
    constexpr std::uint64_t kValuesPerThread = 1u << 17;
    std::vector<BadValues> found(std::max(1u, threads));
    in_parts(x.count, kValuesPerThread, threads,
             [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
                 found[part] = find_bad(x, begin, end, scale);
             });
    BadValues bad;
    for (const BadValues& part : found) {
        bad.count += part.count;
        if (bad.first.empty()) bad.first = part.first;
    }
    return bad;
}

// `parts` numbers make an element of a row.
[[noreturn]] void refuse_values(const char* what, const BadValues& bad, std::uint64_t columns,
                                std::uint64_t parts) {
    std::string text = std::string(what) + ": ";
    for (const BadValue& value : bad.first) {
        text += (&value == bad.first.data() ? "row " : ", row ") +
                std::to_string(value.index / parts / columns) + " column " +
                std::to_string(value.index / parts % columns) + " is ";
        text += std::isfinite(value.value) ? "too large for the scale" : name_of(value.value);
    }
    if (bad.count > bad.first.size()) text += " and so on";
    refuse(text + " (got " + std::to_string(bad.count) + " such values, need 0)");
}

double square_norm(const KernelSource& parts, std::uint64_t first, std::uint64_t count) {
    double sum = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
        const double value = parts.type == ValueType::float32
                                 ? static_cast<double>(static_cast<const float*>(parts.data)[i])
                                 : static_cast<const double*>(parts.data)[i];
        sum += value * value;
    }
    return sum;
}

}  // namespace

void check_kernel_options(const KernelMatrixOptions& options) {
    if (options.state_tile != -1 && options.state_tile < 1)
        refuse("state_tile out of range (got " + std::to_string(options.state_tile) +
               ", need 1 or more, or -1)");
    if (!(options.vram_fraction > 0) || options.vram_fraction > 1)
        refuse("vram_fraction out of range (got " + std::to_string(options.vram_fraction) +
               ", need above 0, at most 1)");
    if (!(options.jitter >= 0) || !std::isfinite(options.jitter))
        refuse("jitter out of range (got " + std::to_string(options.jitter) + ", need 0 or more)");
}

std::uint32_t check_circuit(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit) {
    if (static_cast<unsigned>(circuit.map) > static_cast<unsigned>(FeatureMap::ryrz))
        refuse("no such map (got " + std::to_string(static_cast<int>(circuit.map)) +
               ", need angle, ry or ryrz)");
    if (!std::isfinite(circuit.scale))
        refuse("scale is " + std::string(name_of(circuit.scale)) + " (need a finite number)");
    const KernelSource& w = circuit.weights;
    if (w.type == ValueType::int64) refuse("weights: wrong type (got int64, need float32 or float64)");
    if (w.count % shape.qubits != 0)
        refuse("weights: no whole layers (got " + std::to_string(w.count) + " numbers, need a multiple of " +
               std::to_string(shape.qubits) + ", the columns of X)");
    if (w.count / shape.qubits > 0xffffu)
        refuse("weights: too many layers (got " + std::to_string(w.count / shape.qubits) +
               ", need at most 65535)");
    if (w.count != 0 && w.data == nullptr) refuse("weights: null with a length");
    const BadValues bad = find_bad(w, 0, w.count, 1);
    if (bad.count != 0) refuse_values("weights", bad, shape.qubits, 1);
    return static_cast<std::uint32_t>(w.count / shape.qubits);
}

void check_kernel_shape(const KernelMatrixShape& shape, bool with_y) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    if (shape.qubits == 0) refuse("no qubits (got 0 columns, need at least 1)");
    if (shape.samples == 0) refuse("no samples (got 0 rows of X, need at least 1)");
    if (with_y && shape.others == 0) refuse("no rows of Y (got 0, need at least 1)");
    if (!with_y && shape.others != 0)
        refuse("rows of Y without Y (got " + std::to_string(shape.others) + " others, need 0)");
    for (const std::uint64_t rows : {shape.samples, shape.others})
        if (rows > kMost / shape.qubits)
            refuse("too many samples (got " + std::to_string(rows) + " of " + std::to_string(shape.qubits) +
                   " qubits, need at most 2^40 features)");
    if (shape.columns() > (std::uint64_t{1} << 58) / shape.samples)
        refuse("K too large (got " + std::to_string(shape.samples) + " x " + std::to_string(shape.columns()) +
               ", need at most 2^58 values)");
}

void check_count(const char* what, std::uint64_t got, std::uint64_t need, const char* unit) {
    if (got != need)
        refuse(std::string(what) + " does not fit the shape (got " + std::to_string(got) + " " + unit +
               ", need " + std::to_string(need) + ")");
}

void check_kernel_memory(const char* what, const void* data, std::uint64_t bytes, std::uint64_t alignment,
                         const KernelTarget& k) {
    if (data == nullptr) refuse(std::string(what) + " is null");
    if (k.data == nullptr) refuse("k is null");
    const auto in = reinterpret_cast<std::uintptr_t>(data), out = reinterpret_cast<std::uintptr_t>(k.data);
    if (in % alignment != 0) refuse(std::string(what) + " is not aligned to its type");
    if (out % value_bytes(k.type) != 0) refuse("k is not aligned to its type");
    if (core::share_memory(core::span_of(data, bytes, 0, false),
                           core::span_of(k.data, k.count * value_bytes(k.type), 0, true)))
        refuse("k overlaps " + std::string(what) + " (need separate memory)");
}

void check_features(const char* what, const KernelSource& x, std::uint32_t qubits, double scale,
                    std::uint32_t threads) {
    const BadValues bad = find_bad_in_parts(x, scale, threads);
    if (bad.count != 0) refuse_values(what, bad, qubits, 1);
}

void check_finite_states(const char* what, const KernelSource& parts, std::uint64_t amplitudes, ValueType k,
                         std::uint32_t threads) {
    // K of a state with itself is its square norm's square.
    const bool narrow = parts.type == ValueType::float32 || k == ValueType::float32;
    const double most = narrow ? 1.8e19 : 1.3e154;
    const double part = std::sqrt(most / (2 * static_cast<double>(amplitudes)));
    // One pass over what is in range whatever the others are.
    if (find_bad_in_parts(parts, std::numeric_limits<double>::max() / part, threads).count == 0) return;
    const BadValues bad = find_bad_in_parts(parts, 1, threads);
    if (bad.count != 0) refuse_values(what, bad, amplitudes, 2);
    for (std::uint64_t row = 0; row < parts.count / 2 / amplitudes; ++row) {
        const double square = square_norm(parts, 2 * amplitudes * row, 2 * amplitudes);
        if (square <= most) continue;
        char text[128];
        std::snprintf(text, sizeof text,
                      ": row %llu is too large for %s (got a norm of %.3g, need at most %.3g)",
                      static_cast<unsigned long long>(row), narrow ? "float32" : "float64", std::sqrt(square),
                      std::sqrt(most));
        refuse(what + std::string(text));
    }
}

}  // namespace kernels
}  // namespace weft
