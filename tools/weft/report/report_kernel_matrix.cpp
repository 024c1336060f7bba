// SPDX-License-Identifier: Apache-2.0
// weft profile kernel: kernel matrices of features and of states.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cpu/cpu_encode.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "cli/cuda_calls.hpp"
#include "report/report_kernel.hpp"

namespace weft::tool {
namespace {

enum Process : std::size_t { kFeatures, kGram };
constexpr double kTolerance = 2e-5;  // both are float32 sums and products of numbers of at most 1

class KernelWork : public ReportWork {
  public:
    KernelWork(const ReportTargets& targets, FeatureMap map, std::uint32_t qubits, std::uint64_t samples,
               unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          shape_{.samples = samples, .qubits = qubits},
          states_shape_{samples, qubits},
          features_(samples * qubits),
          states_(states_shape_.amplitudes()) {
        circuit_.map = map;
        fill_encode<float>(EncodeMethod::phase, states_shape_, features_);
        cpu_encode<float>(EncodeMethod::phase, features_, states_, states_shape_, threads);
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return process == kFeatures ? features_.size() * sizeof(float) : states_.size() * sizeof(c32);
    }
    std::uint64_t bytes_out(std::size_t) const override { return shape_.values() * sizeof(float); }
    void run_cpu(std::size_t process) override {
        wanted_[process].resize(shape_.values());
        if (process == kFeatures)
            cpu_kernel_of_features(circuit_, features_, shape_.samples, wanted_[process], threads_);
        else
            cpu_kernel_of_states(states_, shape_.samples, wanted_[process], threads_);
    }
    void prepare(ReportPath path) override {
        path_ = path;
        if (path == ReportPath::resident) {
            device_ = std::make_unique<Resident>(*targets_.backend, features_.size(), states_.size(),
                                                 shape_.values());
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
    void release() override {
        device_.reset();
        k_.clear();
        locked_features_.clear();
        locked_states_.clear();
    }
    void run(std::size_t process) override {
        const bool locked = path_ == ReportPath::page_locked;
        Target& target = targets_.of(path_);
        if (process == kFeatures)
            target.kernel_matrix(circuit_, locked ? locked_features_.span() : std::span<float>(features_),
                                 nullptr, k_.span(), shape_, {});
        else
            target.kernel_matrix(locked ? locked_states_.span() : std::span<c32>(states_), nullptr, k_.span(),
                                 shape_, {});
    }
    void record(std::size_t process, Stream& stream) override {
        if (process == kFeatures)
            kernel_matrix(stream, circuit_, device_->features, device_->k, shape_);
        else
            kernel_matrix(stream, device_->states, device_->k, states_shape_);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<float> resident;
        if (device_) resident = stream->download(device_->k);
        const std::span<float> got = device_ ? std::span<float>(resident) : k_.span();
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double difference =
                std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted_[process][i]));
            if (difference <= kTolerance) continue;  // false for NaN
            char text[96];
            std::snprintf(text, sizeof text, "K[%zu, %zu] differs from the CPU's by %.3g", i / shape_.samples,
                          i % shape_.samples, difference);
            throw WrongResult(text);
        }
        if (device_)
            stream->fill(device_->k.view(), 0x7fc00000);
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

    ReportTargets targets_;
    KernelMatrixShape shape_;
    StateShape states_shape_;
    KernelMatrixCircuit circuit_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<float> features_, wanted_[2];
    std::vector<c32> states_;
    HostArray<float> locked_features_, k_;
    HostArray<c32> locked_states_;
    std::unique_ptr<Resident> device_;
};

class KernelMatrixReportSource : public ReportKernel {
  public:
    KernelMatrixReportSource(FeatureMap map, std::uint32_t qubits) : map_(map), qubits_(qubits) {}
    std::string name() const override { return "kernel"; }
    std::string unit() const override { return "samples"; }
    std::string rate_unit() const override { return "pairs"; }
    double items(std::uint64_t batch) const override {
        return static_cast<double>(batch) * (static_cast<double>(batch) + 1) / 2;
    }
    double growth() const override { return 2; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"map", to_string(map_)},
                {"qubits", std::to_string(qubits_)},
                {"values", "float32"},
                {"features", "K of features through a circuit without layers"},
                {"gram", "K of states, complex64"}};
    }
    std::vector<std::string> processes() const override { return {"features", "gram"}; }
    double host_bytes(std::uint64_t batch) const override {
        const auto n = static_cast<double>(batch);
        // Two results of the CPU, one of the device and its download; states, a copy, and the CPU's planes.
        return 16 * n * n + n * (8.0 * qubits_ + 24 * std::ldexp(1.0, static_cast<int>(qubits_)));
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        return std::make_unique<KernelWork>(targets, map_, qubits_, batch, threads);
    }

  private:
    FeatureMap map_;
    std::uint32_t qubits_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_kernel_matrix(FeatureMap map, std::uint32_t qubits) {
    return std::make_unique<KernelMatrixReportSource>(map, qubits);
}

}  // namespace weft::tool
