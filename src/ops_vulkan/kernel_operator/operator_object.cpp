// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_operator/operator_object.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <weft/error.hpp>

#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "shaders/operator.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

void record_numbers(Stream& stream, const OperatorPlan& plan, double scale, const ConstDeviceArray& features,
                    std::uint64_t rows, const Words& numbers) {
    const DeviceLimits& limits = stream.device().limits;
    const Program program{
        stream,
        plan.real64 ? ShaderWords(spirv::operator_bloch_real64) : ShaderWords(spirv::operator_bloch_real32),
        {.name = "operator_bloch",
         .constants = {{0u, 128u}},
         .max_workgroups = limits.max_workgroup_count[0]}};
    const std::uint64_t qubits = plan.shape.qubits, words = plan.sample_bytes() / 4;
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    // Ranges of numbers begin at multiples of the device's alignment, which is at most 256 bytes.
    const std::uint64_t fit = range / std::max(plan.sample_bytes(), qubits * features.type().bytes());
    const std::uint64_t most = std::max<std::uint64_t>(64, fit / 64 * 64);
    const auto [low, high] = real_words(scale, true);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const BoundWords bound = bind_elements(limits, features, row * qubits, some * qubits);
        const shared::OperatorBlochParameters parameters{plan.shape.qubits,
                                                         plan.layout.part_qubits,
                                                         plan.layout.parts,
                                                         plan.layout.part_numbers,
                                                         bound.before,
                                                         0,
                                                         low,
                                                         high,
                                                         features.type() == kFloat64 ? 1u : 0u,
                                                         plan.rz ? 1u : 0u};
        stream.dispatch(program, {ConstWords(bound.words), part_of(numbers, row * words, some * words)},
                        some * plan.layout.parts, parameters);
    }
}

void record_numbers(Stream& stream, const OperatorPlan& plan, double scale, const ConstHostArray& features,
                    std::uint64_t rows, const Words& numbers) {
    const std::uint64_t words = features.bytes() / 4;
    const Buffer<std::uint32_t> uploaded(stream, words, "operator features");
    stream.upload(std::span(static_cast<const std::uint32_t*>(features.data), words), uploaded.view());
    const auto record = [&](const ConstDeviceArray& array) {
        record_numbers(stream, plan, scale, array, rows, numbers);
    };
    const auto object = detail::Access::object(uploaded.view());
    if (features.type == kFloat32)
        record(detail::Access::make<BufferView<const float>>(object, std::size_t{0}, features.size));
    else
        record(detail::Access::make<BufferView<const double>>(object, std::size_t{0}, features.size));
}

template <class Array>
DeviceSamples samples_of(Stream& stream, const OperatorPlan& plan, const KernelMatrixCircuit* circuit,
                         const Array& x, const Array* y) {
    DeviceSamples made{plan, detail::Access::backend_state(stream), {}, {}};
    if (plan.states) {
        made.states = make_states(stream, plan, circuit, x, y);
        return made;
    }
    check_operator_fits(plan);
    const double scale = circuit->scale;
    const std::uint64_t words = plan.sample_bytes() / 4;
    made.x.emplace(stream, plan.shape.samples * words, "operator samples");
    record_numbers(stream, plan, scale, x, plan.shape.samples, made.x->view());
    if (y == nullptr) return made;
    made.y.emplace(stream, plan.shape.others * words, "operator samples");
    record_numbers(stream, plan, scale, *y, plan.shape.others, made.y->view());
    return made;
}

}  // namespace

std::vector<const OperatorPlan*> OperatorObject::plans() const {
    std::vector<const OperatorPlan*> plans;
    for (const DeviceSamples& device : devices_) plans.push_back(&device.plan);
    return plans;
}

const DeviceSamples& OperatorObject::on(const char* function,
                                        const std::shared_ptr<core::BackendState>& state) const {
    const std::shared_ptr<const void> wanted = state;
    for (const DeviceSamples& device : devices_)
        if (!device.backend.owner_before(wanted) && !wanted.owner_before(device.backend)) return device;
    throw Error(
        Errc::invalid_argument,
        std::string(function) + ": the operator was made on another backend (need the one it is used on)");
}

std::string sum_of_samples(Backend& backend, const DeviceSamples& samples) {
    constexpr std::uint64_t kWords = std::uint64_t{1} << 24;  // of a part
    Stream stream(backend, {.name = "operator samples"});
    std::vector<Words> all;
    if (samples.states) all = samples.states->words(samples.plan);
    for (const auto* buffer : {&samples.x, &samples.y})
        if (*buffer) all.push_back((*buffer)->view());
    ContentSum sum;
    std::vector<std::uint32_t> part;
    for (const Words& words : all)
        for (std::uint64_t at = 0; at < words.size(); at += kWords) {
            part.resize(std::min<std::uint64_t>(kWords, words.size() - at));
            stream.download<std::uint32_t>(part_of(words, at, part.size()), part);
            sum.add(std::as_bytes(std::span(part)));
        }
    return sum_text(sum);
}

OperatorPlan operator_plan_on(const Owner& owner, const CircuitFacts& circuit, const KernelMatrixShape& shape,
                              const KernelOperatorOptions& options, bool shared) {
    return as_operator([&] {
        const bool states = circuit.given || effective_layers(circuit) != 0;
        const KernelMatrixDevice facts = kernel_device(owner, states, matrix_options(options, circuit.given));
        if (states) return plan_operator_of_states(facts, shape, circuit, options, shared);
        return plan_operator({facts.gram.limits, facts.gram.software, facts.gram.float64, facts.budget_bytes},
                             shape, circuit.map, options);
    });
}

DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, const KernelMatrixCircuit* circuit,
                           const ConstDeviceArray& x, const ConstDeviceArray* y) {
    return samples_of(stream, plan, circuit, x, y);
}
DeviceSamples make_samples(Stream& stream, const OperatorPlan& plan, const KernelMatrixCircuit* circuit,
                           const ConstHostArray& x, const ConstHostArray* y) {
    return samples_of(stream, plan, circuit, x, y);
}

}  // namespace weft::kernels
