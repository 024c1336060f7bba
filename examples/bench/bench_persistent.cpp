// SPDX-License-Identifier: Apache-2.0
// Measures what a persistent backend saves: calls that make a backend each time, and calls on a backend that
// is kept, from the first call to the steady state. Also measures how close the kernel on resident data comes
// to the speed of the memory.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"

namespace {

using bench::Clock;
using bench::Json;
using bench::median;
using Limbs = std::vector<std::uint64_t>;
constexpr std::size_t kLimbs = weft::kBls12381FpLimbs;

double ms_since(Clock::time_point start) {
    return bench::seconds_since(start) * 1e3;
}

/// a + b = out with a known answer: the low limbs are i and 2^64 - 1, so every element but 0 carries into its
/// second limb.
struct Vectors {
    explicit Vectors(std::size_t elements) : a(elements * kLimbs, 0), b(a), out(a) {
        for (std::size_t i = 0; i < elements; ++i) {
            a[i * kLimbs] = i + 1;
            b[i * kLimbs] = ~std::uint64_t{0};
        }
    }
    void require_right() {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::uint64_t want = i % kLimbs == 0 ? i / kLimbs : i % kLimbs == 1 ? 1 : 0;
            if (out[i] != want)
                throw weft::Error(weft::Errc::driver, "wrong sum at limb " + std::to_string(i));
        }
        std::fill(out.begin(), out.end(), 0xdeadbeefu);
    }
    Limbs a, b, out;
};

struct FirstCall {
    double init_ms, call_ms;
};

/// Makes a backend, uses it once and destroys it.
FirstCall one_shot(const weft::Config& config, Vectors& v) {
    const auto start = Clock::now();
    weft::Backend backend(config);
    const double init = ms_since(start);
    const auto call = Clock::now();
    weft::field_add(backend, weft::Field::bls12_381_fp, v.a, v.b, v.out);
    const FirstCall times{init, ms_since(call)};
    v.require_right();
    return times;
}

double steady_ms(weft::Backend& backend, Vectors& v, int repeats) {
    std::vector<double> times;
    for (int i = 0; i < repeats + 3; ++i) {
        const auto start = Clock::now();
        weft::field_add(backend, weft::Field::bls12_381_fp, v.a, v.b, v.out);
        if (i >= 3) times.push_back(ms_since(start));
        v.require_right();
    }
    return median(std::move(times));
}

/// The addition on resident buffers, whose result is checked once.
class ResidentAdd {
  public:
    ResidentAdd(weft::Backend& backend, Vectors& v)
        : dispatches_(backend.device().type == weft::DeviceType::cpu ? 1 : 8),
          a_(backend, v.a.size()),
          b_(backend, v.a.size()),
          out_(backend, v.a.size()),
          stream_(backend) {
        stream_.upload(v.a, a_);
        stream_.upload(v.b, b_);
        stream_.wait();
    }
    double gb_per_s(const weft::Program& add) {
        for (int d = 0; d < dispatches_; ++d) stream_.dispatch(add, {a_, b_, out_}, a_.size() / kLimbs);
        const auto start = Clock::now();
        stream_.wait();
        return static_cast<double>(3 * a_.bytes()) * dispatches_ / ms_since(start) / 1e6;
    }
    void require_right(const weft::Program& add, Vectors& v) {
        stream_.fill(out_.view(), 0xdeadbeefu);
        stream_.dispatch(add, {a_, b_, out_}, a_.size() / kLimbs);
        v.out = stream_.download(out_);
        v.require_right();
    }

  private:
    int dispatches_;  // of a submission: several if one is too short to time
    weft::Buffer<std::uint64_t> a_, b_, out_;
    weft::Stream stream_;
};

struct Settings {
    std::vector<std::size_t> sizes{64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304};
    bench::Options common{.repeats = 25};
};

Json calls(const Settings& settings, weft::Backend& backend, const weft::Config& warm) {
    Json rows = Json::array();
    std::printf("%9s %14s %14s %12s %10s %12s\n", "elements", "one-shot ms", "persistent ms", "Melem/s",
                "GB/s", "verified");
    for (const std::size_t elements : settings.sizes) {
        Vectors v(elements);
        std::vector<double> shots;
        for (int i = 0; i < (settings.common.quick ? 1 : 3); ++i) {
            const FirstCall shot = one_shot(warm, v);
            shots.push_back(shot.init_ms + shot.call_ms);
        }
        const int repeats = elements <= 4096 ? 20 * settings.common.repeats : settings.common.repeats;
        const double shot = median(std::move(shots)), steady = steady_ms(backend, v, repeats);
        const double rate = static_cast<double>(elements) / steady / 1e3;
        std::printf("%9zu %14.2f %14.4f %12.1f %10.2f %12s\n", elements, shot, steady, rate, rate * 0.144,
                    "yes");
        rows.push_back(
            {{"elements", elements}, {"one_shot_ms", shot}, {"persistent_ms", steady}, {"verified", true}});
    }
    return rows;
}

/// Kernels and ceiling take turns, so that a moment with slow device memory affects both.
Json resident(const Settings& settings, weft::Backend& backend) {
    const std::size_t bindable =
        backend.device().limits.max_storage_buffer_range / (kLimbs * sizeof(std::uint64_t));
    const std::size_t elements = settings.common.quick ? 65536 : std::min<std::size_t>(4194304, bindable);
    Vectors v(elements);
    weft::tune::MemoryCeiling ceiling(backend, elements * 144);
    ResidentAdd add(backend, v);
    Json out{{"elements", elements}};
    std::printf("\nresident, %zu elements\n", elements);
    for (const auto& [shader, name] :
         {std::pair{weft::FieldShader::limbs32, "limbs32"}, std::pair{weft::FieldShader::limbs64, "limbs64"},
          std::pair{weft::FieldShader::automatic, "automatic"}}) {
        if (shader == weft::FieldShader::limbs64 && !backend.device().shader_int64) continue;
        const weft::Program program =
            weft::field_program(backend, weft::Field::bls12_381_fp, weft::FieldOp::add, {.shader = shader});
        add.require_right(program, v);
        std::vector<double> rates, ceilings;
        for (int i = 0; i < settings.common.repeats; ++i) {
            ceilings.push_back(ceiling.gb_per_s());
            rates.push_back(add.gb_per_s(program));
        }
        const double rate = median(std::move(rates)), most = median(std::move(ceilings));
        std::printf("  %-10s %8.1f GB/s, memory ceiling %8.1f GB/s: %.3f of it\n", name, rate, most,
                    rate / most);
        out[name] = {
            {"gb_per_s", rate}, {"memory_ceiling_gb_per_s", most}, {"ceiling_fraction", rate / most}};
    }
    return out;
}

/// The call of 64 elements and its two floors, in turns: the time to wake threads, which is most of all
/// three, changes with the state of the machine.
Json small_call(const Settings& settings, weft::Backend& backend) {
    Vectors small(64);
    std::vector<double> calls, empties, kernels;
    for (int i = 0; i < (settings.common.quick ? 3 : 25); ++i) {
        calls.push_back(steady_ms(backend, small, 50) * 1e3);
        empties.push_back(weft::tune::measure_submit_wait(backend, 50) * 1e6);
        kernels.push_back(weft::tune::measure_dispatch_wait(backend, 50) * 1e6);
    }
    const double call = median(std::move(calls)), empty = median(std::move(empties)),
                 kernel = median(std::move(kernels));
    std::printf("\nsynchronous call of 64 elements: %.1f us\n", call);
    std::printf("  %.2f times an empty command buffer, submitted and awaited (%.1f us)\n", call / empty,
                empty);
    std::printf("  %.2f times the smallest kernel, recorded beforehand (%.1f us)\n", call / kernel, kernel);
    return {{"call_us", call}, {"empty_us", empty}, {"smallest_kernel_us", kernel}};
}

bool run(const Settings& settings, Json& report) {
    // A separate pipeline cache: the first call is cold, the second warm, and the user's cache does not
    // change.
    const auto folder = std::filesystem::temp_directory_path() / ("weft-bench-" + std::to_string(getpid()));
    struct Cleanup {
        std::filesystem::path folder;
        ~Cleanup() {
            std::error_code ignored;
            std::filesystem::remove_all(folder, ignored);
        }
    } cleanup{folder};
    weft::Config config = weft::Config::from_env();
    config.cache = true;
    config.cache_dir = folder;

    Vectors first(settings.sizes.front());
    const FirstCall cold = one_shot(config, first), warm = one_shot(config, first);
    weft::Backend backend(config);
    const double floor_us = weft::tune::measure_submit_wait(backend, settings.common.quick ? 50 : 500) * 1e6;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf("cold cache: init %.1f ms, first call %.2f ms\n", cold.init_ms, cold.call_ms);
    std::printf("warm cache: init %.1f ms, first call %.2f ms\n", warm.init_ms, warm.call_ms);
    std::printf("empty submission and wait: %.1f us\n\n", floor_us);

    report = {{"device", backend.name()},
              {"driver", backend.device().driver},
              {"cold", {{"init_ms", cold.init_ms}, {"first_call_ms", cold.call_ms}}},
              {"warm", {{"init_ms", warm.init_ms}, {"first_call_ms", warm.call_ms}}},
              {"submit_wait_us", floor_us}};
    report["calls"] = calls(settings, backend, config);
    report["call_64"] = small_call(settings, backend);
    report["resident"] = resident(settings, backend);
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Field addition by one-shot backends and by a persistent one, and on resident data."};
    CLI::Option* sizes = app.add_option("--sizes", settings.sizes, "Elements a call, comma-separated")
                             ->delimiter(',')
                             ->check(CLI::Range(1, 1 << 28));
    const auto make_quick = [&] {
        if (sizes->count() == 0) settings.sizes = {64, 4096, 65536};
    };
    return bench::run("bench_persistent", app, settings.common, argc, argv, make_quick,
                      [&](Json& report) { return run(settings, report); });
}
