// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/lattice.hpp>.
#include <weft/cuda/lattice.hpp>

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/scratch.hpp"
#include "ops/lattice/lattice_resident.hpp"
#include "ops_cuda/lattice/lattice_launch.hpp"

namespace weft::cuda {
namespace {

int launch_kernel(kernels::LatticeOp op, Lattice lattice, bool ragged, const LatticeLaunch& launch) {
    constexpr LaunchLattice kLaunch[3][2] = {{launch_lattice_2, launch_lattice_2_rows},
                                             {launch_lattice_4, launch_lattice_4_rows},
                                             {launch_lattice_8, launch_lattice_8_rows}};
    return kLaunch[static_cast<int>(lattice)][ragged ? 1 : 0](op, launch);
}

using kernels::LatticeOp;
using kernels::ResidentVectors;

void launch(LatticeOp op, const LatticeCode& code, const ResidentVectors& r, LatticeLaunch launch) {
    if (r.elements == 0) return;
    const char* const function = kernels::function_of(op);
    require_device(function);
    launch.q = static_cast<float>(code.q);
    launch.inverse_q = 1.0f / launch.q;
    launch.levels = code.levels;
    launch.bits = digit_bits(code);
    launch.per_thread = kernels::vectors_of_thread(op, code, launch.workgroup_size);
    launch.dither = code.dither_seed.has_value();
    launch.count = static_cast<std::uint32_t>(r.elements);
    launch.settings = r.parameters.settings;
    launch.shape = r.parameters.layout;
    std::vector<float> scales;
    if (launch.retries && code.max_retries != 0) launch.scales = scales = kernels::lattice_scales(code);
    const std::uint64_t each = launch.per_thread == 1 ? shared::kLatticeInHand : launch.per_thread;
    const std::uint64_t workgroup = each * launch.workgroup_size;
    launch.workgroups = static_cast<std::uint32_t>((r.shape.vectors() + workgroup - 1) / workgroup);
    check_launch(launch_kernel(op, code.lattice, r.shape.ragged, launch), function);
}

/// The words of the table on the current device. The first call uploads them, and they are kept until the
/// process ends.
const std::uint32_t* device_words(const LatticeTable& table, const char* function) {
    static std::mutex mutex;
    static auto* const kept = new std::map<std::tuple<int, Lattice, std::uint32_t>, Scratch>;
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    const std::lock_guard lock(mutex);
    const auto key = std::tuple(device, table.lattice(), table.q());
    if (const auto found = kept->find(key); found != kept->end()) return found->second.as<std::uint32_t>();
    Scratch words(nullptr, table.words().size_bytes(), function, "the table");
    check(cudaMemcpyAsync(words.data(), table.words().data(), table.words().size_bytes(),
                          cudaMemcpyHostToDevice, nullptr),
          function, "cudaMemcpyAsync");
    check(cudaStreamSynchronize(nullptr), function, "cudaStreamSynchronize");
    return kept->emplace(key, std::move(words)).first->second.as<std::uint32_t>();
}

}  // namespace

void lattice_encode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                    DeviceSpan<std::uint32_t> codes, DeviceSpan<std::uint32_t> status,
                    const LatticeOptions& options) {
    const char* function = "lattice_encode";
    const ResidentVectors r = kernels::resident_encode(code, x.size(), codes.size(), status.size(), options);
    check_aligned(function, x.data(), "x");
    check_aligned(function, codes.data(), "codes");
    launch(LatticeOp::encode, code, r,
           {.stream = stream,
            .retries = code.max_retries != 0,
            .in = x.data(),
            .out = codes.data(),
            .status = status.data()});
}

void lattice_quantize(StreamHandle stream, const LatticeCode& code, DeviceSpan<const float> x,
                      DeviceSpan<float> y, DeviceSpan<std::uint32_t> status, const LatticeOptions& options) {
    const char* function = "lattice_quantize";
    // All device memory is one memory here, in which values are numbered by their addresses.
    const auto place = [](const float* data) {
        return reinterpret_cast<std::uintptr_t>(data) / sizeof(float);
    };
    const ResidentVectors r =
        kernels::resident_quantize(code, {nullptr, place(x.data()), x.size()},
                                   {nullptr, place(y.data()), y.size()}, status.size(), options);
    check_aligned(function, x.data(), "x");
    check_aligned(function, y.data(), "y");
    launch(LatticeOp::quantize, code, r,
           {.stream = stream,
            .retries = code.max_retries != 0,
            .in = x.data(),
            .out = y.data(),
            .status = status.data()});
}

void lattice_decode(StreamHandle stream, const LatticeCode& code, DeviceSpan<const std::uint32_t> codes,
                    std::optional<DeviceSpan<const std::uint32_t>> status, DeviceSpan<float> x,
                    const LatticeDecodeOptions& options) {
    const char* function = "lattice_decode";
    const ResidentVectors r = kernels::resident_decode(
        code, x.size(), codes.size(), status ? std::optional(status->size()) : std::nullopt, options);
    check_aligned(function, codes.data(), "codes");
    check_aligned(function, x.data(), "x");
    launch(LatticeOp::decode, code, r,
           {.stream = stream,
            .retries = status.has_value(),
            .in = codes.data(),
            .out = x.data(),
            .status_in = status ? status->data() : nullptr});
}

void lattice_inner(StreamHandle stream, const LatticeTable& table, const LatticeCode& code,
                   DeviceSpan<const std::uint32_t> x, DeviceSpan<const std::uint32_t> y,
                   DeviceSpan<float> out, const LatticeOptions& options) {
    const char* function = "lattice_inner";
    const kernels::LatticeShape shape = kernels::inner_shape(table, code, out.size(), options.width);
    const bool single = kernels::check_inner_words(code, shape, x.size(), y.size());
    if (shape.rows == 0) return;
    require_device(function);
    check_launch(launch_lattice_inner({.stream = stream,
                                       .q = code.q,
                                       .levels = code.levels,
                                       .bits = digit_bits(code),
                                       .dim = dimension(code.lattice),
                                       .points = table.points(),
                                       .rows = static_cast<std::uint32_t>(shape.rows),
                                       .tiles = static_cast<std::uint32_t>(shape.tiles),
                                       .y_step = single ? 0u : 1u,
                                       .scale = code.beta * code.beta,
                                       .x = x.data(),
                                       .y = y.data(),
                                       .table = device_words(table, function),
                                       .out = out.data()}),
                 function);
}

}  // namespace weft::cuda
