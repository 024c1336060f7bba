// SPDX-License-Identifier: Apache-2.0
// weft profile encode: encoders, float32 values into complex64 states.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cpu/cpu_encode.hpp"
#include "cli/cuda_calls.hpp"
#include "report/report_kernel.hpp"

namespace weft::tool {
namespace {

/// What the CPU's float32 and the device's may differ by; either is within 4e-6 of the definition.
constexpr double kTolerance = 8e-6;

class EncodeWork : public ReportWork {
  public:
    EncodeWork(const ReportTargets& targets, std::vector<EncodeMethod> methods, const StateShape& shape,
               unsigned threads)
        : ReportWork(threads), targets_(targets), methods_(std::move(methods)), shape_(shape) {
        for (const EncodeMethod method : methods_) {
            values_.emplace_back(shape.samples * encode_features(method, shape.qubits));
            fill_encode(method, shape, values_.back());
        }
        wanted_.resize(methods_.size());
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return values_[process].size() * sizeof(float);
    }
    std::uint64_t bytes_out(std::size_t) const override { return shape_.amplitudes() * sizeof(c32); }
    void run_cpu(std::size_t process) override {
        wanted_[process].resize(shape_.amplitudes());
        cpu_encode(methods_[process], values_[process], wanted_[process], shape_, threads_);
    }
    void prepare(ReportPath path) override {
        path_ = path;
        if (path != ReportPath::resident) {
            states_.make(targets_.backend, shape_.amplitudes(), path);
            locked_.resize(methods_.size());
            if (path == ReportPath::page_locked)
                for (std::size_t i = 0; i < methods_.size(); ++i) {
                    locked_[i].make(targets_.backend, values_[i].size(), path);
                    std::copy(values_[i].begin(), values_[i].end(), locked_[i].span().begin());
                }
            return;
        }
        Stream stream(*targets_.backend);
        for (const std::vector<float>& values : values_) {
            resident_.emplace_back(*targets_.backend, values.size());
            stream.upload(values, resident_.back());
        }
        resident_states_ = std::make_unique<Buffer<c32>>(*targets_.backend, shape_.amplitudes());
        stream.wait();
    }
    void release() override {
        resident_.clear();
        resident_states_.reset();
        states_.clear();
        locked_.clear();
    }
    void run(std::size_t process) override {
        const std::span<const float> values = path_ == ReportPath::page_locked
                                                  ? locked_[process].span()
                                                  : std::span<const float>(values_[process]);
        targets_.of(path_).encode(methods_[process], values, states_.span(), shape_);
    }
    void record(std::size_t process, Stream& stream) override {
        encode(stream, methods_[process], resident_[process], *resident_states_, shape_);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<c32> resident;
        if (resident_states_) resident = stream->download(*resident_states_);
        const std::span<c32> got = resident_states_ ? std::span<c32>(resident) : states_.span();
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double difference = std::abs(c64(got[i]) - c64(wanted_[process][i]));
            if (difference <= kTolerance) continue;  // false for NaN
            char text[96];
            std::snprintf(text, sizeof text, "sample %zu amplitude %zu differs from the CPU's by %.3g",
                          i >> shape_.qubits, i & (shape_.state_size() - 1), difference);
            throw WrongResult(text);
        }
        if (resident_states_)
            stream->fill(resident_states_->view(), 0x7fc00000);
        else
            std::fill(got.begin(), got.end(), c32{7, 7});
    }

  private:
    ReportTargets targets_;
    std::vector<EncodeMethod> methods_;
    StateShape shape_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<std::vector<float>> values_;
    std::vector<std::vector<c32>> wanted_;
    std::vector<HostArray<float>> locked_;
    HostArray<c32> states_;
    std::vector<Buffer<float>> resident_;
    std::unique_ptr<Buffer<c32>> resident_states_;
};

class EncodeReport : public ReportKernel {
  public:
    EncodeReport(std::vector<EncodeMethod> methods, std::uint32_t qubits)
        : methods_(std::move(methods)), qubits_(qubits) {}
    std::string name() const override { return "encode"; }
    std::string unit() const override { return "samples"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"qubits", std::to_string(qubits_)}, {"values", "float32"}, {"states", "complex64"}};
    }
    std::vector<std::string> processes() const override {
        std::vector<std::string> names;
        for (const EncodeMethod method : methods_) names.emplace_back(to_string(method));
        return names;
    }
    double host_bytes(std::uint64_t batch) const override {
        double values = 0;
        for (const EncodeMethod method : methods_)
            values += 2.0 * sizeof(float) * static_cast<double>(encode_features(method, qubits_));
        // One state for each method's own result, and two at a time for the path being measured.
        const double states = static_cast<double>(methods_.size() + 2) * sizeof(c32) *
                              std::ldexp(1.0, static_cast<int>(qubits_));
        return static_cast<double>(batch) * (values + states);
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        return std::make_unique<EncodeWork>(targets, methods_, StateShape{batch, qubits_}, threads);
    }

  private:
    std::vector<EncodeMethod> methods_;
    std::uint32_t qubits_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_encode(std::vector<EncodeMethod> methods, std::uint32_t qubits) {
    return std::make_unique<EncodeReport>(std::move(methods), qubits);
}

}  // namespace weft::tool
