// SPDX-License-Identifier: Apache-2.0
// Tiles that are measured before a long job. The plan is one of a job too long to run here; its products are
// small.
#include <doctest/doctest.h>

#include <stop_token>

#include "ops_vulkan/gram/gram_device.hpp"
#include "ops_vulkan/gram/gram_tuner.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "support/gpu_fixture.hpp"

using namespace weft::kernels;

namespace {

KernelMatrixPlan long_job(const KernelMatrixDevice& device, std::uint64_t amplitudes = 64) {
    KernelMatrixPlan plan;
    plan.shape = {std::uint64_t{1} << 22, 0, 16};
    plan.method = weft::KernelMatrixMethod::states;
    plan.states.gram = plan_gram({100, 100, amplitudes, false}, device.gram);
    return plan;
}

weft::Config without_cache() {
    weft::Config config = weft::Config::from_env();
    config.cache = false;
    return config;
}

}  // namespace

TEST_CASE("a long job measures tiles first, once, and only if it may") {
    weft_test::on_device(
        [](weft::Backend& backend) {
            forget_tiles(backend);
            KernelMatrixDevice device = kernel_device(backend, true, {});
            const KernelMatrixPlan plan = long_job(device);
            CHECK_FALSE(tune_before(backend, device.gram, plan, {.autotune = weft::Choice::off}, {}));
            KernelMatrixPlan brief = plan;
            brief.shape = {100, 0, 6};
            CHECK_FALSE(tune_before(backend, device.gram, brief, {}, {}));
            CHECK(device.gram.tiles.empty());
            std::stop_source stop;
            stop.request_stop();
            weft_test::check_error(weft::Errc::cancelled, "kernel_matrix: cancelled", [&] {
                tune_before(backend, device.gram, plan, {}, {.cancel = stop.get_token()});
            });

            REQUIRE(tune_before(backend, device.gram, plan, {}, {}));
            CHECK(device.gram.tiles.count(gram_class(plan.states.gram)) == 1);
            // The same job in another call: there is nothing left to measure.
            KernelMatrixDevice again = kernel_device(backend, true, {});
            CHECK(again.gram.tiles == device.gram.tiles);
            CHECK_FALSE(tune_before(backend, again.gram, long_job(again), {}, {}));
            CHECK(kernel_device(backend, true, {.autotune = weft::Choice::off}).gram.tiles.empty());
            forget_tiles(backend);
        },
        without_cache());
}

TEST_CASE("the measured products are those that the plan would run, each tile once") {
    weft_test::on_device(
        [](weft::Backend& backend) {
            const GramDevice device = gram_limits(backend);
            for (const GramMethod method : {GramMethod::fp32_4m, GramMethod::fp32_3m, GramMethod::fp64}) {
                if (method == GramMethod::fp64 && !device.float64) continue;
                GramProblem problem{70, 90, 40, false};
                problem.precision = problem.output =
                    method == GramMethod::fp64 ? GramReal::float64 : GramReal::float32;
                const GramPlan plan = plan_gram(problem, device, {.method = method});
                const GramTrials trials = try_tiles(backend, device, plan, 0, 1);
                CHECK(trials.name == gram_class(plan));
                CHECK(trials.trials.front().tile == plan.tile);
                CHECK(trials.trials.size() == gram_tiles(device, method).size());
                for (const GramTrial& trial : trials.trials) {
                    CHECK(trial.right);
                    CHECK(trial.seconds > 0);
                }
            }
        },
        without_cache());
}

TEST_CASE("a tile is best only if its gain exceeds its scatter and that of the planned tile") {
    const auto best = [](std::vector<GramTrial> trials) { return weft::kernels::best_tile(trials); };
    const GramTile tile;
    CHECK(best({{tile, 1.0, 0.0}}) == 0);
    CHECK(best({{tile, 1.0, 0.0}, {tile, 0.98, 0.0}}) == 0);  // below 3 %
    CHECK(best({{tile, 1.0, 0.0}, {tile, 0.96, 0.0}}) == 1);
    CHECK(best({{tile, 1.0, 0.03}, {tile, 0.96, 0.02}}) == 0);  // within the scatter of both
    CHECK(best({{tile, 1.0, 0.02}, {tile, 0.94, 0.01}}) == 1);
    CHECK(best({{tile, 1.0, 0.0}, {tile, 0.5, 0.0, false}}) == 0);  // wrong values
    CHECK(best({{tile, 1.0, 0.0}, {tile, 0.9, 0.0}, {tile, 0.8, 0.0}}) == 2);
    CHECK(best({{tile, 1.0, 0.0}, {tile, 0.9, 0.0}, {tile, 0.8, 0.3}}) ==
          1);  // the gain of the faster one may be chance
}
