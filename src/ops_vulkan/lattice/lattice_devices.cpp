// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/lattice.hpp>, <weft/ops/lattice_search.hpp> and <weft/ops/lattice_inner.hpp>: calls on
// several devices.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/devices.hpp>
#include <weft/ops/lattice.hpp>
#include <weft/ops/lattice_inner.hpp>
#include <weft/ops/lattice_search.hpp>

#include "base/batch_call.hpp"
#include "ops/lattice/lattice_check.hpp"
#include "ops/lattice/lattice_plan.hpp"
#include "ops/lattice/lattice_shares.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

/// What kernels::SharedLattice needs of Vulkan.
struct OnBackends {
    struct Place {
        Backend& backend;
        OpReport encode(const auto&... arguments) { return lattice_encode(backend, arguments...); }
        OpReport decode(const auto&... arguments) { return lattice_decode(backend, arguments...); }
        OpReport quantize(const auto&... arguments) { return lattice_quantize(backend, arguments...); }
    };

    std::uint32_t threads() const { return core::first_backend(devices).plan().copy_threads; }
    std::uint64_t chunk_items(const kernels::LatticeShape& shape, const BatchOptions& batch) const {
        const std::uint64_t chunk = core::wanted_chunk_items(core::first_backend(devices).plan(), batch);
        return chunk != 0 ? std::max<std::uint64_t>(1, chunk / shape.element_vectors) : 0;
    }
    template <class Worker>
    OpReport run(const core::SharedCallOf<Worker>& call) const {
        const auto worker = [&](std::size_t device) -> core::ShareWorker {
            return [own = call.worker(device)](Backend& backend, const core::Share& share,
                                               core::ShareWatch& watch) {
                Place place{backend};
                return own(place, share, watch);
            };
        };
        return core::run_shares(devices, call.template with_worker<core::ShareWorker>(worker));
    }

    Devices& devices;
};

kernels::SharedLattice<OnBackends> on(Devices& devices) {
    return kernels::SharedLattice<OnBackends>({devices});
}

}  // namespace

OpReport lattice_encode(Devices& devices, const LatticeCode& code, std::span<const float> x,
                        std::span<std::uint8_t> codes, std::span<std::uint8_t> status,
                        const LatticeHostOptions& options) {
    return on(devices).encode(code, x, codes, status, options);
}

OpReport lattice_quantize(Devices& devices, const LatticeCode& code, std::span<const float> x,
                          std::span<float> y, std::span<std::uint8_t> status,
                          const LatticeHostOptions& options) {
    return on(devices).quantize(code, x, y, status, options);
}

OpReport lattice_decode(Devices& devices, const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<float> x,
                        const LatticeDecodeHostOptions& options) {
    return on(devices).decode(code, codes, status, x, options);
}

LatticeSearch lattice_search_beta(Devices& devices, const LatticeCode& code, std::span<const float> sample,
                                  const LatticeSearchOptions& options) {
    return on(devices).search(code, sample, options);
}

OpReport lattice_inner(Devices& devices, const LatticeTable& table, const LatticeCode& code,
                       std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, std::span<float> out,
                       const LatticeHostOptions& options) {
    const kernels::InnerCall call = kernels::check_inner(table, code, x, y, out, options,
                                                         core::first_backend(devices).plan().copy_threads);
    const kernels::LatticeShape& shape = call.shape;
    const OpReport report = on(devices).run_rows(
        {"lattice_inner", code, shape, x.size() + y.size() + out.size_bytes(), true, options.batch},
        [&](OnBackends::Place& place, const LatticeCode& part, const kernels::LatticeRows& rows,
            const BatchOptions& batch) {
            return lattice_inner(place.backend, table, part, rows.of_codes(x, code),
                                 call.single ? y : rows.of_codes(y, code), rows.of_rows(out, 1),
                                 {.width = options.width, .batch = batch});
        });
    return kernels::lattice_report("lattice_inner", shape, {}, report);
}

}  // namespace weft
