// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: lattice codes on several devices.
#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/cuda/devices.hpp>

#include "base/batch_call.hpp"
#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_shares.hpp"

namespace weft::cuda {
namespace {

constexpr core::BatchMembers kHonoured{.chunk_elements = true, .ring_slots = true};

/// What kernels::SharedLattice needs of CUDA.
struct OnDevices {
    struct Place {  // the current device
        OpReport encode(const auto&... arguments) { return lattice_encode(arguments...); }
        OpReport decode(const auto&... arguments) { return lattice_decode(arguments...); }
        OpReport quantize(const auto&... arguments) { return lattice_quantize(arguments...); }
    };

    std::uint32_t threads() const { return host_threads(); }
    std::uint64_t chunk_items(const kernels::LatticeShape&, const BatchOptions& batch) const {
        return wanted_chunk_elements(batch);
    }
    template <class Worker>
    OpReport run(const core::SharedCallOf<Worker>& call) const {
        const auto worker = [&](std::size_t device) -> core::DeviceWorker {
            return [own = call.worker(device), function = call.function, &info = devices[device]](
                       const core::Share& share, core::ShareWatch& watch) {
                const CurrentDevice current(function, info);
                Place place;
                return own(place, share, watch);
            };
        };
        return run_shares(devices, call.template with_worker<core::DeviceWorker>(worker));
    }

    Devices& devices;
};

kernels::SharedLattice<OnDevices> on(Devices& devices, const char* function, const BatchOptions& batch) {
    core::require_members(function, batch, kHonoured);
    return kernels::SharedLattice<OnDevices>({devices});
}

}  // namespace

OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                        const LatticeHostOptions& options) {
    return on(devices, "lattice_encode", options.batch).encode(code, x, codes, status, options);
}

OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status,
                          const LatticeHostOptions& options) {
    return on(devices, "lattice_quantize", options.batch).quantize(code, x, y, status, options);
}

OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    return on(devices, "lattice_decode", options.batch).decode(code, codes, status, x, options);
}

LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    return on(devices, "lattice_search_beta", options.batch).search(code, sample, options);
}

}  // namespace weft::cuda
