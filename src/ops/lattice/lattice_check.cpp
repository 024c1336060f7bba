// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/lattice_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/ops/encode_error.hpp>

#include "base/refusal.hpp"
#include "base/span_set.hpp"
#include "host/thread_parts.hpp"
#include "ops/lattice/lattice_resident.hpp"

namespace weft::kernels {
namespace {

std::string float_text(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
}

constexpr std::size_t kNone = ~std::size_t{0};

// What scan(first, last) returns for each part of `count` indices, then `nothing` for each thread without a
// part. A part has at least `worth` indices, because starting a thread costs what reading about 512 KiB
// costs.
template <class Found, class Scan>
std::vector<Found> over_threads(std::size_t count, std::size_t worth, std::uint32_t threads, Found nothing,
                                const Scan& scan) {
    std::vector<Found> found(std::max(1u, threads), nothing);
    in_parts(count, worth, threads, [&](std::uint64_t part, std::uint64_t first, std::uint64_t last) {
        found[part] = scan(first, last);
    });
    return found;
}

// The lowest index below `count` that scan(first, last) finds in its range, or kNone.
template <class Scan>
std::size_t find_threaded(std::size_t count, std::size_t worth, std::uint32_t threads, const Scan& scan) {
    const std::vector<std::size_t> found = over_threads(count, worth, threads, kNone, scan);
    return *std::min_element(found.begin(), found.end());
}

std::uint32_t magnitude(float x) {
    return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
}

constexpr std::uint32_t kInfinity = 0x7f800000u;

// Looks at the maximum of whole parts, which compilers turn into vector code, and then for the value.
std::size_t find_not_finite(const float* x, std::size_t first, std::size_t last) {
    constexpr std::size_t kPart = 4096;
    for (std::size_t at = first; at < last; at += kPart) {
        const std::size_t end = std::min(last, at + kPart);
        std::uint32_t most = 0;
        for (std::size_t i = at; i < end; ++i) most = std::max(most, magnitude(x[i]));
        if (most < kInfinity) continue;
        for (std::size_t i = at; i < end; ++i)
            if (magnitude(x[i]) >= kInfinity) return i;
    }
    return kNone;
}

// Every row with such a value from `at` on.
std::vector<EncodeFailure> rows_not_finite(std::span<const float> x, std::size_t width, std::size_t at) {
    std::vector<EncodeFailure> rows;
    while ((at = find_not_finite(x.data(), at, x.size())) != kNone) {
        rows.push_back({at / width, at % width,
                        magnitude(x[at]) == kInfinity ? EncodeFault::infinite : EncodeFault::not_a_number});
        at = (at / width + 1) * width;
    }
    return rows;
}

std::uint32_t digit_at(std::span<const std::uint8_t> codes, std::size_t index, std::uint32_t bits) {
    const std::size_t at = index * bits;
    std::uint32_t word = codes[at / 8];
    if (at / 8 + 1 < codes.size()) word |= std::uint32_t{codes[at / 8 + 1]} << 8;
    return (word >> (at % 8)) & ((1u << bits) - 1);
}

std::size_t find_bad_byte(std::span<const std::uint8_t> codes, std::uint32_t q, std::size_t first,
                          std::size_t last) {
    constexpr std::size_t kPart = 16384;
    for (std::size_t at = first; at < last; at += kPart) {
        const std::size_t end = std::min(last, at + kPart);
        std::uint8_t most = 0;
        for (std::size_t i = at; i < end; ++i) most = std::max(most, codes[i]);
        if (most < q) continue;
        for (std::size_t i = at; i < end; ++i)
            if (codes[i] >= q) return i;
    }
    return kNone;
}

}  // namespace

void check_lattice_code(const char* function, const LatticeCode& code) {
    const auto bad = [&](const char* member, const std::string& got, const std::string& need) {
        core::refuse(function,
                     std::string("LatticeCode::") + member + " is out of range" + core::got_need(got, need));
    };
    if (code.lattice != Lattice::z2 && code.lattice != Lattice::d4 && code.lattice != Lattice::e8)
        bad("lattice", std::to_string(static_cast<int>(code.lattice)), "z2, d4 or e8");
    if (code.q == 2)
        core::refuse(function,
                     "LatticeCode::q is 2, which has no code for positive values: halves round up, so "
                     "digits of an even base reach further down than up, and of base 2 only down" +
                         core::got_need("2", "3 to 16"));
    if (code.q < 2 || code.q > 16) bad("q", std::to_string(code.q), "3 to 16");
    if (code.levels < 1 || code.levels > 4) bad("levels", std::to_string(code.levels), "1 to 4");
    constexpr float kLeast = 0x1p-40f, kMost = 0x1p40f;
    if (!(code.beta >= kLeast && code.beta <= kMost)) bad("beta", float_text(code.beta), "2^-40 to 2^40");
    if (!(code.alpha > 0.0f && code.alpha <= 4.0f))
        bad("alpha", float_text(code.alpha), "above 0, at most 4");
    const std::uint32_t most = most_retries(code.alpha);
    if (code.max_retries > most)
        bad("max_retries", std::to_string(code.max_retries),
            "at most " + std::to_string(most) + " with this alpha");
    if (!code.dither_seed && code.dither_first != 0)
        core::refuse(function, "LatticeCode::dither_first does not apply without dither_seed" +
                                   core::got_need(std::to_string(code.dither_first), "0"));
}

void check_size(const char* function, const char* name, const char* unit, std::size_t got, std::size_t need) {
    if (got == need) return;
    core::refuse(function, std::string(name) + " does not fit the shape" +
                               core::got_need(std::to_string(got) + " " + unit, std::to_string(need)));
}

void check_lattice_spans(const char* function, std::span<const NamedSpan> inputs,
                         std::span<const NamedSpan> outputs, bool in_place) {
    for (const auto& spans : {inputs, outputs})
        for (const NamedSpan& s : spans)
            if (s.data == nullptr && s.bytes != 0)
                core::refuse(function,
                             std::string(s.name) + " is null" +
                                 core::got_need(std::to_string(s.bytes) + " bytes", "memory behind them"));
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const NamedSpan& out = outputs[o];
        const auto separate = [&](const NamedSpan& other) {
            if (!core::share_memory(core::span_of(out.data, out.bytes, 0, true),
                                    core::span_of(other.data, other.bytes, 0, true)))
                return;
            core::refuse(function, std::string(out.name) + " overlaps " + other.name +
                                       core::got_need("common memory",
                                                      in_place ? "separate spans, or the same for y and x"
                                                               : "separate spans"));
        };
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const bool same = out.data == inputs[i].data && out.bytes == inputs[i].bytes;
            if (!(in_place && o == 0 && i == 0 && same)) separate(inputs[i]);
        }
        for (std::size_t i = 0; i < o; ++i) separate(outputs[i]);
    }
}

void check_finite(const char* function, std::span<const float> x, std::size_t width, std::uint32_t threads) {
    const std::size_t at = find_threaded(
        x.size(), 1u << 19, threads,
        [&](std::size_t first, std::size_t last) { return find_not_finite(x.data(), first, last); });
    if (at == kNone) return;
    throw EncodeError(std::string(function) + ": value " + std::to_string(at % width) + " of row " +
                          std::to_string(at / width) + " is not finite" +
                          core::got_need(float_text(x[at]), "a number"),
                      rows_not_finite(x, width, at));
}

void check_digits(const char* function, const LatticeCode& code, std::span<const std::uint8_t> codes,
                  std::size_t vectors, std::uint32_t threads) {
    const std::uint32_t bits = digit_bits(code);
    if (bits < 8 && code.q == 1u << bits) return;  // every pattern is a digit
    const std::size_t each = std::size_t{code.levels} * dimension(code.lattice);
    const auto digit = [&](std::size_t i) { return bits == 8 ? codes[i] : digit_at(codes, i, bits); };
    const auto scan = [&](std::size_t first, std::size_t last) {
        if (bits == 8) return find_bad_byte(codes, code.q, first, last);
        for (std::size_t i = first; i < last; ++i)
            if (digit(i) >= code.q) return i;
        return kNone;
    };
    const std::size_t worth = bits == 8 ? 1u << 21 : 1u << 16;
    const std::size_t at = find_threaded(vectors * each, worth, threads, scan);
    if (at == kNone) return;
    std::vector<EncodeFailure> bad;
    for (std::size_t i = at; i < vectors * each; ++i) {
        if (digit(i) < code.q) continue;
        bad.push_back({i / each, i % each, EncodeFault::out_of_range});
        i += each - 1 - i % each;  // to the next vector
    }
    const std::size_t level = at % each / dimension(code.lattice), i = at % dimension(code.lattice);
    throw EncodeError(std::string(function) + ": digit " + std::to_string(i) + " of level " +
                          std::to_string(level) + " of vector " + std::to_string(at / each) +
                          " is out of range" +
                          core::got_need(std::to_string(digit(at)), "below q = " + std::to_string(code.q)),
                      std::move(bad));
}

namespace {

// Counts by parts, because most parts are zeros and compilers turn loops without branches into vector code.
StatusCount count_range(std::span<const std::uint8_t> status, std::size_t first, std::size_t last) {
    constexpr std::size_t kPart = 4096;
    StatusCount count;
    for (std::size_t at = first; at < last; at += kPart) {
        const auto part = status.subspan(at, std::min(kPart, last - at));
        std::uint8_t any = 0;
        for (const std::uint8_t s : part) any |= s;
        if (any == 0) continue;
        std::uint32_t retried = 0, unresolved = 0, bad = 0, most = 0;
        for (const std::uint8_t s : part) {
            retried += (s & kLatticeRetries) != 0 ? 1u : 0u;
            unresolved += s >> 7;
            bad += s == kLatticeNotFinite ? 1u : 0u;
            most = std::max(most, s == kLatticeNotFinite ? 0u : s & kLatticeRetries);
        }
        if (bad != 0 && count.not_finite == 0)
            count.first_not_finite =
                at + static_cast<std::size_t>(std::find(part.begin(), part.end(), kLatticeNotFinite) -
                                              part.begin());
        count.not_finite += bad;
        count.retried += retried - bad;
        count.unresolved += unresolved - bad;
        count.most_retries = std::max(count.most_retries, most);
    }
    return count;
}

}  // namespace

void StatusCount::add(const StatusCount& later) {
    if (not_finite == 0) first_not_finite = later.first_not_finite;
    retried += later.retried;
    unresolved += later.unresolved;
    not_finite += later.not_finite;
    most_retries = std::max(most_retries, later.most_retries);
}

StatusCount count_statuses(std::span<const std::uint8_t> status, std::uint32_t threads, std::size_t first) {
    const std::vector<StatusCount> parts = over_threads(
        status.size() - first, 1u << 21, threads, StatusCount{},
        [&](std::size_t from, std::size_t to) { return count_range(status, first + from, first + to); });
    StatusCount count;
    for (const StatusCount& part : parts) count.add(part);
    return count;
}

StatusCount check_statuses(const char* function, const LatticeCode& code,
                           std::span<const std::uint8_t> status, std::uint32_t threads) {
    const StatusCount count = count_statuses(status, threads);
    if (count.not_finite == 0 && count.most_retries <= code.max_retries) return count;
    std::vector<EncodeFailure> bad;
    for (std::size_t i = 0; i < status.size(); ++i)
        if (status[i] == kLatticeNotFinite)
            bad.push_back({i, 0, EncodeFault::not_a_number});
        else if ((status[i] & kLatticeRetries) > code.max_retries)
            bad.push_back({i, 0, EncodeFault::out_of_range});
    const std::string at = std::to_string(bad[0].sample);
    const std::uint8_t first = status[bad[0].sample];
    throw EncodeError(
        std::string(function) + ": " +
            (first == kLatticeNotFinite
                 ? "vector " + at + " was not finite when it was encoded" +
                       core::got_need("status 255", "a number of retries")
                 : "status of vector " + at + " has too many retries" +
                       core::got_need(std::to_string(first & kLatticeRetries),
                                      "at most max_retries = " + std::to_string(code.max_retries))),
        std::move(bad));
}

Statuses::Statuses(const char* function, std::span<std::uint8_t> given, std::size_t vectors) : span_(given) {
    if (!given.empty() || given.data() != nullptr) {
        check_size(function, "status", "bytes", given.size(), vectors);
        return;
    }
    own_ = std::make_unique_for_overwrite<std::uint8_t[]>(vectors);
    span_ = {own_.get(), vectors};
}

void check_forward(const char* function, std::span<const float> x, const NamedSpan& out,
                   std::span<const std::uint8_t> status, bool in_place) {
    const std::array<NamedSpan, 1> inputs{{{"x", x.data(), x.size_bytes()}}};
    const std::array<NamedSpan, 2> outputs{{out, {"status", status.data(), status.size()}}};
    check_lattice_spans(function, inputs, outputs, in_place);
}

DecodeCall check_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<const float> x,
                        const LatticeDecodeHostOptions& options, std::uint32_t threads) {
    const char* function = "lattice_decode";
    DecodeCall call{checked_shape(function, code, x.size(), options.width),
                    checked_depth(function, code, options.depth),
                    !status.empty() || status.data() != nullptr,
                    {}};
    check_size(function, "codes", "bytes", codes.size(), code_bytes(code, call.shape.vectors()));
    if (call.retries) check_size(function, "status", "bytes", status.size(), call.shape.vectors());
    const std::array<NamedSpan, 2> inputs{
        {{"codes", codes.data(), codes.size()}, {"status", status.data(), status.size()}}};
    const std::array<NamedSpan, 1> outputs{{{"x", x.data(), x.size_bytes()}}};
    check_lattice_spans(function, inputs, outputs, false);
    if (options.check_values) check_digits(function, code, codes, call.shape.vectors(), threads);
    call.count = options.check_values ? check_statuses(function, code, status, threads)
                                      : count_statuses(status, threads);
    return call;
}

OpReport lattice_report(const char* function, const LatticeShape& shape, const StatusCount& count,
                        BatchReport batch) {
    OpReport report;
    static_cast<BatchReport&>(report) = std::move(batch);
    report.op = function;
    report.items = shape.vectors();
    report.retried = count.retried;
    report.unresolved = count.unresolved;
    return report;
}

OpReport forward_report(const char* function, const LatticeShape& shape, std::span<const float> x,
                        const StatusCount& count, BatchReport batch) {
    if (count.not_finite == 0) return lattice_report(function, shape, count, std::move(batch));
    std::vector<EncodeFailure> rows =
        rows_not_finite(x, shape.given_width, count.first_not_finite / shape.tiles * shape.width);
    if (rows.empty())  // another thread has changed x
        rows.push_back({count.first_not_finite / shape.tiles * shape.width / shape.given_width, 0,
                        EncodeFault::not_a_number});
    const std::string text = std::string(function) + ": value " + std::to_string(rows[0].position) +
                             " of row " + std::to_string(rows[0].sample) + " is not finite" +
                             core::got_need(std::to_string(count.not_finite) + " of " +
                                                std::to_string(shape.vectors()) + " vectors with such values",
                                            "none; all others are done");
    throw EncodeError(text, std::move(rows));
}

}  // namespace weft::kernels
