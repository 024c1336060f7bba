// SPDX-License-Identifier: Apache-2.0
// The dispatches an encode is made of, on ranges of buffers that each fit one binding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <weft/buffer.hpp>
#include <weft/stream.hpp>

#include "ops/encode/encode_plan.hpp"
#include "ops_vulkan/encode/encode_programs.hpp"

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;
using ConstWords = BufferView<const std::uint32_t>;

/// Values from some sample on, bound at an aligned offset before them.
struct BoundValues {
    ConstWords words;
    std::uint32_t before = 0;  ///< values before the first
};

/// `count` values from `first` on. Errors: invalid_argument - none.
BoundValues bind_values(const EncodePlan& plan, const std::shared_ptr<core::BufferObject>& object,
                        std::uint64_t first, std::uint64_t count);

/// Words [byte / 4, (byte + bytes) / 4) of a buffer.
Words byte_view(const std::shared_ptr<core::BufferObject>& object, std::uint64_t byte, std::uint64_t bytes);

/// Device memory that an encode of plan.samples samples needs beside values, states and status.
struct EncodeScratch {
    EncodeScratch(const Stream& stream, const EncodePlan& plan);
    std::optional<Buffer<std::uint32_t>> tasks;         ///< where workgroups share rows
    std::optional<Buffer<std::uint32_t>> blocks, rows;  ///< norms, of amplitude_long
};

/// Records on a stream; `status` holds two words a sample.
class EncodeSteps {
  public:
    EncodeSteps(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch, Words status,
                bool check_only);

    /// Elements [base, base + count) of the samples from `row` on into `states`, passes above the slab
    /// excluded.
    void states(const BoundValues& values, std::uint64_t row, std::uint64_t base, std::uint64_t count,
                const Words& states);
    /// The passes of iqp over states that were bound whole, or over a window of one.
    void passes(const Words& states);
    /// iqp: the bit of the index that tells two windows apart.
    void pair(const Words& lower, const Words& upper);

    /// Norms of the blocks of `rows` samples from `row` on, or of a part of one sample that begins at block
    /// `block`: `features` values a row are in the bound range.
    void norm_blocks(const BoundValues& values, std::uint64_t row, std::uint64_t rows, std::uint64_t block,
                     std::uint64_t features);
    void norm_rows(std::uint64_t row, std::uint64_t rows);
    /// States, or a window of a state, of 2^bits amplitudes each.
    void scale(const BoundValues& values, std::uint64_t row, std::uint64_t features, std::uint32_t bits,
               const Words& states);

  private:
    Stream& stream_;
    const EncodePlan& plan_;
    const EncodeScratch& scratch_;
    Words status_;
    std::uint32_t flags_;
};

/// Everything of plan.samples samples that are resident, into states that are.
void encode_resident(Stream& stream, const EncodePlan& plan, const EncodeScratch& scratch,
                     const ConstDeviceArray& values, const DeviceArray& states, const Words& status,
                     bool check_only);

}  // namespace weft::kernels
