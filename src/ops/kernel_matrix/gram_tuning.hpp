// SPDX-License-Identifier: Apache-2.0
// Tiles of the Gram product that were measured on a device: on which products, and how the file that keeps
// them is written. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::kernels {

/// What measured tiles belong to. Tiles of another identity are not used.
struct GramTuningIdentity {
    std::string device;  ///< its UUID
    std::string driver;  ///< name and version
    std::uint32_t driver_version = 0;
    std::string weft;           ///< version of the library
    std::uint64_t kernels = 0;  ///< digest of the shaders that were measured
    bool operator==(const GramTuningIdentity&) const = default;
};

inline constexpr std::size_t kMaxGramTuningBytes = 32768;

/// Each device has one file.
std::string gram_tuning_file_name(const GramTuningIdentity& identity);
std::string encode_gram_tuning(const GramTuningIdentity& identity, const GramTiles& tiles);

struct DecodedGramTuning {
    GramTiles tiles;      ///< empty when refused
    std::string refused;  ///< why the text is not used; empty: it is
};
DecodedGramTuning decode_gram_tuning(const GramTuningIdentity& identity, std::string_view text);

/// The product on which tiles are compared: a rectangle of about the planned size, with no more rows than
/// planned and at most `flops` operations (0: no limit).
GramProblem gram_trial(const GramPlan& plan, double flops);

/// The part of the operations of a job that a trial of one tile may take.
inline constexpr double kGramTrialShare = 1.0 / 300;

}  // namespace weft::kernels
