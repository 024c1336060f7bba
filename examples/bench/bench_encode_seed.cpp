// SPDX-License-Identifier: Apache-2.0
// bench_encode --seed-workload: states stay on the device, of each batch one sum comes back and is checked.
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "bench_encode.hpp"

namespace bench {
namespace {

constexpr std::uint32_t kAbsSum[] = {
#include "shaders/abs_sum.spv.inc"
};

constexpr std::uint32_t kQubits = 16;
constexpr std::uint64_t kBatch = 64, kValues = kBatch << kQubits;
constexpr std::size_t kSlots = 3, kInputs = 6;
constexpr std::uint32_t kWorkgroups = 264;

/// Sets of device memory: while batches are encoded, the next are copied into the others, on a queue of their
/// own.
class SeedRun {
  public:
    explicit SeedRun(weft::Backend& backend)
        : stream_(backend, {.name = "encode"}),
          copies_(backend, {.name = "copies", .queue = weft::StreamQueue::upload}),
          sum_(backend, kAbsSum, {.name = "abs_sum", .max_workgroups = kWorkgroups}) {
        for (std::size_t i = 0; i < kInputs; ++i) {
            inputs_.emplace_back(backend, kValues);
            fill(i);
        }
        for (std::size_t s = 0; s < kSlots; ++s) {
            values_.emplace_back(backend, kValues);
            states_.emplace_back(backend, kValues);
            sums_.emplace_back(backend, kWorkgroups);
            results_.emplace_back(backend, kWorkgroups);
        }
        for (std::size_t i = 0; i < kInputs; ++i)
            copy_.push_back(copies_.record(
                [&](weft::Stream& to) { to.copy<double>(inputs_[i].view(), values_[i % kSlots].view()); }));
        for (std::size_t s = 0; s < kSlots; ++s)
            work_.push_back(stream_.record([&](weft::Stream&) { work(s); }));
        worked_.resize(kSlots);
    }

    /// Seconds of `batches` batches of which `in_flight` are under way at a time.
    double streamed(std::size_t batches, std::size_t in_flight) {
        return timed(batches, in_flight, [&](std::size_t b) { copies_.replay(copy_[b % kInputs]); });
    }

    /// The same of values that are on the device already.
    double resident(std::size_t batches) {
        return timed(batches, kSlots, [](std::size_t) {});
    }

    /// The same from ordinary memory, which the host copies into page-locked memory first.
    double ordinary(std::size_t batches, const std::vector<std::vector<double>>& inputs) {
        return timed(batches, kSlots, [&](std::size_t b) {
            copies_.upload(std::span<const double>(inputs[b % kInputs]), values_[b % kSlots].view());
        });
    }

    /// States that the next run must replace.
    void spoil() {
        for (auto& states : states_) stream_.fill(states.view(), 0x41100000);  // 9.0f
        stream_.wait();
    }
    /// Sums that were compared since the last call.
    std::uint64_t sums_compared() { return std::exchange(sums_compared_, 0); }
    /// Rows of the last of `batches` batches.
    Verified verify(const char* route, std::size_t batches) {
        const std::size_t slot = (batches - 1) % kSlots;
        const std::span<const double> values = inputs_[(batches - 1) % kInputs].span();
        constexpr std::uint64_t kSize = std::uint64_t{1} << kQubits;
        Verified verified;
        std::vector<weft::c32> state(kSize);
        for (const std::uint64_t row : rows_to_check(kBatch)) {
            stream_.download<weft::c32>(states_[slot].view(row * kSize, kSize), std::span(state));
            verified.add(route, row, weft::EncodeMethod::amplitude, values.subspan(row * kSize, kSize),
                         state);
        }
        return verified;
    }

    std::vector<std::vector<double>> ordinary_inputs() const {
        std::vector<std::vector<double>> all;
        for (const auto& input : inputs_) all.emplace_back(input.begin(), input.end());
        return all;
    }

  private:
    template <class Upload>
    double timed(std::size_t batches, std::size_t in_flight, const Upload& upload) {
        const auto start = Clock::now();
        for (std::size_t b = 0; b < batches + in_flight; ++b) {
            if (b >= in_flight) {
                worked_[(b - in_flight) % kSlots].wait();
                consume(b - in_flight);
            }
            if (b >= batches) continue;
            upload(b);
            stream_.wait_for(copies_.submit());
            worked_[b % kSlots] = stream_.replay(work_[b % kSlots]);
        }
        return seconds_since(start);
    }
    // v[i] = ((i + s) mod 2^16) / 2^16 for sample s: the founding run's own.
    void fill(std::size_t input) {
        for (std::uint64_t i = 0; i < kValues; ++i) {
            const std::uint64_t sample = input * kBatch + (i >> kQubits);
            inputs_[input][i] = static_cast<double>((i + sample) & 0xffff) / 65536.0;
        }
    }
    void work(std::size_t slot) {
        weft::encode_amplitude(stream_, values_[slot], states_[slot], {kBatch, kQubits});
        stream_.dispatch(sum_, {states_[slot], sums_[slot]}, kValues / 2);
        stream_.copy<float>(sums_[slot].view(), results_[slot].view());
    }
    // Every row is the same ramp, rotated: sum 32767.5 over norm 147.799977...
    void consume(std::size_t batch) {
        const auto& result = results_[batch % kSlots];
        const double sum = std::accumulate(result.begin(), result.end(), 0.0);
        const double want = static_cast<double>(kBatch) * 32767.5 / std::sqrt(21844.833335876464844);
        if (!(std::abs(sum / want - 1) < 1e-5))
            throw weft::Error(weft::Errc::driver,
                              "batch " + std::to_string(batch) + ": wrong sum of magnitudes");
        std::fill(result.begin(), result.end(), 0.0f);
        ++sums_compared_;
    }

    weft::Stream stream_, copies_;
    weft::Program sum_;
    std::vector<weft::HostBuffer<double>> inputs_;
    std::vector<weft::Buffer<double>> values_;
    std::vector<weft::Buffer<weft::c32>> states_;
    std::vector<weft::Buffer<float>> sums_;
    std::vector<weft::HostBuffer<float>> results_;
    std::vector<weft::Sequence> copy_, work_;
    std::vector<weft::Event> worked_;
    std::uint64_t sums_compared_ = 0;
};

/// One way to run it, its trials and what was verified of them.
struct Route {
    const char* name;
    std::function<double()> run;
    Times times;
    Verified verified;
    std::uint64_t sums = 0;
};

nlohmann::json report(const Route& route, std::size_t batches, double upload_gb_per_s) {
    const Times& times = route.times;
    nlohmann::json verified = route.verified.json();
    verified["sums_of_magnitudes"] = route.sums;

    const auto vectors = static_cast<double>(batches * kBatch);
    const double rate = vectors / times.median(), share = rate * gb(8u << kQubits) / upload_gb_per_s;
    std::printf("%-28s %12.0f %12.0f %12.5f %10.2f\n", route.name, rate, vectors / times.p95(),
                1e3 * times.median() / vectors, share);
    return {{"name", route.name},
            {"vectors_per_s", rate},
            {"vectors_per_s_slow_tail", vectors / times.p95()},
            {"ms_per_vector", 1e3 * times.median() / vectors},
            {"of_upload_ceiling", share},
            {"verified", verified}};
}

}  // namespace

nlohmann::json run_seed_workload(weft::Backend& backend, const Settings& settings) {
    const std::size_t batches = settings.quick ? 2 : 500;
    SeedRun run(backend);
    const auto inputs = run.ordinary_inputs();
    const double upload = weft::tune::measure_copy_ceiling(backend, 1, 0).upload_gb_per_s;
    std::printf(
        "16 qubits, %zu batches of 64, float64 in, complex64 on the device, one sum of each batch back;\n"
        "upload ceiling %.1f GB/s = %.0f vectors/s\n\n%-28s %12s %12s %12s %10s\n",
        batches, upload, upload / gb(8u << kQubits), "", "vectors/s", "slow tail", "ms/vector", "of ceiling");
    run.streamed(kInputs, 1);
    static_cast<void>(run.sums_compared());
    // Of resident values the device holds those of the run before.
    Route routes[] = {{"one batch in flight", [&] { return run.streamed(batches, 1); }},
                      {"pipelined", [&] { return run.streamed(batches, kSlots); }},
                      {"pipelined, ordinary memory", [&] { return run.ordinary(batches, inputs); }},
                      {"pipelined, resident", [&] { return run.resident(batches); }}};
    for (int t = 0; t < settings.trials; ++t)
        for (Route& route : routes) {
            const bool last = t + 1 == settings.trials;
            if (last) run.spoil();
            route.times.seconds.push_back(route.run());
            route.sums += run.sums_compared();
            if (last) route.verified = run.verify(route.name, batches);
        }
    nlohmann::json rows = nlohmann::json::array();
    for (const Route& route : routes) rows.push_back(report(route, batches, upload));
    return {{"batches", batches}, {"upload_gb_per_s", upload}, {"rows", rows}};
}

}  // namespace bench
