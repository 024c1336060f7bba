// SPDX-License-Identifier: Apache-2.0
// Completes weft/tune/engine.hpp: keeps settings for their device.
#include <weft/tune/engine.hpp>

#include <span>
#include <system_error>

#include <weft/backend.hpp>
#include <weft/error.hpp>

#include "base/cache_file.hpp"
#include "plan/device/tuning_file.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft {
void tune::store_engine(const Backend& backend, const tune::Engine& tuning) {
    if (const std::string what = core::check_tuning(tuning); !what.empty())
        throw Error(Errc::invalid_argument, "store_engine: " + what);
    const std::filesystem::path file = backend.plan().tuning.file;
    if (file.empty())
        throw Error(Errc::unsupported,
                    "store_engine: the cache is off (got WEFT_CACHE=0, cache = false or no "
                    "folder, need a cache folder)");
    if (tuning.empty()) {
        std::error_code error;
        std::filesystem::remove(file, error);
        if (error)
            throw Error(Errc::io,
                        "store_engine: cannot remove " + file.string() + " (" + error.message() + ")",
                        error.value());
        return;
    }
    const std::string text = core::encode_tuning(
        core::tuning_identity(detail::Access::backend_state(backend)->context()->device.snapshot()), tuning);
    std::string reason;
    if (!core::write_cache_file(file, std::as_bytes(std::span(text)), &reason))
        throw Error(Errc::io, "store_engine: " + reason);
}

}  // namespace weft
