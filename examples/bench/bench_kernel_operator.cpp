// SPDX-License-Identifier: Apache-2.0
// Measures products with kernel matrices that are never stored, resident, in pairs a second and as a share of
// the rate at which the device can issue instructions of float32. It compares with CUDA on the same device,
// in turns, and with a loop in C++ on all cores. Sampled rows of each result are computed again in float64 on
// the host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_kernel_operator.hpp"
#include "bench_kernel_operator_states.hpp"
#include "cpu/cpu_operator.hpp"
#include "cpu/cpu_threads.hpp"

namespace {

using bench::Clock;
using bench::Json;
using bench::median;
using bench::seconds_since;

struct Settings {
    std::vector<std::uint64_t> samples{100'000};
    std::vector<std::uint32_t> qubits{4, 8, 16};
    std::vector<std::uint32_t> columns{1, 16};
    std::vector<std::string> maps{"ry", "ryrz"};
    std::string ways = "all";
    double issue_rate = 0;
    std::size_t checked = 4;
    bench::Options common{.repeats = 3};
    bool loops = false, solve = false, states = false, cuda = false;
    double lambda = 1, tolerance = 1e-4;
    std::uint32_t rank = 200;
};

struct Case {
    std::uint64_t samples;
    std::uint32_t qubits, columns;
    std::string map;
    weft::Choice symmetric, low_rank;
};

std::vector<float> wave(std::size_t count, double step) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] =
            static_cast<float>(std::sin(step * static_cast<double>(i) + 1e-4 * static_cast<double>(i % 977)));
    return values;
}

// The largest error of some values, as a part of what the bound allows. Throws if it is above 1.
double verified(const Settings& settings, const Case& c, const weft::KernelMatrixCircuit& circuit,
                const std::vector<float>& x, const std::vector<float>& v, const std::vector<float>& out,
                double bound) {
    double worst = 0;
    for (std::size_t i = 0; i < settings.checked; ++i) {
        const std::size_t row = (i * 7919 + c.samples - 1) % c.samples, column = i % c.columns;
        std::vector<float> of_column(c.samples);
        double size = 0;
        for (std::size_t j = 0; j < c.samples; ++j) {
            of_column[j] = v[j * c.columns + column];
            size += std::abs(static_cast<double>(of_column[j]));
        }
        const double want = weft::tool::cpu_kernel_apply_row(circuit, x, c.samples, of_column, row,
                                                             weft::tool::cpu_threads());
        const double error = std::abs(want - static_cast<double>(out[row * c.columns + column])) /
                             (bound * size + 1e-7 * std::abs(want));
        if (!(error <= worst)) worst = error;
    }
    if (!(worst <= 1))
        throw weft::Error(weft::Errc::driver, "bench_kernel_operator: values are wrong by " +
                                                  std::to_string(worst) + " of the bound");
    return worst;
}

double loop_seconds(const Settings& settings, const Case& c, const weft::KernelMatrixCircuit& circuit,
                    const std::vector<float>& x, const std::vector<float>& v) {
    std::vector<float> out(c.samples);
    std::vector<double> seconds;
    for (int trial = 0; trial < settings.common.repeats; ++trial) {
        const auto start = Clock::now();
        weft::tool::cpu_kernel_apply(circuit, x, c.samples, v, out, weft::tool::cpu_threads());
        seconds.push_back(seconds_since(start));
    }
    return median(seconds);
}

const char* way_of(const weft::KernelOperatorEstimate& plan) {
    return plan.method == weft::KernelOperatorMethod::low_rank ? "low rank"
           : plan.symmetric                                    ? "symmetric"
                                                               : "full";
}

// A way to make the product of a case, and its times.
struct Maker {
    std::string name;
    weft::KernelOperatorEstimate plan;
    std::function<void()> apply;
    std::function<std::vector<float>()> result;
    std::vector<double> seconds = {};
};

Json figures_of(const Settings& settings, const Case& c, const Maker& maker, double error) {
    const double time = median(maker.seconds);
    const double pairs = static_cast<double>(c.samples) * static_cast<double>(c.samples);
    const double of_rate = settings.issue_rate == 0 ? 0
                                                    : pairs * maker.plan.instructions * maker.plan.passes /
                                                          time / (settings.issue_rate * 1e12);
    std::printf(
        "%8llu rows %3u qubits %-4s %3u columns %-9s %-6s %10.3f ms %9.2f Gpairs/s %5.2f of issue  "
        "error %.1e of bound\n",
        static_cast<unsigned long long>(c.samples), c.qubits, c.map.c_str(), c.columns, way_of(maker.plan),
        maker.name.c_str(), time * 1e3, pairs / time * 1e-9, of_rate, error);
    return {{"samples", c.samples},
            {"qubits", c.qubits},
            {"map", c.map},
            {"columns", c.columns},
            {"by", maker.name},
            {"method", weft::to_string(maker.plan.method)},
            {"symmetric", maker.plan.symmetric},
            {"ms", time * 1e3},
            {"gpairs_per_s", pairs / time * 1e-9},
            {"of_issue_rate", of_rate},
            {"error_of_bound", error}};
}

// Times all makers in turns, and verifies what each has left.
void race(const Settings& settings, const Case& c, const weft::KernelMatrixCircuit& circuit,
          const std::vector<float>& x, const std::vector<float>& v, std::vector<Maker>& makers, Json& rows) {
    for (int trial = 0; trial <= settings.common.repeats; ++trial)
        for (Maker& maker : makers) {
            const auto start = Clock::now();
            maker.apply();
            if (trial > 0) maker.seconds.push_back(seconds_since(start));
        }
    for (const Maker& maker : makers)
        rows.push_back(figures_of(settings, c, maker,
                                  verified(settings, c, circuit, x, v, maker.result(), maker.plan.error)));
    if (makers.size() < 2) return;
    const double ratio = median(makers[1].seconds) / median(makers[0].seconds);
    rows.back()["speed_of_vulkan"] = ratio;
    std::printf("         Vulkan reaches %.3f of the speed of CUDA\n", ratio);
}

void run_case(weft::Backend& backend, const Settings& settings, const Case& c, Json& rows) {
    const std::vector<float> x = wave(c.samples * c.qubits, 0.731), v = wave(c.samples * c.columns, 0.37);
    const weft::KernelMatrixCircuit circuit{.map = weft::feature_map(c.map)};
    const weft::KernelMatrixShape shape{c.samples, 0, c.qubits};
    const weft::KernelOperatorOptions options{.symmetric = c.symmetric, .low_rank = c.low_rank};
    weft::Stream stream{backend};
    const weft::Buffer<float> features(backend, x.size()), in(backend, v.size()), out(backend, v.size());
    stream.upload(x, features);
    stream.upload(v, in);
    const weft::KernelOperator k{stream, circuit, features, shape, options};
    std::vector<Maker> makers{{"Vulkan", k.estimate(c.columns),
                               [&] {
                                   weft::kernel_apply(stream, k, in, out);
                                   stream.wait();
                               },
                               [&] { return stream.download(out); }}};
#ifdef WEFT_BENCH_CUDA
    std::optional<bench::CudaProduct> twin;
    if (settings.cuda) {
        twin.emplace(circuit, x, v, shape, options);
        makers.push_back(
            {"CUDA", twin->estimate(c.columns), [&] { twin->apply(); }, [&] { return twin->result(); }});
    }
#endif
    race(settings, c, circuit, x, v, makers, rows);
    if (settings.loops && c.columns == 1 && c.symmetric == weft::Choice::off) {
        const double loop = loop_seconds(settings, c, circuit, x, v), time = median(makers[0].seconds);
        rows.back()["loop_ms"] = loop * 1e3;
        std::printf("         C++ loop, all cores %10.3f ms: the device reaches %.2f of its speed\n",
                    loop * 1e3, loop / time);
    }
    std::fflush(stdout);
}

// Numbers from -1.5 to 1.5 in no order.
std::vector<float> scattered(std::size_t count) {
    std::vector<float> values(count);
    std::uint32_t state = 1;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) * (3.0f / 16777216.0f) - 1.5f;
    }
    return values;
}

// Ridge regression from features in host memory to the coefficients, once. The residual is computed anew by
// the solver; the bench fails if the solve has not converged.
Json run_solve(weft::Backend& backend, const Settings& settings, const Case& c) {
    const std::vector<float> x = scattered(c.samples * c.qubits), noise = wave(c.samples, 0.913);
    std::vector<float> y(c.samples), alpha(c.samples);
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = std::cos(x[i * c.qubits]) * std::sin(2 * x[i * c.qubits + c.qubits - 1]) + 0.1f * noise[i];
    const auto start = Clock::now();
    const weft::KernelOperator k{
        backend, {.map = weft::feature_map(c.map)}, x, {c.samples, 0, c.qubits}, {.symmetric = c.symmetric}};
    const weft::KernelSolveReport report = weft::kernel_solve(
        backend, k, y, alpha,
        {.lambda = settings.lambda, .tolerance = settings.tolerance, .rank = settings.rank});
    const double time = seconds_since(start);
    std::printf(
        "%8llu rows %3u qubits %-4s ridge regression, lambda %g: %.2f s (preconditioner of rank %u %.2f s, "
        "products %.2f s), %u iterations, residual %.1e\n",
        static_cast<unsigned long long>(c.samples), c.qubits, c.map.c_str(), settings.lambda, time,
        report.rank, report.preconditioner_s, report.product_s, report.iterations, report.residual());
    std::fflush(stdout);
    if (!report.converged)
        throw weft::Error(weft::Errc::driver, "bench_kernel_operator: the solve did not converge (residual " +
                                                  std::to_string(report.residual()) + ")");
    return {{"samples", c.samples},
            {"qubits", c.qubits},
            {"map", c.map},
            {"solve_s", time},
            {"preconditioner_s", report.preconditioner_s},
            {"product_s", report.product_s},
            {"iterations", report.iterations},
            {"residual", report.residual()}};
}

void run_all_states(weft::Backend& backend, const Settings& settings, Json& report) {
    for (const std::uint64_t samples : settings.samples)
        for (const std::uint32_t qubits : settings.qubits)
            for (const std::uint32_t columns : settings.columns)
                for (const bool given : {true, false})
                    for (const Json& row :
                         bench::run_states(backend, {samples, qubits, columns, given, settings.common.repeats,
                                                     settings.checked, settings.cuda}))
                        report["rows"].push_back(row);
}

bool run(const Settings& settings, Json& report) {
    weft::Backend backend;
    std::printf("%s, float32; pairs are those of the whole square\n", backend.name().c_str());
    report = {{"device", backend.name()}, {"rows", Json::array()}};
    if (settings.states) {
        run_all_states(backend, settings, report);
        return true;
    }
    for (const std::uint64_t samples : settings.samples)
        for (const std::string& map : settings.maps)
            for (const std::uint32_t qubits : settings.qubits) {
                if (settings.solve) {
                    report["rows"].push_back(run_solve(
                        backend, settings,
                        {samples, qubits, 1, map, weft::Choice::automatic, weft::Choice::automatic}));
                    continue;
                }
                for (const std::uint32_t columns : settings.columns) {
                    const auto measure = [&](weft::Choice symmetric, weft::Choice low_rank) {
                        run_case(backend, settings, {samples, qubits, columns, map, symmetric, low_rank},
                                 report["rows"]);
                    };
                    const auto plan = [&](weft::Choice low_rank) {
                        return weft::estimate_kernel_operator(backend, {.map = weft::feature_map(map)},
                                                              {samples, 0, qubits}, columns,
                                                              {.low_rank = low_rank});
                    };
                    if (settings.ways != "low-rank") measure(weft::Choice::off, weft::Choice::off);
                    if (settings.ways == "all" && plan(weft::Choice::off).symmetric)
                        measure(weft::Choice::automatic, weft::Choice::off);
                    if (settings.ways != "full" &&
                        plan(weft::Choice::automatic).method == weft::KernelOperatorMethod::low_rank)
                        measure(weft::Choice::automatic, weft::Choice::automatic);
                }
            }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Products with kernel matrices that are never stored"};
    app.add_option("--samples", settings.samples, "Rows of X")->delimiter(',');
    app.add_option("--qubits", settings.qubits, "Columns of X")->delimiter(',');
    app.add_option("--columns", settings.columns, "Columns of V")->delimiter(',');
    app.add_option("--map", settings.maps, "ry, ryrz")->delimiter(',');
    app.add_option("--ways", settings.ways,
                   "all (where they are planned), full (every value of K, each used once) or low-rank")
        ->capture_default_str()
        ->check(CLI::IsMember({"all", "full", "low-rank"}));
    app.add_option("--issue-rate", settings.issue_rate,
                   "Instructions of float32 that the device issues, in units of 1e12 a second: "
                   "half its FLOP/s");
    app.add_option("--checked", settings.checked, "Values of each result that are checked")
        ->capture_default_str();
#ifdef WEFT_BENCH_CUDA
    app.add_flag("--cuda", settings.cuda, "Compare with CUDA on the same device, in turns");
#endif
    app.add_flag("--loops", settings.loops, "Compare with a loop in C++ on all cores");
    app.add_flag("--solve", settings.solve, "Ridge regression instead of single products");
    app.add_flag(
        "--states", settings.states,
        "Products of states, given and of a circuit with re-upload, beside the stored K, which must fit");
    app.add_option("--lambda", settings.lambda, "Of the ridge regression")->capture_default_str();
    app.add_option("--rank", settings.rank, "Of its preconditioner")->capture_default_str();
    app.add_option("--tolerance", settings.tolerance, "Of its residual")->capture_default_str();
    const auto make_quick = [&] {
        settings.samples = {700};
        settings.qubits = {4};
        settings.columns = {1, 3};
        settings.loops = true;
    };
    return bench::run("bench_kernel_operator", app, settings.common, argc, argv, make_quick,
                      [&](Json& report) { return run(settings, report); });
}
