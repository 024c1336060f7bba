// SPDX-License-Identifier: Apache-2.0
// Kernel matrices in host memory: a second call of the same sizes makes no object, allocates nothing, and
// updates no descriptors.
#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"

using namespace weft_test;

namespace {

struct Cost {
    std::uint64_t objects = 0, allocations = 0, descriptor_updates = 0, submissions = 0;
};

Cost cost_of(weft::Backend& backend, const std::function<void()>& call) {
    const weft::Counters before = backend.counters();
    call();
    const weft::Counters after = backend.counters();
    return {after.objects_created - before.objects_created,
            after.memory_allocations - before.memory_allocations,
            after.descriptor_updates - before.descriptor_updates, after.submissions - before.submissions};
}

/// `submissions`: of a call. Results of all calls must be the same bits.
void check_kept(weft::Backend& backend, std::vector<float>& k, std::uint64_t submissions,
                const std::function<void()>& call) {
    call();
    const std::vector<float> first = k;
    call();
    for (int again = 0; again < 5; ++again) {
        std::fill(k.begin(), k.end(), -1.0f);
        const Cost cost = cost_of(backend, call);
        CHECK(cost.objects == 0);
        CHECK(cost.allocations == 0);
        CHECK(cost.descriptor_updates == 0);
        CHECK(cost.submissions == submissions);
        CHECK(k == first);
    }
}

std::vector<float> rows(std::size_t count, float step) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 101) * step - 2;
    return values;
}

}  // namespace

TEST_CASE("kept: few rows of a circuit in closed form take one submission and no object") {
    on_device([](weft::Backend& backend) {
        const auto x = rows(12 * 6, 0.05f), y = rows(7 * 6, 0.03f);
        std::vector<float> square(12 * 12), cross(12 * 7);
        check_kept(backend, square, 1, [&] {
            weft::kernel_matrix(backend, weft::KernelMatrixCircuit{}, x, square,
                                {.samples = 12, .qubits = 6});
        });
        check_kept(backend, cross, 1, [&] {
            weft::kernel_matrix(backend, weft::KernelMatrixCircuit{}, x, y, cross,
                                {.samples = 12, .others = 7, .qubits = 6});
        });
    });
}

TEST_CASE("kept: few rows of a circuit with re-upload, and of given states") {
    on_device([](weft::Backend& backend) {
        const auto x = rows(20 * 5, 0.05f);
        const std::vector<double> weights(3 * 5, 0.4);
        std::vector<float> k(20 * 20);
        const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
        check_kept(backend, k, 1,
                   [&] { weft::kernel_matrix(backend, circuit, x, k, {.samples = 20, .qubits = 5}); });
        check_kept(backend, k, 1, [&] {
            weft::kernel_matrix(backend, circuit, x, k, {.samples = 20, .qubits = 5}, {.normalize = true});
        });
        std::vector<weft::c32> states(20 * 16);
        for (std::size_t i = 0; i < states.size(); ++i) states[i] = {0.25f * static_cast<float>(i % 3), 0.1f};
        check_kept(backend, k, 1,
                   [&] { weft::kernel_matrix(backend, states, k, {.samples = 20, .qubits = 4}); });
    });
}

TEST_CASE("kept: other weights and other values use what is kept, and give their own results") {
    on_device([](weft::Backend& backend) {
        const weft::KernelMatrixShape shape{.samples = 9, .qubits = 4};
        const auto run = [&](double weight, float step) {
            const auto x = rows(shape.samples * shape.qubits, step);
            const std::vector<double> weights(2 * shape.qubits, weight);
            std::vector<float> k(shape.values());
            weft::kernel_matrix(backend, {.weights = weights, .reupload = true}, x, k, shape);
            return k;
        };
        const std::vector<float> first = run(0.2, 0.05f);
        std::vector<float> other;
        run(0.2, 0.05f);
        CHECK(cost_of(backend, [&] { other = run(0.9, 0.07f); }).objects == 0);
        CHECK(other != first);
        backend.trim();
        CHECK(run(0.9, 0.07f) == other);
        CHECK(run(0.2, 0.05f) == first);
    });
}

TEST_CASE(
    "kept: few rows of other arguments get steps of their own, and a profile still sees their kernels") {
    on_device([](weft::Backend& backend) {
        const weft::KernelMatrixShape shape{.samples = 9, .others = 5, .qubits = 4};
        const auto x = rows(9 * 4, 0.05f), z = rows(9 * 4, 0.08f), y = rows(5 * 4, 0.03f);
        const std::vector<double> wide(x.begin(), x.end()), wide_y(y.begin(), y.end());
        const auto cross = [&](const auto& of_x, const auto& of_y, weft::FeatureMap map, double scale) {
            std::vector<float> k(shape.values());
            weft::kernel_matrix(backend, {.map = map, .scale = scale}, of_x, of_y, k, shape);
            return k;
        };
        const auto square = [&](double jitter) {
            std::vector<float> k(9 * 9);
            weft::kernel_matrix(backend, weft::KernelMatrixCircuit{}, x, k, {.samples = 9, .qubits = 4},
                                {.normalize = jitter != 0, .jitter = jitter});
            return k;
        };
        using enum weft::FeatureMap;
        const std::vector<std::function<std::vector<float>()>> calls{
            [&] { return cross(x, y, ryrz, 1); },
            [&] { return cross(x, y, ryrz, 0.7); },
            [&] { return cross(x, y, ry, 1); },
            [&] { return cross(z, y, ryrz, 1); },
            [&] { return cross(wide, wide_y, ryrz, 1); },
            [&] { return square(0); },
            [&] { return square(0.5); }};
        std::vector<std::vector<float>> alone;
        for (const auto& call : calls) {
            backend.trim();
            alone.push_back(call());
        }
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < i; ++j) CHECK(alone[i] != alone[j]);
        CHECK(alone[5] != alone[6]);
        for (int again = 0; again < 3; ++again)
            for (std::size_t i = 0; i < calls.size(); ++i) CHECK(calls[i]() == alone[i]);

        const weft::Profile profile(backend);
        CHECK(calls[0]() == alone[0]);
        const auto kernels = profile.report().kernels;
        CHECK(std::any_of(kernels.begin(), kernels.end(),
                          [](const auto& kernel) { return kernel.program == "kernel_product"; }));
    });
}

TEST_CASE("kept: a K of several panels or blocks is right again and again") {
    on_device([](weft::Backend& backend) {
        const std::size_t samples = 700;
        const auto x = rows(samples * 5, 0.05f);
        const std::vector<double> weights(2 * 5, 0.4);
        std::vector<float> k(samples * samples), first;
        for (const bool reupload : {false, true}) {
            const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = reupload};
            for (int again = 0; again < 4; ++again) {
                std::fill(k.begin(), k.end(), -1.0f);
                weft::kernel_matrix(backend, circuit, x, k, {.samples = samples, .qubits = 5});
                if (again == 0) first = k;
                CHECK(k == first);
            }
        }
    });
}
