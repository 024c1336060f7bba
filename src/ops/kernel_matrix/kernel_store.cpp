// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_store.hpp>: the store itself. The calls that fill it are in ops_vulkan.
#include <weft/ops/kernel_store.hpp>

#include <weft/error.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/tile_store.hpp"

namespace weft {

KernelMatrixStore::KernelMatrixStore(const std::filesystem::path& file, const KernelMatrixShape& shape,
                                     ElementType type, const KernelMatrixStoreOptions& options) {
    kernels::check_kernel_shape(shape, shape.others != 0);
    kernels::check_real_type("K", type);
    store_ = std::make_unique<kernels::TileStore>(file, shape, type, options.tile_bytes);
}
KernelMatrixStore::KernelMatrixStore(KernelMatrixStore&&) noexcept = default;
KernelMatrixStore& KernelMatrixStore::operator=(KernelMatrixStore&&) noexcept = default;
KernelMatrixStore::~KernelMatrixStore() = default;

std::uint64_t KernelMatrixStore::tiles() const noexcept {
    return store_ ? store_->tiles().size() : 0;
}
std::uint64_t KernelMatrixStore::kept() const noexcept {
    return store_ ? store_->kept() : 0;
}
std::uint64_t KernelMatrixStore::damaged() const noexcept {
    return store_ ? store_->damaged() : 0;
}

HostArray KernelMatrixStore::values() const noexcept {
    if (!store_) return {};
    const std::span<std::byte> bytes = store_->values();
    if (bytes.empty()) return {};
    return {bytes.data(), store_->shape().values(), store_->type()};
}

kernels::TileStore& KernelMatrixStore::state() const {
    if (!store_)
        throw Error(Errc::invalid_argument,
                    "KernelMatrixStore: moved from (need the object that it was moved to)");
    return *store_;
}

void KernelMatrixStore::finish() {
    state().finish();
}

}  // namespace weft
