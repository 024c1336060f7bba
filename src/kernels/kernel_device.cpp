// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_device.hpp"

#include <algorithm>

#include "kernels/gram.hpp"
#include "kernels/gram_tuner.hpp"

namespace weft::kernels {
namespace {

std::uint64_t free_bytes(const MemoryReport& memory) {
    std::uint64_t most = 0;
    for (const MemoryReport::Heap& heap : memory.heaps) {
        if (!heap.device_local) continue;
        // What is kept for the next large buffer is there for this one.
        const std::uint64_t used = heap.usage - std::min(heap.usage, heap.kept);
        most = std::max(most, heap.budget == 0 ? heap.size : heap.budget - std::min(used, heap.budget));
    }
    return most;
}

template <class Owner>
KernelDevice facts_of(const Owner& owner, const MemoryReport& memory, bool states,
                      const KernelMatrixOptions& options) {
    KernelDevice facts{states ? gram_device(owner) : gram_limits(owner), free_bytes(memory)};
    if (states && options.autotune) facts.gram.tiles = kept_tiles(owner).tiles;
    return facts;
}

}  // namespace

KernelDevice kernel_device(const Stream& stream, bool states, const KernelMatrixOptions& options) {
    return facts_of(stream, detail::memory_report(stream), states, options);
}
KernelDevice kernel_device(const Backend& backend, bool states, const KernelMatrixOptions& options) {
    return facts_of(backend, backend.memory(), states, options);
}

}  // namespace weft::kernels
