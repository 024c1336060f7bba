// SPDX-License-Identifier: Apache-2.0
// Measures a kernel at all sizes, on all paths. What fails is part of the result.
#pragma once

#include <functional>
#include <vector>

#include "report/report_kernel.hpp"

namespace weft::tool {

struct RunSettings {
    std::vector<std::uint64_t> batch_sizes;
    std::vector<ReportPath> paths;  ///< what to measure, the CPU first; those that `targets` has
    Repeats repeats;
    unsigned threads = 1;
    std::function<void(const SizeResult&)> on_size;  ///< told of each process at each size
};

/// Ceilings and stages are those of Vulkan; without it there are none. Errors: weft::Error device_lost, of
/// Vulkan. Everything else fails its path at its size alone.
KernelResult run_kernel(const ReportTargets& targets, const ReportKernel& kernel,
                        const RunSettings& settings);

/// Bytes of memory that could be taken without harm to others; 0: the system does not tell.
double free_host_bytes();

}  // namespace weft::tool
