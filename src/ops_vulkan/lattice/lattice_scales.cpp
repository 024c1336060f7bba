// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/lattice/lattice_scales.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "ops/lattice/lattice_plan.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {
namespace {

// No key of another family begins with these.
constexpr std::uint64_t kHostScales = 0x686f73747363616c, kResidentScales = 0x7363616c6573;

core::ScratchCache::Key key_of(std::uint64_t kind, const LatticeCode& code) {
    // Without retries the table is the same for every alpha.
    const float alpha = code.max_retries == 0 ? 0.0f : code.alpha;
    return {kind, std::bit_cast<std::uint32_t>(alpha), code.max_retries};
}

}  // namespace

std::shared_ptr<const HostBuffer<float>> host_scales(Backend& backend, const LatticeCode& code) {
    core::ScratchCache& cache = core::scratch_cache(backend);
    core::ScratchCache::Key key = key_of(kHostScales, code);
    if (const std::shared_ptr<void> held = cache.share(key))
        return std::static_pointer_cast<const HostBuffer<float>>(held);
    const std::vector<float> scales = lattice_scales(code);
    const auto made = std::make_shared<HostBuffer<float>>(backend, scales.size(), "lattice scales");
    std::copy(scales.begin(), scales.end(), made->begin());
    cache.give(std::move(key), made, made->bytes());
    return made;
}

BufferView<const std::uint32_t> resident_scales(const Stream& stream, const LatticeCode& code) {
    const std::vector<float> scales = lattice_scales(code);
    std::vector<std::uint32_t> words(scales.size());
    std::transform(scales.begin(), scales.end(), words.begin(),
                   [](float scale) { return std::bit_cast<std::uint32_t>(scale); });
    return core::kept_words(stream, key_of(kResidentScales, code), words, "lattice scales");
}

}  // namespace weft::kernels
