// SPDX-License-Identifier: Apache-2.0
// Encodes that several devices share: parts of consecutive samples of a list of arrays, and what failed in
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <weft/ops/encode.hpp>

namespace weft::kernels {

/// Samples of the arrays that make a share, and where they come from.
struct EncodeSamples {
    std::vector<EncodeJob> parts;
    std::vector<std::uint64_t> first;  ///< of each part, counted over all arrays
};

class EncodeArrays {
  public:
    EncodeArrays(std::span<const EncodeJob> arrays, std::uint32_t qubits, std::uint64_t features)
        : arrays_(arrays),
          value_bytes_(arrays.empty() ? 0 : features * arrays[0].values.type.bytes()),
          state_bytes_(arrays.empty() ? 0 : std::uint64_t{arrays[0].states.type.bytes()} << qubits),
          features_(features),
          qubits_(qubits) {
        for (const EncodeJob& array : arrays) ends_.push_back(samples() + array.samples);
    }

    std::uint64_t samples() const { return ends_.empty() ? 0 : ends_.back(); }
    std::uint64_t sample_bytes() const { return value_bytes_ + state_bytes_; }

    EncodeSamples cut(std::uint64_t first, std::uint64_t count) const {
        EncodeSamples share;
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), first);
        for (auto array = static_cast<std::size_t>(found - ends_.begin()); count != 0; ++array) {
            const std::uint64_t begin = array == 0 ? 0 : ends_[array - 1], row = first - begin;
            const std::uint64_t rows = std::min(count, ends_[array] - first);
            share.parts.push_back(part(arrays_[array], row, rows));
            share.first.push_back(first);
            first += rows;
            count -= rows;
        }
        return share;
    }

  private:
    EncodeJob part(const EncodeJob& array, std::uint64_t row, std::uint64_t rows) const {
        const auto* values = static_cast<const std::byte*>(array.values.data) + row * value_bytes_;
        auto* states = static_cast<std::byte*>(array.states.data) + row * state_bytes_;
        return {{values, rows * features_, array.values.type},
                {states, rows << qubits_, array.states.type},
                rows};
    }

    std::span<const EncodeJob> arrays_;
    std::uint64_t value_bytes_, state_bytes_, features_;  // of a sample
    std::uint32_t qubits_;
    std::vector<std::uint64_t> ends_;  // samples up to the end of each array
};

/// The samples that failed on any device, counted over all arrays.
class EncodeShareFailures {
  public:
    /// `first`: of each array of the call that failed, as in EncodeSamples.
    void add(const EncodeError& error, std::span<const std::uint64_t> first) {
        const std::lock_guard lock(mutex_);
        for (EncodeFailure failure : error.failures()) {
            failure.sample += first[failure.job];
            failure.job = 0;
            all_.push_back(failure);
        }
    }
    std::vector<EncodeFailure> sorted() {
        std::sort(all_.begin(), all_.end(),
                  [](const EncodeFailure& a, const EncodeFailure& b) { return a.sample < b.sample; });
        return std::move(all_);
    }

  private:
    std::mutex mutex_;
    std::vector<EncodeFailure> all_;
};

}  // namespace weft::kernels
