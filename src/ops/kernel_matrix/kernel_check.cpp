// SPDX-License-Identifier: Apache-2.0
// Also completes weft/ops/kernel_circuit.hpp.
#include "ops/kernel_matrix/kernel_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/ops/encode_error.hpp>

#include "base/batch_call.hpp"
#include "base/span_set.hpp"
#include "host/thread_parts.hpp"

namespace weft {

const char* to_string(FeatureMap map) noexcept {
    return map == FeatureMap::ry ? "ry" : "ryrz";
}
const char* to_string(KernelMatrixMethod method) noexcept {
    return method == KernelMatrixMethod::product ? "product" : "states";
}

FeatureMap feature_map(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const FeatureMap map : {FeatureMap::ry, FeatureMap::ryrz})
        if (lower == to_string(map)) return map;
    throw Error(Errc::invalid_argument,
                "feature_map: no such map (got " + std::string(name) + ", need ry or ryrz)");
}

namespace kernels {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, "kernel_matrix: " + what);
}

[[noreturn]] void refuse_option(const char* member, const char* where, const std::string& got,
                                const char* need) {
    refuse(std::string("KernelMatrixOptions::") + member + " does not apply " + where + " (got " + got +
           ", need " + need + ")");
}

std::string real_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

// `value` is not finite, or is too large to be scaled.
EncodeFault fault_of(double value) {
    return std::isnan(value)   ? EncodeFault::not_a_number
           : std::isinf(value) ? EncodeFault::infinite
                               : EncodeFault::out_of_range;
}

struct BadValue {
    std::uint64_t index = 0;
    double value = 0;
};

/// Numbers that are not finite once they are scaled: the first ones, how many there are, and one of each row.
struct BadValues {
    std::uint64_t count = 0;
    std::vector<BadValue> first;
    std::vector<EncodeFailure> rows;
};

/// Rows of `columns` elements, each of `parts` numbers.
struct RowWidth {
    std::uint64_t columns = 1, parts = 1;
};

template <class T>
BadValues find_bad(const T* data, std::uint64_t begin, std::uint64_t end, double scale, RowWidth width) {
    constexpr std::size_t kMostNamed = 3;
    BadValues bad;
    for (std::uint64_t i = begin; i < end; ++i) {
        const auto value = static_cast<double>(data[i]);
        if (std::isfinite(value * scale)) continue;
        ++bad.count;
        if (bad.first.size() < kMostNamed) bad.first.push_back({i, value});
        const std::uint64_t element = i / width.parts, row = element / width.columns;
        if (bad.rows.empty() || bad.rows.back().sample != row)
            bad.rows.push_back({row, element % width.columns, fault_of(value)});
    }
    return bad;
}

BadValues find_bad(const ConstHostArray& x, std::uint64_t begin, std::uint64_t end, double scale,
                   RowWidth width) {
    return x.type == kFloat32 ? find_bad(static_cast<const float*>(x.data), begin, end, scale, width)
                              : find_bad(static_cast<const double*>(x.data), begin, end, scale, width);
}

BadValues find_bad_in_parts(const ConstHostArray& x, double scale, RowWidth width, std::uint32_t threads) {
    // Starting a thread costs what reading about 512 KiB costs.
    constexpr std::uint64_t kValuesPerThread = 1u << 17;
    std::vector<BadValues> found(std::max(1u, threads));
    in_parts(x.size, kValuesPerThread, threads,
             [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
                 found[part] = find_bad(x, begin, end, scale, width);
             });
    BadValues bad;
    for (const BadValues& part : found) {
        bad.count += part.count;
        if (bad.first.empty()) bad.first = part.first;
        for (const EncodeFailure& row : part.rows)  // a row may lie in two parts
            if (bad.rows.empty() || bad.rows.back().sample != row.sample) bad.rows.push_back(row);
    }
    return bad;
}

std::string text_of(const char* what, const BadValues& bad, RowWidth width) {
    std::string text = std::string(what) + ": ";
    for (const BadValue& value : bad.first) {
        const std::uint64_t element = value.index / width.parts;
        text += (&value == bad.first.data() ? "row " : ", row ") + std::to_string(element / width.columns) +
                " column " + std::to_string(element % width.columns) + " is ";
        text += std::isfinite(value.value) ? "too large for the scale" : to_string(fault_of(value.value));
    }
    if (bad.count > bad.first.size()) text += " and so on";
    return text + " (got " + std::to_string(bad.count) + " such values, need 0)";
}

[[noreturn]] void refuse_rows(const std::string& what, std::vector<EncodeFailure> rows) {
    throw EncodeError("kernel_matrix: " + what, std::move(rows));
}

double square_norm(const ConstHostArray& parts, std::uint64_t first, std::uint64_t count) {
    double sum = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
        const double value = parts.type == kFloat32
                                 ? static_cast<double>(static_cast<const float*>(parts.data)[i])
                                 : static_cast<const double*>(parts.data)[i];
        sum += value * value;
    }
    return sum;
}

void check_count(const char* what, std::uint64_t got, std::uint64_t need, const char* unit) {
    if (got != need)
        refuse(std::string(what) + " does not fit the shape (got " + std::to_string(got) + " " + unit +
               ", need " + std::to_string(need) + ")");
}

// Refuses null, memory that is not aligned, and overlap of `k` with another array.
void check_memory(const char* what, const ConstHostArray& in, std::uint64_t alignment, const HostArray& k) {
    if (in.data == nullptr) refuse(std::string(what) + " is null");
    if (k.data == nullptr) refuse("k is null");
    const auto from = reinterpret_cast<std::uintptr_t>(in.data),
               to = reinterpret_cast<std::uintptr_t>(k.data);
    if (from % alignment != 0) refuse(std::string(what) + " is not aligned to its type");
    if (to % k.type.bytes() != 0) refuse("k is not aligned to its type");
    if (core::share_memory(core::span_of(in.data, in.bytes(), 0, false),
                           core::span_of(k.data, k.bytes(), 0, true)))
        refuse("k overlaps " + std::string(what) + " (need separate memory)");
}

// `parts`: real and imaginary parts of states of `amplitudes` each.
void check_finite_states(const char* what, const ConstHostArray& parts, std::uint64_t amplitudes,
                         ElementType k, std::uint32_t threads) {
    // K of a state with itself is the square of its square norm. K is never wider than the arithmetic.
    const bool narrow = k == kFloat32;
    const double most = narrow ? 1.8e19 : 1.3e154;
    const double part = std::sqrt(most / (2 * static_cast<double>(amplitudes)));
    const RowWidth width{amplitudes, 2};
    // One pass suffices if every value is small enough for any norm.
    if (find_bad_in_parts(parts, std::numeric_limits<double>::max() / part, width, threads).count == 0)
        return;
    BadValues bad = find_bad_in_parts(parts, 1, width, threads);
    if (bad.count != 0) refuse_rows(text_of(what, bad, width), std::move(bad.rows));
    double largest = 0;  // of the first state that is too large
    std::vector<EncodeFailure> rows;
    for (std::uint64_t row = 0; row < parts.size / 2 / amplitudes; ++row) {
        const double square = square_norm(parts, 2 * amplitudes * row, 2 * amplitudes);
        if (square <= most) continue;
        if (rows.empty()) largest = std::sqrt(square);
        rows.push_back({row, 0, EncodeFault::out_of_range});
    }
    if (rows.empty()) return;
    char text[128];
    std::snprintf(text, sizeof text, ": row %llu is too large for %s (got a norm of %.3g, need at most %.3g)",
                  static_cast<unsigned long long>(rows[0].sample), narrow ? "float32" : "float64", largest,
                  std::sqrt(most));
    refuse_rows(what + std::string(text), std::move(rows));
}

[[noreturn]] void refuse_type(const char* what, const char* verb, ElementType got, const char* need) {
    refuse(std::string(what) + verb + to_string(got) + " (got " + to_string(got) + ", need " + need + ")");
}

void check_arrays(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const ArrayFacts& k,
                  const KernelMatrixShape& shape, std::uint64_t row, const char* unit) {
    check_count("x", x.size, shape.samples * row, unit);
    if (y) {
        check_count("y", y->size, shape.others * row, unit);
        if (x.type != y->type)
            refuse("types differ (got X of " + to_string(x.type) + " and Y of " + to_string(y->type) +
                   ", need the same)");
    }
    check_real_type("k", k.type);
    check_count("k", k.size, shape.values(), "values");
}

std::uint32_t check_circuit(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit) {
    if (static_cast<unsigned>(circuit.map) > static_cast<unsigned>(FeatureMap::ryrz))
        refuse("no such map (got " + std::to_string(static_cast<int>(circuit.map)) + ", need 0 or 1)");
    if (!std::isfinite(circuit.scale))
        refuse("scale is " + std::string(to_string(fault_of(circuit.scale))) + " (need a finite number)");
    const ConstHostArray& w = circuit.weights;
    if (!w.empty() && w.type != kFloat32 && w.type != kFloat64)
        refuse_type("weights", " are of type ", w.type, "float32 or float64");
    if (w.size % shape.qubits != 0)
        refuse("weights: no whole layers (got " + std::to_string(w.size) + " numbers, need a multiple of " +
               std::to_string(shape.qubits) + ", the columns of X)");
    if (w.size / shape.qubits > 0xffffu)
        refuse("weights: too many layers (got " + std::to_string(w.size / shape.qubits) +
               ", need at most 65535)");
    if (w.size != 0 && w.data == nullptr) refuse("weights: null with a length");
    const RowWidth width{shape.qubits};
    const BadValues bad = find_bad(w, 0, w.size, 1, width);
    if (bad.count != 0) refuse(text_of("weights", bad, width));
    return static_cast<std::uint32_t>(w.size / shape.qubits);
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
    if (options.jitter != 0 && !options.normalize)
        refuse_option("jitter", "without normalize", real_text(options.jitter), "0");
}

void check_options_apply(const KernelMatrixOptions& options, const KernelMatrixShape& shape,
                         KernelMatrixMethod method) {
    if (options.jitter != 0 && !shape.square())
        refuse_option("jitter", "to K of X with Y, which has no diagonal", real_text(options.jitter), "0");
    if (method == KernelMatrixMethod::states) return;
    constexpr const char* kNoStates = "to a circuit in closed form, which builds no states";
    if (options.state_tile != -1)
        refuse_option("state_tile", kNoStates, std::to_string(options.state_tile), "-1");
    if (options.bulk_states == Choice::on) refuse_option("bulk_states", kNoStates, "on", "automatic or off");
    if (options.autotune == Choice::on) refuse_option("autotune", kNoStates, "on", "automatic or off");
}

KernelMatrixOptions host_options(const KernelMatrixHostOptions& options, bool stage_times) {
    core::require_members("kernel_matrix", options.batch, {.stage_times = stage_times});
    return {options.state_tile,    options.autotune,  options.bulk_states,
            options.vram_fraction, options.normalize, options.jitter};
}

void check_no_autotune(const KernelMatrixOptions& options) {
    if (options.autotune == Choice::on)
        refuse("KernelMatrixOptions::autotune does not apply to CUDA (got on, need automatic or off)");
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

std::uint64_t check_state_shape(const KernelMatrixShape& shape, bool with_y) {
    check_kernel_shape(shape, with_y);
    if (shape.qubits > 40 || std::max(shape.samples, shape.others) > std::uint64_t{1} << (58 - shape.qubits))
        refuse("too many amplitudes (got " + std::to_string(std::max(shape.samples, shape.others)) +
               " states of " + std::to_string(shape.qubits) + " qubits, need at most 2^58)");
    return std::uint64_t{1} << shape.qubits;
}

void check_real_type(const char* what, ElementType type) {
    if (type != kFloat32 && type != kFloat64) refuse_type(what, " is of type ", type, "float32 or float64");
}

CircuitFacts circuit_facts(const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit, bool on_host) {
    CircuitFacts facts;
    facts.map = circuit.map;
    facts.layers = check_circuit(shape, circuit);
    facts.reupload = circuit.reupload;
    facts.on_host = on_host;
    return facts;
}

CircuitFacts state_facts(ElementType type, bool on_host) {
    if (type != kComplex64 && type != kComplex128)
        refuse_type("states", " are of type ", type, "complex64 or complex128");
    CircuitFacts facts;
    facts.given = true;
    facts.given64 = type == kComplex128;
    facts.on_host = on_host;
    return facts;
}

void check_features(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const ArrayFacts& k,
                    const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    check_kernel_shape(shape, y.has_value());
    check_real_type("x", x.type);
    check_kernel_options(options);
    check_arrays(x, y, k, shape, shape.qubits, "values");
}

void check_states(const ArrayFacts& x, const std::optional<ArrayFacts>& y, const ArrayFacts& k,
                  const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    const std::uint64_t row = check_state_shape(shape, y.has_value());
    static_cast<void>(state_facts(x.type, false));
    check_kernel_options(options);
    check_arrays(x, y, k, shape, row, "amplitudes");
}

void check_host_features(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                         const KernelMatrixShape& shape, double scale, std::uint32_t threads) {
    for (const ConstHostArray* array : {&x, y}) {
        if (array == nullptr) continue;
        const char* what = array == y ? "y" : "x";
        check_memory(what, *array, array->type.bytes(), k);
        const RowWidth width{shape.qubits};
        BadValues bad = find_bad_in_parts(*array, scale, width, threads);
        if (bad.count != 0) refuse_rows(text_of(what, bad, width), std::move(bad.rows));
    }
}

void check_host_states(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                       const KernelMatrixShape& shape, std::uint32_t threads) {
    for (const ConstHostArray* array : {&x, y}) {
        if (array == nullptr) continue;
        const char* what = array == y ? "y" : "x";
        check_memory(what, *array, array->type.bytes() / 2, k);
        const ElementType part = array->type == kComplex128 ? kFloat64 : kFloat32;
        check_finite_states(what, {array->data, array->size * 2, part}, std::uint64_t{1} << shape.qubits,
                            k.type, threads);
    }
}

void check_features_alone(const char* function, const ConstHostArray& x, const ConstHostArray* y,
                          std::uint32_t qubits, double scale, std::uint32_t threads) {
    for (const ConstHostArray* array : {&x, y}) {
        if (array == nullptr) continue;
        const std::string what = std::string(function) + (array == y ? ": y" : ": x");
        if (array->data == nullptr) throw Error(Errc::invalid_argument, what + " is null");
        if (reinterpret_cast<std::uintptr_t>(array->data) % array->type.bytes() != 0)
            throw Error(Errc::invalid_argument, what + " is not aligned to its type");
        const RowWidth width{qubits};
        BadValues bad = find_bad_in_parts(*array, scale, width, threads);
        if (bad.count != 0) throw EncodeError(text_of(what.c_str(), bad, width), std::move(bad.rows));
    }
}

OpReport kernel_report(const KernelMatrixShape& shape, KernelMatrixMethod method, const ConstHostArray& x,
                       const ConstHostArray* y, const HostArray& k) {
    OpReport report;
    report.op = "kernel_matrix";
    report.method = to_string(method);
    report.items = shape.pairs();
    report.jobs = 1;
    report.elements = k.size;
    report.bytes_in = x.bytes() + (y != nullptr ? y->bytes() : 0);
    report.bytes_out = k.bytes();
    return report;
}

}  // namespace kernels
}  // namespace weft
