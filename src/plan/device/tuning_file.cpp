// SPDX-License-Identifier: Apache-2.0
#include "plan/device/tuning_file.hpp"

#include <charconv>
#include <optional>

#include <weft/version.hpp>

#include "base/bytes.hpp"
#include "base/cache_file.hpp"
#include "base/json.hpp"

namespace weft::core {
namespace {

constexpr const char* kSchema = "1";
constexpr Path kPaths[] = {Path::automatic, Path::staged, Path::direct, Path::imported, Path::host};

/// Returns false if the member is there but is not a number of this type.
template <class Integer>
bool take_number(FlatMembers& members, const char* name, std::optional<Integer>& out) {
    const std::string text = taken(members, name);
    if (text.empty()) return true;
    Integer value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size()) return false;
    out = value;
    return true;
}

bool take_path(FlatMembers& members, const char* name, Path& out) {
    const std::string text = taken(members, name);
    if (text.empty()) return true;
    for (const Path path : kPaths)
        if (text == '"' + std::string(to_string(path))) return out = path, true;
    return false;
}

}  // namespace

std::string tuning_file_name(const TuningIdentity& identity) {
    return "tuning-" + hex(identity.device) + ".json";
}

std::string encode_tuning(const TuningIdentity& identity, const tune::Engine& tuning) {
    std::string out = std::string("{\n  \"schema\": ") + kSchema;
    const auto text = [&](const char* name, const std::string& value) {
        out += std::string(",\n  \"") + name + "\": \"" + value + "\"";
    };
    const auto number = [&](const char* name, std::uint64_t value) {
        out += std::string(",\n  \"") + name + "\": " + std::to_string(value);
    };
    text("weft", identity.weft);
    text("device", hex(identity.device));
    text("driver", hex(identity.driver));
    number("driver_version", identity.driver_version);
    if (tuning.chunk_bytes) number("chunk_bytes", *tuning.chunk_bytes);
    if (tuning.ring_slots) number("ring_slots", *tuning.ring_slots);
    if (tuning.copy_threads) number("copy_threads", *tuning.copy_threads);
    if (tuning.page_locked_path != Path::automatic)
        text("page_locked_path", to_string(tuning.page_locked_path));
    if (tuning.ordinary_path != Path::automatic) text("ordinary_path", to_string(tuning.ordinary_path));
    if (tuning.ntt_tile_bytes) number("ntt_tile_bytes", *tuning.ntt_tile_bytes);
    return out + "\n}\n";
}

DecodedTuning decode_tuning(const TuningIdentity& identity, std::string_view text) {
    const auto refuse = [](std::string reason) { return DecodedTuning{{}, std::move(reason)}; };
    if (text.size() > kMaxTuningBytes) return refuse("damaged: too long for a tuning");
    auto members = read_flat_json(text);
    if (!members) return refuse("damaged: not what weft writes");
    if (taken(*members, "schema") != kSchema) return refuse("of another schema");
    if (taken(*members, "weft") != '"' + identity.weft) return refuse("of another version of weft");
    if (taken(*members, "device") != '"' + hex(identity.device)) return refuse("belongs to another device");
    if (taken(*members, "driver") != '"' + hex(identity.driver) ||
        taken(*members, "driver_version") != std::to_string(identity.driver_version))
        return refuse("belongs to another driver");
    tune::Engine tuning;
    const bool legal = take_number(*members, "chunk_bytes", tuning.chunk_bytes) &&
                       take_number(*members, "ring_slots", tuning.ring_slots) &&
                       take_number(*members, "copy_threads", tuning.copy_threads) &&
                       take_path(*members, "page_locked_path", tuning.page_locked_path) &&
                       take_path(*members, "ordinary_path", tuning.ordinary_path) &&
                       take_number(*members, "ntt_tile_bytes", tuning.ntt_tile_bytes);
    if (!legal || !members->empty()) return refuse("damaged: a member that weft does not write");
    if (const std::string what = check_tuning(tuning); !what.empty()) return refuse("damaged: " + what);
    return {tuning, {}};
}

std::string check_tuning(const tune::Engine& tuning) {
    const auto outside = [](std::optional<std::uint64_t> value, std::uint64_t most) {
        return value && (*value < 1 || *value > most);
    };
    const auto text = [](const char* name, std::uint64_t got, const char* most) {
        return std::string(name) + " is out of range (got " + std::to_string(got) + ", need 1 to " + most +
               ")";
    };
    if (outside(tuning.chunk_bytes, std::uint64_t{1} << 40))
        return text("chunk_bytes", *tuning.chunk_bytes, "2^40");
    if (outside(tuning.ring_slots, 16)) return text("ring_slots", *tuning.ring_slots, "16");
    if (outside(tuning.copy_threads, 256)) return text("copy_threads", *tuning.copy_threads, "256");
    if (tuning.ntt_tile_bytes && (*tuning.ntt_tile_bytes < 1024 || *tuning.ntt_tile_bytes > 1 << 20))
        return "ntt_tile_bytes is out of range (got " + std::to_string(*tuning.ntt_tile_bytes) +
               ", need 1024 to 2^20)";
    for (const Path path : {tuning.page_locked_path, tuning.ordinary_path})
        if (path < Path::automatic || path > Path::host)
            return "path is none (got " + std::to_string(static_cast<int>(path)) + ", need one of Path)";
    return {};
}

TuningIdentity tuning_identity(const DeviceSnapshot& device) {
    return {device.uuid, device.driver_uuid, device.driver_version, WEFT_VERSION_STRING};
}

tune::EngineReport load_tuning(const DeviceSnapshot& device, const Config& config) {
    tune::EngineReport report;
    const auto folder = config.cache_dir.empty() ? default_cache_dir() : config.cache_dir;
    if (!config.cache || folder.empty()) return report;
    report.file = folder / tuning_file_name(tuning_identity(device));
    const FileRead read = read_cache_file(report.file);
    if (!read.refused.empty()) {
        report.state = read.absent() ? "absent" : read.refused;
        return report;
    }
    const DecodedTuning decoded = decode_tuning(tuning_identity(device), read.bytes);
    report.state = decoded.refused.empty() ? "used" : decoded.refused;
    report.values = decoded.tuning;
    return report;
}

}  // namespace weft::core
