// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_memory.hpp"

#include <utility>

namespace weft::kernels {
namespace {

/// No key of another family begins with it.
constexpr std::uint64_t kKernelMatrix = 0x6b65726e656c;

/// The buffer number `at` if it has `count` words, else what make() makes in its place.
template <class Buffers, class Make>
auto& buffer_at(Buffers& buffers, std::size_t at, std::uint64_t count, const Make& make) {
    if (at == buffers.size())
        buffers.push_back(make());
    else if (buffers[at].size() != count)
        buffers[at] = make();
    return buffers[at];
}

}  // namespace

Words part_of(const Words& words, std::uint64_t first, std::uint64_t count) {
    return detail::Access::make<Words>(detail::Access::object(words), words.first() + first, count);
}

Words KernelMemory::words(std::uint64_t count, std::string_view name) {
    return buffer_at(buffers_, used_++, count, [&] { return Buffer<std::uint32_t>(stream_, count, name); })
        .view();
}

HostBuffer<std::uint32_t>& KernelMemory::host_words(Backend& backend, std::uint64_t count,
                                                    std::string_view name) {
    return buffer_at(host_buffers_, used_host_++, count,
                     [&] { return HostBuffer<std::uint32_t>(backend, count, name); });
}

std::uint64_t KernelMemory::bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& buffer : buffers_) bytes += buffer.bytes();
    for (const auto& buffer : host_buffers_) bytes += buffer.bytes();
    return bytes;
}

core::ScratchCache::Key sizes_of(const KernelMatrixPlan& plan, ElementType values) {
    return {static_cast<std::uint64_t>(plan.method),
            plan.shape.samples,
            plan.shape.others,
            plan.shape.qubits,
            plan.layers,
            plan.type.bytes(),
            values.bytes()};
}

KeptScratch::KeptScratch(Backend& backend, core::ScratchCache::Key sizes)
    : backend_(backend), key_(std::move(sizes)) {
    key_.insert(key_.begin(), kKernelMatrix);
    held_ = std::static_pointer_cast<HostScratch>(core::scratch_cache(backend).take(key_));
    if (!held_) held_ = std::make_shared<HostScratch>(backend);
    held_->memory.restart();
}

void KeptScratch::keep() {
    // More would not be worth it: such a call takes far longer than making its buffers.
    constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;
    const std::uint64_t bytes = held_->memory.bytes();
    if (core::memory_limit(backend_) == 0 && bytes <= kMostBytes)
        core::scratch_cache(backend_).give(key_, std::move(held_), bytes);
}

}  // namespace weft::kernels
