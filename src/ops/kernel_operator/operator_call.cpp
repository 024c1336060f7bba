// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_call.hpp"

#include <span>
#include <string>
#include <string_view>

#include <weft/error.hpp>
#include <weft/ops/encode.hpp>

#include "ops/kernel_operator/operator_check.hpp"

namespace weft::kernels {

KernelApplyOptions apply_options(const KernelApplyHostOptions& options) noexcept {
    return {options.a, options.b, options.lambda, options.transpose};
}

HostSamples checked_samples(const char* function, const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                            const ConstHostArray* y, const KernelMatrixShape& shape,
                            const KernelOperatorOptions& options, std::uint32_t threads) {
    HostSamples samples{circuit, x, y, shape, options, {}};
    if (circuit != nullptr) {
        samples.facts = check_operator(*circuit, facts_of(x), facts_of(y), shape, options);
        check_features_alone(function, x, y, shape.qubits, circuit->scale, threads);
        return samples;
    }
    samples.facts = check_given_operator(facts_of(x), facts_of(y), shape, options);
    alignas(16) static std::byte no_k[16];
    const auto renamed = [&](const Error& error) {
        std::string text = error.what();
        constexpr std::string_view kName = "kernel_matrix";
        return text.starts_with(kName) ? text.replace(0, kName.size(), function) : text;
    };
    try {
        check_host_states(x, y, {no_k, 1, options.type}, shape, threads);
    } catch (const EncodeError& error) {
        throw EncodeError(renamed(error), error.failures());
    } catch (const Error& error) {
        throw Error(error.code(), renamed(error));
    }
    return samples;
}

std::vector<double> weights_of(const KernelMatrixCircuit& circuit) {
    const ConstHostArray& weights = circuit.weights;
    if (weights.type == kFloat64) {
        const auto* const values = static_cast<const double*>(weights.data);
        return {values, values + weights.size};
    }
    const auto* const values = static_cast<const float*>(weights.data);
    return {values, values + weights.size};
}

namespace {

template <class T>
double largest_of(const ConstHostArray& diagonal) {
    double most = 0;
    for (const T value : std::span(static_cast<const T*>(diagonal.data), diagonal.size))
        if (!(static_cast<double>(value) <= most)) most = static_cast<double>(value);
    return most;
}

}  // namespace

double largest_value(const ConstHostArray& diagonal) {
    return diagonal.type == kFloat64 ? largest_of<double>(diagonal) : largest_of<float>(diagonal);
}

}  // namespace weft::kernels
