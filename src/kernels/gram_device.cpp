// SPDX-License-Identifier: Apache-2.0
// What the plan may know of a device.
#include <algorithm>

#include "kernels/gram.hpp"

namespace weft::kernels {

namespace {

GramDevice limits_of(const DeviceInfo& info, const MemoryReport& memory) {
    GramDevice device;
    device.limits = info.limits;
    device.software = info.type == DeviceType::cpu;
    device.float64 = info.shader_float64;
    device.matrix_reason = "not judged";
    for (const MemoryReport::Heap& heap : memory.heaps)
        if (heap.device_local)
            device.memory_bytes = std::max(device.memory_bytes, heap.budget != 0 ? heap.budget : heap.size);
    return device;
}

}  // namespace

GramDevice gram_limits(const Backend& backend) {
    return limits_of(backend.device(), backend.memory());
}

GramDevice gram_limits(const Stream& stream) {
    return limits_of(stream.device(), detail::memory_report(stream));
}

GramDevice gram_device(Backend& backend) {
    return gram_limits(backend);
}

}  // namespace weft::kernels
