// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/matrix_items.hpp"

#include <algorithm>

namespace weft::kernels {

HostMatrixCall checked_features(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                                const ConstHostArray* y, const HostArray& k, const ArrayFacts& values,
                                const KernelMatrixShape& shape, const KernelMatrixHostOptions& host,
                                std::uint32_t threads, bool stage_times) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelMatrixOptions options = host_options(host, stage_times);
    check_features(facts_of(x), facts_of(y), values, shape, options);
    const CircuitFacts facts = circuit_facts(shape, circuit, true);
    check_host_features(x, y, k, shape, circuit.scale, threads);
    return {&circuit, x, y, k, shape, options, host.batch, facts, {}, begin};
}

HostMatrixCall checked_states(const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                              const ArrayFacts& values, const KernelMatrixShape& shape,
                              const KernelMatrixHostOptions& host, std::uint32_t threads, bool stage_times) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelMatrixOptions options = host_options(host, stage_times);
    check_states(facts_of(x), facts_of(y), values, shape, options);
    check_host_states(x, y, k, shape, threads);
    return {nullptr, x, y, k, shape, options, host.batch, state_facts(x.type, true), {}, begin};
}

OpReport report_of(const HostMatrixCall& call, const KernelMatrixPlan& plan) {
    OpReport report = kernel_report(call.shape, plan.method, call.x, call.y, call.k);
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - call.begin).count();
    return report;
}

OpReport MatrixItems::report(const KernelMatrixPlan& plan, std::uint64_t first, std::uint64_t count) const {
    OpReport report;
    for (std::uint64_t i = first; i < first + count; ++i) {
        if (!rows.empty()) {
            report.items += pairs_of(plan, rows[i]);
            report.bytes_out += (rows[i].last - rows[i].first) * plan.shape.columns() * plan.value_bytes();
            continue;
        }
        const KernelBlock& block = blocks[i].block;
        report.items += pairs_of(plan.shape, block);
        report.bytes_out +=
            block.rows * block.columns * plan.value_bytes() * (off_diagonal(plan.shape, block) ? 2 : 1);
    }
    return report;
}

MatrixItems all_items(const KernelMatrixPlan& plan) {
    if (plan.method == KernelMatrixMethod::states) return {host_blocks(plan), {}};
    constexpr std::uint64_t kRowsPerItem = 64;
    MatrixItems items;
    for (std::uint64_t row = 0; row < plan.shape.samples; row += kRowsPerItem)
        items.rows.push_back({row, std::min(row + kRowsPerItem, plan.shape.samples)});
    return items;
}

MatrixItems shared_items(const KernelMatrixPlan& plan) {
    MatrixItems items = all_items(plan);
    if (!plan.shape.square() || plan.states.tile < plan.shape.samples) return items;
    const auto diagonal =
        std::stable_partition(items.blocks.begin(), items.blocks.end(),
                              [&](const HostBlock& block) { return off_diagonal(plan.shape, block.block); });
    std::rotate(items.blocks.begin() + (diagonal - items.blocks.begin()) / 2, diagonal, items.blocks.end());
    return items;
}

MatrixItems items_of(const KernelMatrixPlan& plan, const std::vector<StoreTile>& tiles,
                     const std::vector<std::size_t>& indices) {
    MatrixItems items;
    const std::vector<HostBlock> blocks =
        plan.method == KernelMatrixMethod::states ? host_blocks(plan) : std::vector<HostBlock>();
    for (const std::size_t tile : indices) {
        const KernelBlock& block = tiles[tile].block;
        if (blocks.empty())
            items.rows.push_back({block.row, block.row + block.rows});
        else
            items.blocks.push_back(blocks[tile]);
    }
    return items;
}

}  // namespace weft::kernels
