// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_product.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::divide_up;
using kernels::KernelMatrixPlan;
using kernels::kProductTile;
using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

ProductLaunch launch_of(StreamHandle stream, const KernelMatrixPlan& plan, const Scratch& planes,
                        const KernelMatrixOptions& options) {
    return {.stream = stream,
            .rz = plan.rz,
            .long_variant = plan.long_variant,
            .p = kernels::product_parameters(plan, options),
            .planes = planes.data()};
}

void go(const KernelMatrixPlan& plan, const ProductLaunch& launch) {
    check_launch(plan.real64 ? launch_kernel_product_real64(launch) : launch_kernel_product_real32(launch),
                 kFunction);
}

void go_rows(const KernelMatrixPlan& plan, ProductLaunch launch, std::uint64_t row, std::uint64_t rows,
             std::byte* values) {
    const std::uint64_t columns = plan.shape.columns();
    launch.count = word(rows * columns);
    launch.workgroups = divide_up(rows, kProductTile) * divide_up(columns, kProductTile);
    launch.p.row_base = word(row);
    launch.values = values;
    go(plan, launch);
}

/// Rows of a chunk: whole tiles, if these are small enough.
std::uint64_t chunk_rows(const KernelMatrixPlan& plan) {
    constexpr std::uint64_t kChunkBytes = std::uint64_t{24} << 20;
    const std::uint64_t rows = kChunkBytes / (plan.shape.columns() * plan.real_bytes());
    return std::min(plan.job_rows, std::max<std::uint64_t>(1, rows / kProductTile) * kProductTile);
}

}  // namespace

void launch_product(StreamHandle stream, const KernelMatrixPlan& plan, const Scratch& planes,
                    const DeviceArray& k, const KernelMatrixOptions& options) {
    ProductLaunch launch = launch_of(stream, plan, planes, options);
    const std::uint64_t columns = plan.shape.columns(), tiles = divide_up(columns, kProductTile);
    if (plan.symmetric) {
        launch.symmetric = true;
        launch.workgroups = tiles * (tiles + 1) / 2;
        launch.count = word(launch.workgroups);
        launch.values = k.data;
        return go(plan, launch);
    }
    for (std::uint64_t row = 0; row < plan.shape.samples; row += plan.panel_rows)
        go_rows(plan, launch, row, std::min(plan.panel_rows, plan.shape.samples - row),
                static_cast<std::byte*>(k.data) + row * columns * plan.real_bytes());
}

StreamedRows::StreamedRows(StreamHandle stream, const KernelMatrixPlan& plan, Scratch planes,
                           const HostArray& k, const KernelMatrixOptions& options)
    : plan_(plan), planes_(std::move(planes)), k_(k), options_(options) {
    // Chunks have streams of their own.
    check(cudaStreamSynchronize(stream), kFunction, "cudaStreamSynchronize");
}

std::uint64_t StreamedRows::make(const kernels::RowRange& range, const BatchOptions& batch,
                                 std::uint64_t all_pairs) const {
    core::ProgressMeter meter(kFunction, batch, all_pairs);
    meter.check();
    const std::uint64_t row_bytes = plan_.shape.columns() * plan_.real_bytes();
    HostWork work;
    work.elements = range.last - range.first;
    work.outputs = {
        {static_cast<std::byte*>(k_.data) + range.first * row_bytes, work.elements * row_bytes, row_bytes}};
    work.launch = [&](const Chunk& chunk) {
        go_rows(plan_, launch_of(chunk.stream, plan_, planes_, options_), range.first + chunk.first,
                chunk.count, chunk.outputs[0]);
    };
    work.done = [&](const Chunk& chunk) {
        meter.show(kernels::pairs_of(plan_, {range.first, range.first + chunk.first + chunk.count}));
    };
    BatchReport report;
    run_chunks(kFunction, work, {.chunk_elements = chunk_rows(plan_)}, report);
    return meter.parts();
}

}  // namespace weft::cuda
