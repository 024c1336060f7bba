// SPDX-License-Identifier: Apache-2.0
// Measures the speed and the accuracy of each method of the Gram product |X X^H|^2 of resident states. It
// compares with cuBLAS if that is found, and on request with loops in C++. States are structured and nearly
// equal: they have constant modulus and phases that differ a little, so that rounding errors add up.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <weft/weft.hpp>

#include "bench_gram.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "cpu/cpu_threads.hpp"
#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops_vulkan/gram/gram.hpp"
#include "ops_vulkan/gram/gram_device.hpp"

namespace {

using namespace weft::kernels;
using Clock = std::chrono::steady_clock;

struct Settings {
    std::vector<std::uint64_t> rows{1024, 4096, 16384};
    std::vector<std::uint32_t> qubits{10, 12, 16};
    std::vector<std::string> methods{"automatic"};
    std::vector<std::string> tiles;
    std::vector<std::uint32_t> flush{0};
    std::vector<std::uint32_t> split{0};
    int repeats = 5;
    bool quick = false, loops = false, cublas = false, nv = false;
    double peak_tflops = 0, min_ms = 20;
};

GramMethod method_of(const std::string& name) {
    for (const GramMethod method :
         {GramMethod::fp32_4m, GramMethod::fp32_3m, GramMethod::fp64, GramMethod::matrix_split})
        if (name == to_string(method)) return method;
    return GramMethod::automatic;
}

/// Rows whose pairs are checked: neighbours, and some far apart.
std::vector<std::uint64_t> checked_rows(std::uint64_t rows) {
    std::vector<std::uint64_t> checked;
    for (std::uint64_t i = 0; i < 6; ++i) checked.push_back(std::min(rows - 1, i * 3));
    for (std::uint64_t i = 1; i <= 6; ++i) checked.push_back(rows - 1 - (rows - 1) / (i * i + 1));
    std::sort(checked.begin(), checked.end());
    checked.erase(std::unique(checked.begin(), checked.end()), checked.end());
    return checked;
}

struct Size {
    weft::Backend& backend;
    const Settings& settings;
    std::uint64_t rows, amplitudes;
    weft::Stream stream{backend};
    weft::Buffer<weft::c32> states{backend, rows* amplitudes, "states"};
    std::vector<std::uint64_t> checked = checked_rows(rows);
    std::vector<weft::c32> some{};  // the checked rows
    std::vector<double> exact{};    // exact values of their pairs, column <= row

    void build(std::uint32_t qubits) {
        std::vector<float> angles(rows * qubits);
        for (std::uint64_t r = 0; r < rows; ++r)
            for (std::uint32_t q = 0; q < qubits; ++q)
                angles[r * qubits + q] = 0.7f + 0.05f * static_cast<float>(q) +
                                         1e-3f * static_cast<float>(r % 61) * static_cast<float>(q % 3);
        weft::Buffer<float> values(backend, angles.size());
        stream.upload(angles, values);
        weft::encode_phase(stream, values, states, {rows, qubits});
        stream.wait();
        some.resize(checked.size() * amplitudes);
        for (std::size_t i = 0; i < checked.size(); ++i)
            stream.download<weft::c32>(states.view(checked[i] * amplitudes, amplitudes),
                                       std::span(some).subspan(i * amplitudes, amplitudes));
        for (std::size_t i = 0; i < checked.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                std::complex<double> sum = 0;
                for (std::uint64_t k = 0; k < amplitudes; ++k)
                    sum += std::complex<double>(some[i * amplitudes + k]) *
                           std::conj(std::complex<double>(some[j * amplitudes + k]));
                exact.push_back(std::norm(sum));
            }
    }
    double flops() const {
        return 4.0 * static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(amplitudes);
    }
};

/// The median milliseconds of one of `steps`, which are recorded often enough to take longer than the
/// submission.
template <class Steps>
double time_of(Size& size, const Steps& steps) {
    std::uint64_t times = 1;
    std::vector<double> results;
    for (int i = 0; i <= size.settings.repeats;) {
        const weft::Sequence sequence = size.stream.record([&](weft::Stream& s) {
            for (std::uint64_t t = 0; t < times; ++t) steps(s);
        });
        size.stream.replay(sequence);
        size.stream.wait();
        for (; i <= size.settings.repeats; ++i) {
            const auto start = Clock::now();
            size.stream.replay(sequence);
            size.stream.wait();
            const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
            if (times < 256 && ms < size.settings.min_ms) {
                times *= 2;
                results.clear();
                i = 0;
                break;
            }
            results.push_back(ms / static_cast<double>(times));
        }
    }
    std::sort(results.begin(), results.end());
    return results[results.size() / 2];
}

void report(const Size& size, const std::string& name, double ms, double error, const std::string& more) {
    const double tflops = size.flops() / (ms * 1e9);
    std::printf("%6llu x %6llu  %-34s %10.3f ms  %8.2f TF/s", static_cast<unsigned long long>(size.rows),
                static_cast<unsigned long long>(size.amplitudes), name.c_str(), ms, tflops);
    if (size.settings.peak_tflops > 0) std::printf("  %.2f of peak", tflops / size.settings.peak_tflops);
    std::printf("  error %.1e  %s\n", error, more.c_str());
    std::fflush(stdout);
}

double error_of(const Size& size, const weft::Buffer<float>& k, weft::Stream& stream) {
    double worst = 0;
    std::size_t pair = 0;
    for (const std::uint64_t i : size.checked) {
        std::vector<float> row(size.rows);
        stream.download<float>(k.view(i * size.rows, size.rows), row);
        for (const std::uint64_t j : size.checked)
            if (j <= i) {
                const double error = std::abs(static_cast<double>(row[j]) - size.exact[pair++]);
                worst = error <= worst ? worst : error;
            }
    }
    return worst;
}

double measure(Size& size, const GramDevice& device, const GramOptions& options) {
    GramProblem problem{size.rows, size.rows, size.amplitudes, true};
    problem.unit_rows = true;
    const GramPlan plan = plan_gram(problem, device, options);
    GramProduct product(size.stream, plan);
    weft::Buffer<std::uint32_t> planes(size.backend, plan.packed_bytes(size.rows) / 4, "planes");
    weft::Buffer<float> k(size.backend, size.rows * size.rows, "K");
    size.stream.fill(k.view(), 0x7fc00000u);
    product.pack(size.stream, size.states, size.rows, planes);
    const auto multiply = [&](weft::Stream& s) {
        product.square(s, {planes, 0, size.rows}, {k, {size.rows}});
    };
    multiply(size.stream);
    const double error = error_of(size, k, size.stream);
    const double pack =
        time_of(size, [&](weft::Stream& s) { product.pack(s, size.states, size.rows, planes); });
    const double ms = time_of(size, multiply);
    char more[96];
    std::snprintf(more, sizeof more, "pack %.3f ms, flush %u, split %u", pack, plan.flush, plan.split);
    report(size,
           std::string(to_string(plan.method)) +
               (plan.khr        ? " khr "
                : plan.matrix() ? " nv "
                                : " ") +
               to_string(plan.tile),
           ms, error, more);
    return ms;
}

void compare(Size& size) {
    if (size.settings.cublas) {
        const std::uint64_t rows =
            std::min<std::uint64_t>(size.rows, (std::uint64_t{256} << 20) / (8 * size.amplitudes));
        std::vector<weft::c32> host(rows * size.amplitudes);
        size.stream.download<weft::c32>(size.states.view(0, host.size()), host);
        std::vector<std::uint64_t> checked;
        for (const std::uint64_t i : size.checked)
            if (i < rows) checked.push_back(i);
        const bench::Herk herk =
            bench::run_cherk(host, size.rows, size.amplitudes, checked, size.settings.repeats);
        if (!herk.absent.empty()) std::printf("cuBLAS: %s\n", herk.absent.c_str());
        // The checked rows are in ascending order, so the pairs of the first rows come first in `exact` too.
        double error = 0;
        for (std::size_t i = 0; i < herk.products.size(); ++i)
            error = std::max(error,
                             std::abs(static_cast<double>(std::norm(std::complex<double>(herk.products[i]))) -
                                      size.exact[i]));
        if (herk.absent.empty()) report(size, "cublasCherk, no modulus", herk.ms, error, "");
    }
    if (size.settings.loops) {
        std::vector<weft::c32> host(size.rows * size.amplitudes);
        size.stream.download<weft::c32>(size.states.view(), host);
        std::vector<float> k(size.rows * size.rows);
        const std::vector<float> packed =
            weft::tool::cpu_pack_states(host, size.rows, weft::tool::cpu_threads());
        double ms = 1e30;
        for (int i = 0; i < size.settings.repeats; ++i) {
            const auto start = Clock::now();
            weft::tool::cpu_gram(packed, size.rows, size.amplitudes, k, weft::tool::cpu_threads());
            ms = std::min(ms, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
        }
        double error = 0;
        std::size_t pair = 0;
        for (const std::uint64_t i : size.checked)
            for (const std::uint64_t j : size.checked)
                if (j <= i)
                    error = std::max(
                        error, std::abs(static_cast<double>(k[i * size.rows + j]) - size.exact[pair++]));
        report(size, "C++ loops on all cores", ms, error, "");
    }
}

void run_size(weft::Backend& backend, const Settings& settings, std::uint64_t rows, std::uint32_t qubits) {
    Size size{backend, settings, rows, std::uint64_t{1} << qubits};
    size.build(qubits);
    GramDevice device = gram_device(backend);
    if (settings.nv) device.matrix_khr = false;
    compare(size);
    for (const std::string& method : settings.methods)
        for (const std::uint32_t flush : settings.flush)
            for (const std::uint32_t split : settings.split) {
                GramOptions options{.method = method_of(method)};
                if (flush != 0) options.flush = flush;
                if (split != 0) options.split = split;
                try {
                    if (settings.tiles.empty()) measure(size, device, options);
                    for (const GramTile& tile : gram_tiles(device, options.method)) {
                        const std::string name = to_string(tile);
                        for (const std::string& wanted : settings.tiles)
                            if (wanted == "all" || wanted == name) {
                                options.tile = tile;
                                measure(size, device, options);
                            }
                    }
                } catch (const weft::Error& error) {
                    std::printf("%6llu  %s: %s\n", static_cast<unsigned long long>(rows), method.c_str(),
                                error.what());
                }
            }
    if (settings.cublas) compare(size);
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CLI::App app{"The Gram product of resident states"};
    app.add_option("--rows", settings.rows, "Numbers of states");
    app.add_option("--qubits", settings.qubits, "Qubits of a state");
    app.add_option("--methods", settings.methods, "automatic, fp32_4m, fp32_3m, matrix_split");
    app.add_option("--tiles", settings.tiles, "all, or as printed");
    app.add_option("--flush", settings.flush, "Amplitudes between outer sums; 0: as planned");
    app.add_option("--split", settings.split, "Parts of the sums; 0: as planned");
    app.add_option("--repeats", settings.repeats, "Runs; the median counts");
    app.add_option("--peak", settings.peak_tflops, "TFLOP/s of the device in FP32, for the fraction");
    app.add_option("--min-ms", settings.min_ms, "Least duration of a run");
    app.add_flag("--nv", settings.nv, "Matrix units through VK_NV_cooperative_matrix where both are there");
    app.add_flag("--loops", settings.loops, "Compare with C++ loops");
    app.add_flag("--cublas", settings.cublas, "Compare with cublasCherk, before and after");
    app.add_flag("--quick", settings.quick, "Small sizes, to see that it works");
    CLI11_PARSE(app, argc, argv);
    if (settings.quick) {
        settings.rows = {96};
        settings.qubits = {6};
        settings.repeats = 1;
        settings.min_ms = 1;
        settings.loops = true;
    }
    weft::Backend backend;
    const GramDevice device = gram_device(backend);
    std::printf("%s; matrix units: khr %d, nv %d, exact %d %s\n", backend.name().c_str(), device.matrix_khr,
                device.matrix_nv, device.matrix_exact, device.matrix_reason.c_str());
    for (const std::uint32_t qubits : settings.qubits)
        for (const std::uint64_t rows : settings.rows) run_size(backend, settings, rows, qubits);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
