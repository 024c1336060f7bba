// SPDX-License-Identifier: Apache-2.0
// The test shaders, jobs for the most general of them, and a check that a backend still works.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <weft/weft.hpp>

#include "support/field_oracle.hpp"

namespace weft_test {

inline constexpr std::uint32_t kAffine[] = {
#include "shaders/affine.spv.inc"
};
inline constexpr std::uint32_t kSlow[] = {
#include "shaders/slow.spv.inc"
};
inline constexpr std::uint32_t kInPlace[] = {
#include "shaders/in_place.spv.inc"
};

inline constexpr std::uint32_t kGuardWord = 0xdeadbeef;

inline std::vector<std::uint32_t> words(std::size_t count, std::uint32_t seed = 1) {
    std::vector<std::uint32_t> values(count);
    std::uint32_t state = seed * 2654435761u + 12345u;
    for (std::uint32_t& v : values) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        v = state;
    }
    return values;
}

struct AffineParameters {
    std::uint32_t factor, offset;
};

/// Jobs for affine.comp, y[i] = x[i] * factor + offset + i, with guard words after each output.
class AffineWork {
  public:
    explicit AffineWork(const std::vector<std::size_t>& counts, std::uint32_t seed = 1) {
        in_.reserve(counts.size());
        out_.reserve(counts.size());
        for (std::size_t j = 0; j < counts.size(); ++j) {
            in_.push_back(words(counts[j], seed + static_cast<std::uint32_t>(j)));
            out_.emplace_back(counts[j] + kGuards, kGuardWord);
            const AffineParameters p{3 + 2 * static_cast<std::uint32_t>(j), seed * 77};
            parameters_.push_back(p);
            weft::Job job;
            job.inputs = {in_[j]};
            job.outputs = {std::span(out_[j]).first(counts[j])};
            job.elements = counts[j];
            job.parameters = p;
            jobs.push_back(job);
        }
    }

    bool right(std::size_t job) const {
        const auto& in = in_[job];
        const auto& out = out_[job];
        const AffineParameters p = parameters_[job];
        for (std::size_t i = 0; i < in.size(); ++i)
            if (out[i] != in[i] * p.factor + p.offset + static_cast<std::uint32_t>(i)) return false;
        return std::all_of(out.end() - kGuards, out.end(), [](std::uint32_t v) { return v == kGuardWord; });
    }
    bool right() const {
        for (std::size_t j = 0; j < jobs.size(); ++j)
            if (!right(j)) return false;
        return true;
    }
    bool untouched() const {
        for (const auto& out : out_)
            if (!std::all_of(out.begin(), out.end(), [](std::uint32_t v) { return v == kGuardWord; }))
                return false;
        return true;
    }
    void clear() {
        for (auto& out : out_) std::fill(out.begin(), out.end(), kGuardWord);
    }
    const std::vector<std::uint32_t>& in(std::size_t job) const { return in_[job]; }
    std::vector<std::uint32_t>& out(std::size_t job) { return out_[job]; }

    std::vector<weft::Job> jobs;

  private:
    static constexpr std::ptrdiff_t kGuards = 8;
    std::vector<std::vector<std::uint32_t>> in_, out_;
    std::vector<AffineParameters> parameters_;
};

/// The result of slow.comp for a value.
inline std::uint32_t slow_result(std::uint32_t v, std::uint32_t rounds) {
    for (std::uint32_t k = 0; k < 8 * rounds; ++k) v = v * 1664525u + 1013904223u;
    return v;
}

/// Checks that the next call runs normally after a refused call.
inline void check_usable(weft::Backend& backend) {
    const auto a = random_elements(37, 5), b = random_elements(37, 6);
    std::vector<std::uint64_t> out(a.size());
    weft::field_add(backend, weft::Field::bls12_381_fp, a, b, out);
    CHECK(out == expected(weft::FieldOp::add, a, b));
}

}  // namespace weft_test
