// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <weft/batch.hpp>
#include <weft/job.hpp>

#include "base/batch_call.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "shaders/kernel.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

struct ProductVariant {
    bool symmetric = false;
    std::uint32_t before = 0;  ///< values before the first of K in its binding
    bool times = false;        ///< multiplies the values that are there
};

ShaderWords product_words(const KernelMatrixPlan& plan, bool times) {
    const auto of = [&](ShaderWords real32, ShaderWords real64) { return plan.real64 ? real64 : real32; };
    using namespace spirv;
    if (plan.lane_variant && times)
        return of(kernel_product_lanes_times_real32, kernel_product_lanes_times_real64);
    if (plan.lane_variant) return of(kernel_product_lanes_real32, kernel_product_lanes_real64);
    if (times) return of(kernel_product_times_real32, kernel_product_times_real64);
    return of(kernel_product_real32, kernel_product_real64);
}

template <class Owner>
Program product_program(Owner& owner, const KernelMatrixPlan& plan, const ProductVariant& variant) {
    const auto [symmetric, before, times] = variant;
    ProgramOptions options{.name = "kernel_product",
                           .constants = {{2u, plan.rz}, {3u, symmetric}},
                           .elements_per_workgroup = symmetric ? 1 : kProductTile * kProductTile,
                           .max_workgroups = owner.device().limits.max_workgroup_count[0]};
    // At least as many workgroups as tiles, also with few rows.
    if (plan.by_panels && !symmetric) options.elements_per_workgroup = kProductTile;
    if (plan.lane_variant) {
        if (symmetric) options.max_workgroups = 0;
        const std::uint64_t common = std::gcd<std::uint64_t>(before, plan.shape.columns());
        if (!times)
            options.constants.emplace_back(5u, symmetric && common % 8 == 0   ? 8u
                                               : symmetric && common % 2 == 0 ? 2u
                                                                              : 1u);
    } else {
        options.constants.emplace_back(4u, plan.long_variant);
        if (!times) options.constants.emplace_back(5u, (before | plan.shape.columns()) % 4 == 0);
    }
    return {owner, product_words(plan, times), options};
}

// Multiplies all qubits into the values that are bound, a part of the qubits a dispatch.
void record_product(Stream& stream, const KernelMatrixPlan& plan, const Words& planes, const BoundWords& k,
                    bool symmetric, std::uint64_t elements, shared::KernelProductParameters parameters) {
    const std::uint64_t of_qubit = 2 * plan.stride * plan.real_bytes() / 4;
    parameters.out_base = k.before;
    for (std::uint32_t first = 0; first < plan.shape.qubits; first += plan.part_qubits) {
        parameters.qubits = std::min(plan.part_qubits, plan.shape.qubits - first);
        if (first != 0) {  // the first part has shrunk K
            const auto [low, high] = real_words(1, plan.real64);
            parameters.shrink_low = low;
            parameters.shrink_high = high;
        }
        stream.dispatch(product_program(std::as_const(stream), plan, {symmetric, k.before, first != 0}),
                        {part_of(planes, first * of_qubit, parameters.qubits * of_qubit), k.words}, elements,
                        parameters);
    }
}

// The planes in page-locked memory, from where the engine hands them to every job. The device makes them.
const HostBuffer<std::uint32_t>& planes_in_host_memory(Backend& backend, HostScratch& scratch,
                                                       const KernelMatrixPlan& plan, const ConstHostArray& x,
                                                       const ConstHostArray* y, double scale) {
    const Words planes = angle_planes(scratch.stream, scratch.memory, plan, x, y, scale);
    const HostBuffer<std::uint32_t>& out = scratch.memory.host_words(backend, planes.size(), "kernel planes");
    scratch.stream.copy<std::uint32_t>(planes, out.view());
    scratch.stream.wait();
    return out;
}

// A K that is made by one submission, whose steps are worth keeping: to record them takes longer than to run
// them.
bool is_few(const KernelMatrixPlan& plan, const ConstHostArray& x) {
    constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 16;
    const std::uint64_t rows = plan.shape.samples + plan.shape.others;
    return plan.by_panels && plan.job_rows >= plan.shape.samples && plan.matrix_bytes() <= kFewBytes &&
           rows * plan.shape.qubits * x.type.bytes() <= kFewBytes;
}

ConstDeviceArray features_in(const Words& words, ElementType type) {
    const auto& object = detail::Access::object(words);
    const std::uint64_t count = words.bytes() / type.bytes();
    if (type == kFloat32) return detail::Access::make<BufferView<const float>>(object, std::size_t{0}, count);
    return detail::Access::make<BufferView<const double>>(object, std::size_t{0}, count);
}

std::uint64_t number_of(const Words& words) {
    return reinterpret_cast<std::uintptr_t>(detail::Access::object(words).get());
}

}  // namespace

StreamedRows::StreamedRows(Backend& backend, HostScratch& scratch, const KernelMatrixPlan& plan,
                           const ConstHostArray& x, const ConstHostArray* y, const HostArray& k, double scale,
                           const KernelMatrixOptions& options)
    : backend_(backend), scratch_(scratch), plan_(plan), k_(k), options_(options) {
    if (is_few(plan, x) && !core::observed(backend)) {
        begin_few(x, y, scale);
        return;
    }
    if (!plan.by_panels) {
        host_planes_ = &planes_in_host_memory(backend, scratch, plan, x, y, scale);
        return;
    }
    planes_ = angle_planes(scratch.stream, scratch.memory, plan, x, y, scale);
    panel_ = scratch.memory.words(
        std::min(plan.job_rows, plan.shape.samples) * plan.shape.columns() * plan.real_bytes() / 4,
        "kernel panel");
}

std::uint64_t StreamedRows::make(std::span<const RowRange> ranges, const BatchOptions& batch,
                                 std::uint64_t all_pairs, const InPlace& in_place) {
    core::ProgressMeter meter("kernel_matrix", batch, all_pairs);
    meter.check();
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const RowRange& range = ranges[i];
        const std::uint64_t pairs = pairs_of(plan_, range);
        const PairsDone done = [&](std::uint64_t part) {
            // Told before the range counts as done, because the callback may end the call.
            if (part == pairs && in_place) in_place(i);
            meter.show(before + part);
        };
        if (few_ != nullptr)
            make_few(range, done);
        else if (plan_.by_panels)
            make_panels(range, done);
        else
            run_jobs(range, done);
        before += pairs;
    }
    return meter.parts();
}

// The values of the features go into page-locked memory, from where the steps take them.
Words StreamedRows::few_features(const ConstHostArray& x) {
    const std::uint64_t words = x.size * x.type.bytes() / 4;
    HostBuffer<std::uint32_t>& values = scratch_.memory.host_words(backend_, words, "kernel features");
    std::memcpy(values.data(), x.data, words * 4);
    return values.view();
}

// Starts the work of a K of few rows. Steps are recorded by the first call with these arguments alone.
void StreamedRows::begin_few(const ConstHostArray& x, const ConstHostArray* y, double scale) {
    KernelMemory& memory = scratch_.memory;
    const std::uint64_t words = plan_.shape.samples * plan_.shape.columns() * plan_.real_bytes() / 4;
    const Words from_x = few_features(x), from_y = y != nullptr ? few_features(*y) : from_x;
    const HostBuffer<std::uint32_t>& out = memory.host_words(backend_, words, "kernel panel");
    const Words of_x = memory.words(from_x.size(), "kernel features"),
                of_y = y != nullptr ? memory.words(from_y.size(), "kernel features") : of_x,
                panel = memory.words(words, "kernel panel");
    const shared::KernelProductParameters parameters = product_parameters(plan_, options_);
    // A buffer that was replaced has another number, because the steps hold the one before.
    core::ScratchCache::Key key{number_of(from_x),      number_of(from_y),
                                number_of(out.view()),  number_of(of_x),
                                number_of(of_y),        number_of(panel),
                                x.type.bytes(),         plan_.rz,
                                plan_.real64,           parameters.shrink_low,
                                parameters.shrink_high, std::bit_cast<std::uint64_t>(scale)};
    if (!scratch_.few || scratch_.few->made_for != key) {
        const ConstDeviceArray x_values = features_in(of_x, x.type), y_values = features_in(of_y, x.type);
        Sequence steps = scratch_.stream.record([&](Stream& stream) {
            stream.copy<std::uint32_t>(from_x, of_x);
            if (y != nullptr) stream.copy<std::uint32_t>(from_y, of_y);
            const Words planes =
                angle_planes(stream, memory, plan_, x_values, y != nullptr ? &y_values : nullptr, scale);
            record_product(stream, plan_, planes, {panel, 0}, false,
                           plan_.shape.samples * plan_.shape.columns(), parameters);
            stream.copy<std::uint32_t>(panel, out.view());
        });
        scratch_.few.emplace(KeptSteps{std::move(key), std::move(steps)});
    }
    few_ = &out;
    scratch_.stream.replay(scratch_.few->steps);
}

void StreamedRows::make_few(const RowRange& range, const PairsDone& done) {
    scratch_.stream.wait();
    const std::uint64_t row_bytes = plan_.shape.columns() * plan_.real_bytes();
    std::memcpy(static_cast<std::byte*>(k_.data) + (range.first - first_row_) * row_bytes,
                reinterpret_cast<const std::byte*>(few_->data()) + range.first * row_bytes,
                (range.last - range.first) * row_bytes);
    done(pairs_of(plan_, range));
}

void StreamedRows::run_jobs(const RowRange& range, const PairsDone& done) {
    const std::uint64_t columns = plan_.shape.columns(), row_bytes = columns * plan_.real_bytes();
    std::vector<Job> jobs;
    for (std::uint64_t row = range.first; row < range.last; row += plan_.job_rows) {
        const std::uint64_t rows = std::min(plan_.job_rows, range.last - row);
        shared::KernelProductParameters parameters = product_parameters(plan_, options_);
        parameters.row_base = word(row);
        Job job;
        job.inputs.push_back({host_planes_->data(), host_planes_->bytes(), true});
        job.outputs.push_back(
            {static_cast<std::byte*>(k_.data) + (row - first_row_) * row_bytes, rows * row_bytes});
        job.elements = rows * columns;
        job.parameters = parameters;
        jobs.push_back(job);
    }
    BatchOptions of_jobs;
    of_jobs.chunk_elements = std::min<std::uint64_t>(plan_.job_rows * columns, 0xffffffffu);
    of_jobs.progress = [&](const Progress& jobs_done) {
        done(pairs_of(plan_,
                      {range.first, std::min(range.last, range.first + jobs_done.done * plan_.job_rows)}));
    };
    core::in_name_of("kernel_matrix", [&] {
        return run_batch(backend_, product_program(backend_, plan_, {}), jobs, of_jobs);
    });
}

void StreamedRows::make_panels(const RowRange& range, const PairsDone& done) {
    const std::uint64_t columns = plan_.shape.columns(), row_words = columns * plan_.real_bytes() / 4;
    shared::KernelProductParameters parameters = product_parameters(plan_, options_);
    for (std::uint64_t row = range.first; row < range.last; row += plan_.job_rows) {
        const std::uint64_t rows = std::min(plan_.job_rows, range.last - row);
        const Words words = part_of(*panel_, 0, rows * row_words);
        parameters.row_base = word(row);
        record_product(scratch_.stream, plan_, *planes_, {words, 0}, false, rows * columns, parameters);
        scratch_.stream.download<std::uint32_t>(
            words,
            std::span(static_cast<std::uint32_t*>(k_.data) + (row - first_row_) * row_words, words.size()));
        done(pairs_of(plan_, {range.first, row + rows}));
    }
}

void product_resident(Stream& stream, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                      const ConstDeviceArray* y, const DeviceArray& k, double scale,
                      const KernelMatrixOptions& options) {
    KernelMemory memory(stream);
    const Words planes = angle_planes(stream, memory, plan, x, y, scale);
    const std::uint64_t columns = plan.shape.columns();
    const DeviceLimits& limits = stream.device().limits;
    shared::KernelProductParameters parameters = product_parameters(plan, options);
    if (plan.symmetric) {
        const std::uint64_t tiles = divide_up(columns, kProductTile);
        record_product(stream, plan, planes, bind_elements(limits, k, 0, k.size()), true,
                       tiles * (tiles + 1) / 2, parameters);
        return;
    }
    for (std::uint64_t row = 0; row < plan.shape.samples; row += plan.panel_rows) {
        const std::uint64_t rows = std::min(plan.panel_rows, plan.shape.samples - row);
        const BoundWords bound = bind_elements(limits, k, row * columns, rows * columns);
        parameters.row_base = word(row);
        record_product(stream, plan, planes, bound, false, rows * columns, parameters);
    }
}

}  // namespace weft::kernels
