// SPDX-License-Identifier: Apache-2.0
// The tuning of a device on disk: a flat JSON object that people can read. It is used only if every part of
// it is as this version of weft writes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/tune/engine.hpp>

#include "plan/device/device_snapshot.hpp"

namespace weft::core {

/// The device that a tuning belongs to. Any difference is a miss.
struct TuningIdentity {
    std::array<std::uint8_t, 16> device{}, driver{};  // UUIDs
    std::uint32_t driver_version = 0;
    std::string weft;  // version of the library
};

TuningIdentity tuning_identity(const DeviceSnapshot& device);

inline constexpr std::size_t kMaxTuningBytes = 4096;

/// There is one file for each device.
std::string tuning_file_name(const TuningIdentity& identity);
std::string encode_tuning(const TuningIdentity& identity, const tune::Engine& tuning);

struct DecodedTuning {
    tune::Engine tuning;  // empty when refused
    std::string refused;  // empty: usable
};
DecodedTuning decode_tuning(const TuningIdentity& identity, std::string_view text);

/// Says what is out of range; empty: nothing is.
std::string check_tuning(const tune::Engine& tuning);

/// The tuning that the cache folder holds for the device. Damaged files are reported, not thrown.
tune::EngineReport load_tuning(const DeviceSnapshot& device, const Config& config);

}  // namespace weft::core
