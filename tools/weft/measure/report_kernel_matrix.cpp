// SPDX-License-Identifier: Apache-2.0
// weft profile kernel: kernel matrices of features through circuits with and without layers, building of
// states, and kernel matrices of states.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cpu/cpu_encode.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "device/cuda_calls.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

enum KernelProcess : std::size_t { kFeatures, kLayers, kStates, kGram, kProcesses };
constexpr double kKernelTolerance = 2e-5;  // all values are float32 sums and products of numbers of at most 1

/// The CPU's result: K of all rows, or of `items` with themselves. For kStates: K with the first row only.
struct WantedKernel {
    std::vector<std::uint64_t> items;  // empty: all
    std::vector<float> k;
};

template <class T>
std::vector<T> gathered(std::span<const T> rows, std::span<const std::uint64_t> items, std::size_t length) {
    std::vector<T> out(items.size() * length);
    for (std::size_t i = 0; i < items.size(); ++i)
        std::copy_n(&rows[items[i] * length], length, &out[i * length]);
    return out;
}

class KernelWork : public ReportWork {
  public:
    KernelWork(const ReportTargets& targets, const KernelMatrixChoice& choice, std::uint64_t samples,
               unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          shape_{.samples = samples, .qubits = choice.qubits},
          states_shape_{samples, choice.qubits},
          weights_(std::size_t{choice.layers} * choice.qubits),
          features_(samples * choice.qubits),
          states_(states_shape_.amplitudes()) {
        for (std::size_t i = 0; i < weights_.size(); ++i)
            weights_[i] = std::fmod(0.7548776662466927 * static_cast<double>(i + 1), 1.0) * 6 - 3;
        cancels_.map = layered_.map = choice.map;
        layered_.weights = weights_;
        layered_.reupload = true;
        fill_encode<float>(EncodeMethod::phase, states_shape_, features_);
        cpu_encode<float>(EncodeMethod::phase, features_, states_, states_shape_, threads);
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        const std::uint64_t row = process == kStates ? shape_.qubits : 0;
        return process == kGram ? states_.size() * sizeof(c32) : (features_.size() + row) * sizeof(float);
    }
    std::uint64_t bytes_out(std::size_t process) const override { return values(process) * sizeof(float); }
    void run_cpu(std::size_t process) override {
        wanted_[process].items.clear();
        run_cpu_on(process, features_, states_, shape_.samples);
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) override {
        wanted_[process].items.assign(items.begin(), items.end());
        run_cpu_on(process, gathered<float>(features_, items, shape_.qubits),
                   gathered<c32>(states_, items, states_shape_.state_size()), items.size());
    }
    void prepare(ReportPath path) override;
    void release() override {
        device_.reset();
        k_.clear();
        locked_features_.clear();
        locked_states_.clear();
    }
    void run(std::size_t process) override {
        const bool locked = path_ == ReportPath::page_locked;
        Target& target = targets_.of(path_);
        const std::span<float> features = locked ? locked_features_.span() : std::span<float>(features_);
        const std::span<c32> states = locked ? locked_states_.span() : std::span<c32>(states_);
        const std::span<float> k = k_.span().first(values(process));
        const ConstHostArray first(features.first(shape_.qubits));
        if (process == kGram) target.kernel_matrix(states, nullptr, k, shape_, {});
        if (process == kStates) target.kernel_matrix(layered_, features, &first, k, with_one_row(), {});
        if (process == kFeatures || process == kLayers)
            target.kernel_matrix(circuit(process), features, nullptr, k, shape_, {});
    }
    void record(std::size_t process, Stream& stream) override {
        const auto k = device_->k.view(0, values(process));
        if (process == kGram) kernel_matrix(stream, device_->states, k, states_shape_);
        if (process == kStates)
            kernel_matrix(stream, layered_, device_->features, device_->features.view(0, shape_.qubits), k,
                          with_one_row());
        if (process == kFeatures || process == kLayers)
            kernel_matrix(stream, circuit(process), device_->features, k, shape_);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<float> resident;
        if (device_) resident = stream->download(device_->k);
        const std::span<float> got = device_ ? std::span<float>(resident) : k_.span();
        compare(process, got);
        if (device_)
            stream->fill(device_->k.view(), 0x7fc00000u);
        else
            std::fill(got.begin(), got.end(), -7.0f);
    }

  private:
    struct Resident {
        Buffer<float> features, k;
        Buffer<c32> states;
        Resident(Backend& backend, std::size_t f, std::size_t s, std::size_t values)
            : features(backend, f), k(backend, values), states(backend, s) {}
    };

    const KernelMatrixCircuit& circuit(std::size_t process) const {
        return process == kFeatures ? cancels_ : layered_;
    }
    KernelMatrixShape with_one_row() const { return {shape_.samples, 1, shape_.qubits}; }
    std::uint64_t values(std::size_t process) const {
        return process == kStates ? shape_.samples : shape_.values();
    }
    void run_cpu_on(std::size_t process, std::span<const float> features, std::span<const c32> states,
                    std::size_t samples) {
        std::vector<float>& k = wanted_[process].k;
        k.resize(process == kStates ? samples : samples * samples);
        if (process == kGram)
            cpu_kernel_of_states(states, samples, k, threads_);
        else if (process == kStates)
            cpu_overlaps_of_features(layered_, features, samples, std::span(features_).first(shape_.qubits),
                                     k, threads_);
        else
            cpu_kernel_of_features(circuit(process), features, samples, k, threads_);
    }
    void compare(std::size_t process, std::span<const float> got) const {
        const auto& [items, wanted] = wanted_[process];
        const std::size_t rows = items.empty() ? shape_.samples : items.size();
        const std::size_t columns = process == kStates ? 1 : rows,
                          stride = process == kStates ? 1 : shape_.samples;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::size_t r = i / columns, c = i % columns;
            const std::size_t row = items.empty() ? r : items[r];
            const std::size_t column = items.empty() || process == kStates ? c : items[c];
            const double difference =
                std::abs(static_cast<double>(got[row * stride + column]) - static_cast<double>(wanted[i]));
            if (difference <= kKernelTolerance) continue;  // false for NaN
            char text[96];
            std::snprintf(text, sizeof text, "K[%zu, %zu] differs from the CPU's by %.3g", row, column,
                          difference);
            throw WrongResult(text);
        }
    }

    ReportTargets targets_;
    KernelMatrixShape shape_;
    StateShape states_shape_;
    std::vector<double> weights_;
    KernelMatrixCircuit cancels_, layered_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<float> features_;
    std::array<WantedKernel, kProcesses> wanted_;
    std::vector<c32> states_;
    PathArray<float> locked_features_, k_;
    PathArray<c32> locked_states_;
    std::unique_ptr<Resident> device_;
};

void KernelWork::prepare(ReportPath path) {
    path_ = path;
    if (path == ReportPath::resident) {
        device_ =
            std::make_unique<Resident>(*targets_.backend, features_.size(), states_.size(), shape_.values());
        Stream stream(*targets_.backend);
        stream.upload(features_, device_->features);
        stream.upload(states_, device_->states);
        stream.wait();
        return;
    }
    k_.make(targets_.backend, shape_.values(), path);
    if (path != ReportPath::page_locked) return;
    locked_features_.make(targets_.backend, features_.size(), path);
    locked_states_.make(targets_.backend, states_.size(), path);
    std::copy(features_.begin(), features_.end(), locked_features_.span().begin());
    std::copy(states_.begin(), states_.end(), locked_states_.span().begin());
}

class KernelMatrixReportSource : public ReportKernel {
  public:
    explicit KernelMatrixReportSource(const KernelMatrixChoice& choice) : choice_(choice) {}
    std::string name() const override { return "kernel"; }
    std::string unit() const override { return "samples"; }
    std::string rate_unit(std::size_t process) const override {
        return process == kStates ? "states" : "pairs";
    }
    double items(std::size_t process, std::uint64_t batch) const override {
        const auto n = static_cast<double>(batch);
        return process == kStates ? n : n * (n + 1) / 2;
    }
    double growth(std::size_t process) const override { return process == kStates ? 1 : 2; }
    std::uint64_t sample_size() const override { return 64; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"map", to_string(choice_.map)},
                {"qubits", std::to_string(choice_.qubits)},
                {"depth", std::to_string(choice_.layers) + " layers"},
                {"values", "float32"},
                {"features", "K of features through a circuit without layers"},
                {"layers", "K of features through a circuit of that depth with re-upload"},
                {"states", "the states of that circuit, and their products with the first alone"},
                {"gram", "K of states, complex64"}};
    }
    std::vector<std::string> processes() const override { return {"features", "layers", "states", "gram"}; }
    double host_bytes(std::uint64_t batch) const override {
        const auto n = static_cast<double>(batch);
        // K: three results of the CPU, one of the device, and its download. States: the input, a copy, and
        // the CPU's own with their separate parts.
        return 20 * n * n +
               n * (16.0 * choice_.qubits + 32 * std::ldexp(1.0, static_cast<int>(choice_.qubits)));
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        return std::make_unique<KernelWork>(targets, choice_, batch, threads);
    }

  private:
    KernelMatrixChoice choice_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_kernel_matrix(const KernelMatrixChoice& choice) {
    return std::make_unique<KernelMatrixReportSource>(choice);
}

}  // namespace weft::tool
