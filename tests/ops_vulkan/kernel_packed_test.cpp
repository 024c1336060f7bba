// SPDX-License-Identifier: Apache-2.0
// States that are packed by the pass that builds them, compared number by number with a gate-by-gate
// simulation, in every order of packed planes, whichever the device uses.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_oracle.hpp"

namespace {

using namespace weft;
using namespace weft::kernels;
using namespace weft_test;

constexpr std::uint32_t kUntouched = 0x7fc00abcu;
constexpr std::uint64_t kSkipped = 3;  // rows of X before those that are packed
constexpr std::uint64_t kFirst = 64;   // packed row

struct Case {
    std::uint32_t qubits;
    std::uint64_t rows;
    std::size_t layers;  // layers that change K
    bool wide = false, matrix = false, turned = true;
};

Table weights_of(const Case& c) {
    Table weights(c.layers + 1, std::vector<double>(c.qubits));
    for (std::size_t l = 0; l < weights.size(); ++l)
        for (std::size_t q = 0; q < c.qubits; ++q)
            weights[l][q] = 1.1 * std::sin(static_cast<double>(3 * l + 2 * q + 1));
    return weights;
}

State state_of(const std::vector<double>& row, const Case& c) {
    const OracleCircuit circuit;
    State state(std::size_t{1} << c.qubits);
    state[0] = 1;
    embed(state, row, circuit);
    for (std::size_t l = 0; l < c.layers; ++l) {
        entangle(state, weights_of(c)[l], {});
        embed(state, row, circuit);
    }
    return state;
}

double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/// The numbers of packed rows, by the description of the layout: 64 rows by a step of amplitudes form a
/// block.
struct Packed {
    std::vector<std::uint32_t> words;
    const Case& c;
    std::uint64_t steps, step;  // blocks of a row, amplitudes of a block

    template <class Number>
    Number number(std::uint64_t at) const {
        Number value;
        std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + at * sizeof(Number), sizeof value);
        return value;
    }
    double part(std::uint64_t row, std::uint64_t k, std::uint64_t imaginary) const {
        const std::uint64_t block = row / 64 * steps + k / step, r = row % 64, inside = k % step;
        if (c.matrix) {
            const std::uint64_t at = ((block * 64 + r) * 4 + 2 * imaginary) * 16 + inside;
            return (half_value(number<std::uint16_t>(at)) + half_value(number<std::uint16_t>(at + 16))) /
                   32768;
        }
        const std::uint64_t at = ((block * 2 + imaginary) * 8 + inside) * 64 + r;
        return c.wide ? number<double>(at) : static_cast<double>(number<float>(at));
    }
    double square(std::uint64_t row) const {
        double sum = 0;
        for (std::uint64_t k = 0; k < steps * step; ++k)
            sum += part(row, k, 0) * part(row, k, 0) + part(row, k, 1) * part(row, k, 1);
        return sum;
    }
};

KernelMatrixPlan plan_of(Backend& backend, const Case& c) {
    KernelMatrixDevice device = kernel_device(backend, false, {.autotune = weft::Choice::off});
    device.gram.matrix_khr = device.gram.matrix_exact = c.matrix;
    const CircuitFacts facts{FeatureMap::ryrz, static_cast<std::uint32_t>(c.layers + 1), true};
    KernelMatrixPlan plan =
        plan_kernel(device, {kSkipped + c.rows, 0, c.qubits}, facts, c.wide ? kFloat64 : kFloat32, {});
    REQUIRE(plan.states.gram.matrix() == c.matrix);
    plan.states.turned = c.turned;
    if (plan.states.fused) return plan;
    // Variants that are not the fastest on this device must be right too.
    plan.states.fused = true;
    plan.states.squares = c.wide ? 0 : 1u << (std::max(c.qubits, 4u) - plan.states.passes.back().window);
    return plan;
}

void check_numbers(const Packed& packed, const Case& c, const Table& x) {
    const double bound = c.wide ? 1e-14 : 1e-6;
    std::uint64_t wrong = 0, touched = 0, filled = 0;
    for (std::uint64_t r = 0; r < c.rows; ++r) {
        const State want = state_of(x[kSkipped + r], c);
        for (std::uint64_t k = 0; k < packed.steps * packed.step; ++k)
            for (const std::uint64_t imaginary : {0u, 1u}) {
                const double got = packed.part(kFirst + r, k, imaginary);
                const double value = k >= want.size() ? 0 : imaginary != 0 ? want[k].imag() : want[k].real();
                // Beyond the last amplitude there are zeros, to the bit.
                if (!(std::abs(got - value) <= (k < want.size() ? bound : 0))) ++wrong;
            }
    }
    const std::uint64_t padded = (c.rows + 63) / 64 * 64;
    for (std::uint64_t r = c.rows; r < padded; ++r)
        for (std::uint64_t k = 0; k < packed.steps * packed.step; ++k)
            if (packed.part(kFirst + r, k, 0) != 0 || packed.part(kFirst + r, k, 1) != 0) ++filled;
    const std::uint64_t words_of_64 = packed.words.size() / (2 + padded / 64);
    for (std::uint64_t i = 0; i < words_of_64; ++i)
        if (packed.words[i] != kUntouched || packed.words[packed.words.size() - 1 - i] != kUntouched)
            ++touched;
    CHECK(wrong == 0);
    CHECK(filled == 0);
    CHECK(touched == 0);
}

/// Waves after three special rows: a state that begins as one amplitude of 1, the largest possible one, a
/// state of equal moduli, and another state of a single amplitude.
Table rows_of(const Case& c) {
    Table x = wave_rows(kSkipped + c.rows, c.qubits);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(3, c.rows); ++i)
        x[kSkipped + i].assign(c.qubits, static_cast<double>(i) * std::acos(0.0));
    return x;
}

void run_case(Backend& backend, const Case& c) {
    INFO(c.qubits << " qubits, " << c.rows << " rows, " << c.layers << " layers, wide " << c.wide
                  << ", matrix " << c.matrix << ", turned " << c.turned);
    const KernelMatrixPlan plan = plan_of(backend, c);
    const Table x = rows_of(c);
    const std::vector<double> values = flat(x), weights = flat(weights_of(c));
    Stream stream(backend);
    const ConstHostArray features(values);
    KernelMatrixCircuit circuit;
    circuit.weights = ConstHostArray(weights);
    circuit.reupload = true;
    KernelMemory memory(stream);
    CircuitStates source(stream, memory, plan, circuit,
                         angle_planes(stream, memory, plan, features, nullptr, 1));
    const GramPlan& gram = plan.states.gram;
    Buffer<std::uint32_t> packed(backend, (gram.packed_bytes(c.rows) + 128 * gram.row_bytes) / 4);
    stream.fill(packed.view(), kUntouched);
    GramProduct unused(stream, plan_gram({1, 1, 1}, gram_limits(backend)));
    Normalizer normalizer(memory, plan, {});
    source.pack(stream, {false, kSkipped, c.rows}, {unused, packed, kFirst}, c.wide ? nullptr : &normalizer);
    const Packed numbers{stream.download(packed), c, gram.blocks, gram.step};
    check_numbers(numbers, c, x);
    if (c.wide) return;
    const GramFactors factors = normalizer.factors(false, kSkipped);
    std::vector<float> got(kSkipped + c.rows);
    stream.download<float>(
        weft::detail::Access::make<BufferView<float>>(factors.range.object, 0u, got.size()), got);
    // Equal angles give the same errors on every wire; norms of 12 qubits are then off by up to 3e-6.
    for (std::uint64_t r = 0; r < c.rows; ++r) {
        CHECK(std::abs(got[kSkipped + r] * numbers.square(kFirst + r) - 1) <= 5e-7);
        CHECK(std::abs(got[kSkipped + r] - 1) <= 1e-5f);
    }
}

}  // namespace

TEST_CASE("the last pass over states packs them: every width, one pass and two, one layer and several") {
    on_device([](Backend& backend) {
        for (const std::uint32_t qubits : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 10u, 12u, 13u})
            for (const std::size_t layers : {1u, 2u}) {
                const std::uint64_t rows = qubits > 8 ? 5 : 70;
                run_case(backend, {qubits, rows, layers, false, true});
                for (const bool turned : {true, false}) {
                    run_case(backend, {qubits, rows, layers, false, false, turned});
                    if (backend.device().shader_float64)
                        run_case(backend, {qubits, rows, layers, true, false, turned});
                }
            }
        run_case(backend, {6, 64, 1, false, true});
        run_case(backend, {6, 128, 1, false, false});
        run_case(backend, {6, 1, 3, false, false, false});
    });
}
