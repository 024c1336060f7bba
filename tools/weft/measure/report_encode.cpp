// SPDX-License-Identifier: Apache-2.0
// weft profile encode: encoders, float32 or float64 values into complex64 states.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "cpu/cpu_encode.hpp"
#include "device/cuda_calls.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

/// The most by which the CPU's float32 and the device's may differ; each is within 4e-6 of the definition.
constexpr double kStateTolerance = 8e-6;

constexpr std::uint64_t kSliceSamples = 64;  // whose values are uploaded while the ones before are encoded

template <class Value>
class EncodeWork : public ReportWork {
  public:
    EncodeWork(const ReportTargets& targets, const EncodeChoice& choice, std::uint64_t samples,
               unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          methods_(choice.methods),
          shape_{samples, choice.qubits},
          keep_states_(choice.keep_states) {
        for (const EncodeMethod method : methods_) {
            values_.emplace_back(samples * encode_features(method, shape_.qubits));
            fill_encode(method, shape_, std::span<Value>(values_.back()));
        }
        wanted_.resize(methods_.size());
        items_.resize(methods_.size());
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return values_[process].size() * sizeof(Value);
    }
    std::uint64_t bytes_out(std::size_t) const override { return keep_states_ ? 0 : bytes_of_states(); }
    /// An iqp that does not fit shared memory is read and written a second time, for the upper bits of the
    /// index.
    std::uint64_t bytes_resident(std::size_t process) const override {
        if (targets_.backend == nullptr) return bytes_in(process) + bytes_of_states();
        const std::uint32_t slab =
            targets_.backend->device().limits.max_shared_memory_bytes >= 42000 ? 13 : 12;
        const bool again = methods_[process] == EncodeMethod::iqp && shape_.qubits > slab;
        return bytes_in(process) + (again ? 3 : 1) * bytes_of_states();
    }
    void run_cpu(std::size_t process) override {
        items_[process].clear();
        wanted_[process].resize(shape_.amplitudes());
        cpu_encode<Value>(methods_[process], values_[process], wanted_[process], shape_, threads_);
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) override {
        const std::size_t features = values_[process].size() / shape_.samples;
        std::vector<Value> rows(items.size() * features);
        for (std::size_t i = 0; i < items.size(); ++i)
            std::copy_n(&values_[process][items[i] * features], features, &rows[i * features]);
        items_[process].assign(items.begin(), items.end());
        const StateShape shape{items.size(), shape_.qubits};
        wanted_[process].resize(shape.amplitudes());
        cpu_encode<Value>(methods_[process], rows, wanted_[process], shape, threads_);
    }
    void prepare(ReportPath path) override {
        path_ = path;
        if (keep_states_ && path == ReportPath::cuda)
            throw std::runtime_error("states that stay on the device are measured by Vulkan only");
        if (path != ReportPath::resident) {
            if (!keep_states_) states_.make(targets_.backend, shape_.amplitudes(), path);
            locked_.resize(methods_.size());
            if (path == ReportPath::page_locked)
                for (std::size_t i = 0; i < methods_.size(); ++i) {
                    locked_[i].make(targets_.backend, values_[i].size(), path);
                    std::copy(values_[i].begin(), values_[i].end(), locked_[i].span().begin());
                }
            if (!keep_states_) return;
        }
        stream_ = std::make_unique<Stream>(*targets_.backend, StreamOptions{.name = "encode"});
        copies_ = std::make_unique<Stream>(*targets_.backend,
                                           StreamOptions{.name = "copies", .queue = StreamQueue::upload});
        for (const std::vector<Value>& values : values_) {
            resident_.emplace_back(*targets_.backend, values.size());
            if (path == ReportPath::resident) stream_->upload(values, resident_.back());
        }
        resident_states_ = std::make_unique<Buffer<c32>>(*targets_.backend, shape_.amplitudes());
        stream_->wait();
    }
    void release() override {
        resident_.clear();
        resident_states_.reset();
        stream_.reset();
        copies_.reset();
        states_.clear();
        locked_.clear();
    }
    void run(std::size_t process) override {
        const std::span<const Value> values = path_ == ReportPath::page_locked
                                                  ? locked_[process].span()
                                                  : std::span<const Value>(values_[process]);
        if (keep_states_) return run_kept(process, values);
        targets_.of(path_).encode(methods_[process], values, states_.span(), shape_);
    }
    void record(std::size_t process, Stream& stream) override {
        encode(stream, methods_[process], resident_[process], *resident_states_, shape_);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<c32> resident;
        if (stream == nullptr) stream = stream_.get();
        if (resident_states_) resident = stream->download(*resident_states_);
        const std::span<c32> got = resident_states_ ? std::span<c32>(resident) : states_.span();
        compare(process, got);
        if (resident_states_) {
            stream->fill(resident_states_->view(), 0x7fc00000u);
            stream->wait();
        } else
            std::fill(got.begin(), got.end(), c32{7, 7});
    }

  private:
    void compare(std::size_t process, std::span<const c32> got) const {
        const std::vector<std::uint64_t>& items = items_[process];
        for (std::size_t i = 0; i < wanted_[process].size(); ++i) {
            const std::size_t row = i >> shape_.qubits, sample = items.empty() ? row : items[row];
            const std::size_t amplitude = i & (shape_.state_size() - 1);
            const double difference =
                std::abs(c64(got[(sample << shape_.qubits) + amplitude]) - c64(wanted_[process][i]));
            if (difference <= kStateTolerance) continue;  // false for NaN
            char text[96];
            std::snprintf(text, sizeof text, "sample %zu amplitude %zu differs from the CPU's by %.3g",
                          sample, amplitude, difference);
            throw WrongResult(text);
        }
    }
    std::uint64_t bytes_of_states() const { return shape_.amplitudes() * sizeof(c32); }
    /// While samples are encoded, a queue of its own uploads the values of the next ones.
    void run_kept(std::size_t process, std::span<const Value> values) {
        const std::uint64_t features = values.size() / shape_.samples;
        for (std::uint64_t first = 0; first < shape_.samples; first += kSliceSamples) {
            const std::uint64_t samples = std::min(kSliceSamples, shape_.samples - first);
            const auto to = resident_[process].view(first * features, samples * features);
            if (path_ == ReportPath::page_locked)
                copies_->copy<Value>(locked_[process].view(first * features, samples * features), to);
            else
                copies_->upload(values.subspan(first * features, samples * features), to);
            stream_->wait_for(copies_->submit());
            const StateShape slice{samples, shape_.qubits};
            encode(*stream_, methods_[process], to,
                   resident_states_->view(first << shape_.qubits, slice.amplitudes()), slice);
            stream_->submit();
        }
        stream_->wait();
    }

    ReportTargets targets_;
    std::vector<EncodeMethod> methods_;
    StateShape shape_;
    bool keep_states_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<std::vector<Value>> values_;
    std::vector<std::vector<c32>> wanted_;           // for each method,
    std::vector<std::vector<std::uint64_t>> items_;  // of these samples; empty: of all samples
    std::vector<PathArray<Value>> locked_;
    PathArray<c32> states_;
    std::vector<Buffer<Value>> resident_;
    std::unique_ptr<Stream> stream_, copies_;
    std::unique_ptr<Buffer<c32>> resident_states_;
};

class EncodeReport : public ReportKernel {
  public:
    explicit EncodeReport(EncodeChoice choice) : choice_(std::move(choice)) {}
    std::string name() const override { return "encode"; }
    std::string unit() const override { return "samples"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"qubits", std::to_string(choice_.qubits)},
                {"values", choice_.float64 ? "float64" : "float32"},
                {"states", choice_.keep_states ? "complex64, kept on the device" : "complex64"}};
    }
    std::vector<std::string> processes() const override {
        std::vector<std::string> names;
        for (const EncodeMethod method : choice_.methods) names.emplace_back(to_string(method));
        return names;
    }
    /// Takes at most one second of one thread.
    std::uint64_t sample_size() const override {
        return std::clamp<std::uint64_t>((std::uint64_t{1} << 22) >> choice_.qubits, 4, 256);
    }
    double host_bytes(std::uint64_t batch) const override {
        double values = 0;
        for (const EncodeMethod method : choice_.methods)
            values +=
                (choice_.float64 ? 16.0 : 8.0) * static_cast<double>(encode_features(method, choice_.qubits));
        // One state for the result of each method, and two at a time for the path that is measured.
        const double states = static_cast<double>(choice_.methods.size() + 2) * sizeof(c32) *
                              std::ldexp(1.0, static_cast<int>(choice_.qubits));
        return static_cast<double>(batch) * (values + states);
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        if (choice_.float64) return std::make_unique<EncodeWork<double>>(targets, choice_, batch, threads);
        return std::make_unique<EncodeWork<float>>(targets, choice_, batch, threads);
    }

  private:
    EncodeChoice choice_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_encode(EncodeChoice choice) {
    return std::make_unique<EncodeReport>(std::move(choice));
}

}  // namespace weft::tool
