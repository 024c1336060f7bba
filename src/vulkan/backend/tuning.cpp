// SPDX-License-Identifier: Apache-2.0
#include "vulkan/backend/tuning.hpp"

#include <span>
#include <string_view>
#include <system_error>

#include <weft/backend.hpp>
#include <weft/error.hpp>
#include <weft/version.hpp>

#include "base/cache_file.hpp"
#include "vulkan/engine/backend_state.hpp"
#include "plan/device/tuning_file.hpp"

namespace weft {
namespace core {
namespace {

TuningIdentity identity_of(const DeviceSnapshot& s) {
    return {s.uuid, s.driver_uuid, s.driver_version, WEFT_VERSION_STRING};
}

}  // namespace

TuningReport load_tuning(const DeviceSnapshot& device, const Config& config) {
    TuningReport report;
    const auto folder = config.cache_dir.empty() ? default_cache_dir() : config.cache_dir;
    if (!config.cache || folder.empty()) return report;
    report.file = folder / tuning_file_name(identity_of(device));
    const auto bytes = read_cache_file(report.file);
    if (!bytes) {
        report.state = "absent";
        return report;
    }
    const DecodedTuning decoded =
        decode_tuning(identity_of(device), {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    report.state = decoded.refused.empty() ? "used" : decoded.refused;
    report.values = decoded.tuning;
    return report;
}

}  // namespace core

void store_tuning(const Backend& backend, const Tuning& tuning) {
    if (const std::string what = core::check_tuning(tuning); !what.empty())
        throw Error(Errc::invalid_argument, "store_tuning: " + what);
    const std::filesystem::path file = backend.plan().tuning.file;
    if (file.empty())
        throw Error(Errc::unsupported,
                    "store_tuning: the cache is off (got WEFT_CACHE=0, cache = false or no "
                    "folder, need a cache folder)");
    if (tuning.empty()) {
        std::error_code error;
        std::filesystem::remove(file, error);
        if (error)
            throw Error(Errc::io,
                        "store_tuning: cannot remove " + file.string() + " (" + error.message() + ")",
                        error.value());
        return;
    }
    const std::string text =
        core::encode_tuning(core::identity_of(backend.backend_state()->context()->device.snapshot()), tuning);
    std::string reason;
    if (!core::write_cache_file(file, std::as_bytes(std::span(text)), &reason))
        throw Error(Errc::io, "store_tuning: " + reason);
}

}  // namespace weft
