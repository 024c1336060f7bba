// SPDX-License-Identifier: Apache-2.0
// What memory an encode takes, and how a streamed one is cut so that it fits: pure functions.
#pragma once

#include <cstdint>

#include "ops/encode/encode_plan.hpp"

namespace weft::kernels {

/// Device memory of a resident encode in addition to values and states, in rounded buffers.
std::uint64_t scratch_bytes(const EncodePlan& plan);

/// Samples of a job of run_batch.
std::uint64_t rows_per_job(const EncodePlan& plan);

/// The memory and the settings that a backend has for an encode.
struct EncodeRoom {
    std::uint32_t slots = 3;
    bool copies = true;  ///< chunks of run_batch may be staged, and then lie in host and in device memory
    std::uint64_t chunk_elements = kDefaultChunkElements;
    bool chunk_exact = false;     ///< chunk_elements was set, and bounds the samples of a round too
    std::uint64_t available = 0;  ///< bytes of the device, within Config::memory_limit
};

/// Parts of a streamed amplitude row that needs several dispatches. The device holds the values of `held`
/// parts: all of the row, or two parts that take turns and are uploaded once more when they are read once
/// more.
struct AmplitudeParts {
    std::uint32_t bits = 0;
    std::uint64_t size = 0;             ///< values, and amplitudes: 2^bits
    std::uint64_t count = 0, used = 0;  ///< of the state, and of its values
    std::uint64_t held = 0;
};

/// How an encode that needs several dispatches is streamed.
struct EncodeRounds {
    enum class Kind {
        rows,     ///< several whole samples at a time
        parts,    ///< part by part of one amplitude sample after the other
        windows,  ///< one iqp sample after the other, with all of its windows held
    };
    Kind kind = Kind::rows;
    std::uint64_t rows = 1, sets = 1;  ///< samples a round; sets of buffers that take turns
    AmplitudeParts parts;
};
/// The usual cut. `most_rows` is what the caller asked for; 0: nothing.
EncodeRounds usual_rounds(const EncodePlan& plan, const DeviceInfo& device, std::uint64_t most_rows);
/// Makes the next smaller cut. false: there is none.
bool shrink(EncodeRounds& rounds, const EncodePlan& plan);
/// The largest cut whose memory is within `bytes`, or the smallest cut if none is.
EncodeRounds fit_rounds(const EncodePlan& plan, const DeviceInfo& device, std::uint64_t most_rows,
                        std::uint64_t bytes);

/// Bounds of the memory that streamed encodes take, with staging memory and unused ends of blocks.
std::uint64_t rounds_bytes(const EncodePlan& plan, const DeviceInfo& device, const EncodeRounds& rounds);
std::uint64_t jobs_bytes(const EncodePlan& plan, const EncodeRoom& room);
/// The least memory that a streamed encode needs.
std::uint64_t least_bytes(const EncodePlan& plan, const DeviceInfo& device, bool copies);

EncodeEstimate estimate(const DeviceInfo& device, const EncodeRoom& room, EncodeMethod method,
                        EncodeTypes types, const StateShape& shape, std::uint64_t features);

}  // namespace weft::kernels
