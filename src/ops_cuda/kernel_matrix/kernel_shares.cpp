// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_shares.hpp"

#include <optional>
#include <span>
#include <utility>

#include "cuda/own_stream.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_cuda/kernel_matrix/kernel_blocks.hpp"
#include "ops_cuda/kernel_matrix/kernel_device.hpp"
#include "ops_cuda/kernel_matrix/kernel_product.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

namespace weft::cuda {
namespace {

using kernels::KernelMatrixPlan;

constexpr const char* kFunction = "kernel_matrix";

}  // namespace

KernelMatrixPlan plan_on_current(const kernels::HostMatrixCall& call, const KernelMatrixOptions& options) {
    kernels::check_no_autotune(options);
    return kernels::plan_that_fits(kernel_device(), call.shape, call.facts, call.k.type, options);
}

struct MatrixShares::Impl {
    Impl(const KernelMatrixPlan& of, const kernels::HostMatrixCall& call, const kernels::MatrixItems& some)
        : plan(of), items(some) {
        if (plan.method == KernelMatrixMethod::product) {
            rows.emplace(stream, plan, angle_planes(stream, plan, call.x, call.y, call.circuit->scale),
                         call.k, call.options);
            return;
        }
        if (call.circuit != nullptr)
            source = std::make_unique<CircuitStates>(
                stream, plan, *call.circuit, angle_planes(stream, plan, call.x, call.y, call.circuit->scale));
        else
            source = std::make_unique<HostStates>(stream, plan, call.x, call.y);
        blocks.emplace(stream, plan, *source, call.k, call.options);
    }

    const KernelMatrixPlan& plan;
    const kernels::MatrixItems& items;
    const OwnStream stream{kFunction};
    std::unique_ptr<StateSource> source;
    std::optional<StreamedBlocks> blocks;
    std::optional<StreamedRows> rows;
};

MatrixShares::MatrixShares(const KernelMatrixPlan& plan, const kernels::HostMatrixCall& call,
                           const kernels::MatrixItems& items)
    : impl_(new Impl(plan, call, items)) {}
MatrixShares::~MatrixShares() = default;

OpReport MatrixShares::make(const core::Share& share, const BatchOptions& batch, std::uint64_t all_pairs) {
    const kernels::MatrixItems& items = impl_->items;
    OpReport report = items.report(impl_->plan, share.first, share.count);
    if (impl_->blocks)
        report.chunks =
            impl_->blocks->make(std::span(&items.blocks[share.first], share.count), batch, all_pairs);
    else  // items of a share follow each other
        report.chunks =
            impl_->rows->make({items.rows[share.first].first, items.rows[share.first + share.count - 1].last},
                              batch, all_pairs);
    return report;
}

}  // namespace weft::cuda
