// SPDX-License-Identifier: Apache-2.0
// weft profile field: addition and multiplication.
#include <algorithm>

#include "cli/cuda_calls.hpp"
#include "cpu/cpu_field.hpp"
#include "report/report_kernel.hpp"

namespace weft::tool {
namespace {

constexpr std::array kOps{FieldOp::add, FieldOp::mul};

template <class Limb>
class FieldWork : public ReportWork {
  public:
    FieldWork(const ReportTargets& targets, const FieldInfo& field, std::uint64_t batch, unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          field_(field),
          size_(batch * field.limbs),
          a_(size_),
          b_(size_) {
        fill_field(field_, 1, std::span<Limb>(a_));
        fill_field(field_, 2, std::span<Limb>(b_));
    }
    std::uint64_t bytes_in(std::size_t) const override { return 2 * size_ * sizeof(Limb); }
    std::uint64_t bytes_out(std::size_t) const override { return size_ * sizeof(Limb); }
    void run_cpu(std::size_t process) override {
        std::vector<Limb>& out = wanted_[process];
        out.resize(size_);
        cpu_field(field_, kOps[process], std::span<const Limb>(a_), std::span<const Limb>(b_),
                  std::span<Limb>(out), threads_);
    }
    void prepare(ReportPath path) override {
        path_ = path;
        if (path == ReportPath::resident) {
            Stream stream(*targets_.backend);
            device_ = std::make_unique<Resident>(*targets_.backend, size_);
            stream.upload(a_, device_->a);
            stream.upload(b_, device_->b);
            stream.wait();
            return;
        }
        if (path == ReportPath::page_locked) {
            locked_a_.make(targets_.backend, size_, path);
            locked_b_.make(targets_.backend, size_, path);
            std::copy(a_.begin(), a_.end(), locked_a_.span().begin());
            std::copy(b_.begin(), b_.end(), locked_b_.span().begin());
        }
        out_.make(targets_.backend, size_, path);
        const bool locked = path == ReportPath::page_locked;
        job_ = {.a = locked ? locked_a_.span() : std::span<const Limb>(a_),
                .b = locked ? locked_b_.span() : std::span<const Limb>(b_),
                .out = out_.span()};
    }
    void release() override {
        device_.reset();
        job_ = {};
        locked_a_.clear();
        locked_b_.clear();
        out_.clear();
    }
    void run(std::size_t process) override {
        targets_.of(path_).field_batch(field_.field, kOps[process], {&job_, 1}, {});
    }
    void record(std::size_t process, Stream& stream) override {
        field_apply(stream, field_.field, kOps[process], device_->a, device_->b, {}, device_->out);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<Limb> resident;
        if (device_) resident = stream->download(device_->out);
        const std::span<Limb> got = device_ ? std::span<Limb>(resident) : out_.span();
        const std::vector<Limb>& wanted = wanted_[process];
        const auto found = std::mismatch(got.begin(), got.end(), wanted.begin()).first;
        if (found != got.end())
            throw WrongResult("element " + std::to_string((found - got.begin()) / field_.limbs) +
                              " differs from the CPU's");
        if (device_)
            stream->fill(device_->out.view(), ~0u);
        else
            std::fill(got.begin(), got.end(), static_cast<Limb>(~Limb{0}));
    }

  private:
    struct Resident {
        Buffer<Limb> a, b, out;
        Resident(Backend& backend, std::size_t size)
            : a(backend, size), b(backend, size), out(backend, size) {}
    };

    ReportTargets targets_;
    FieldInfo field_;
    std::size_t size_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<Limb> a_, b_, wanted_[kOps.size()];
    HostArray<Limb> locked_a_, locked_b_, out_;
    FieldJob job_;
    std::unique_ptr<Resident> device_;
};

class FieldReport : public ReportKernel {
  public:
    explicit FieldReport(Field field) : field_(field_info(field)) {}
    std::string name() const override { return "field"; }
    std::string unit() const override { return "elements"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"field", std::string(field_.name)},
                {"element", std::to_string(field_.element_bytes) + " bytes"}};
    }
    std::vector<std::string> processes() const override { return {"add", "mul"}; }
    double host_bytes(std::uint64_t batch) const override {
        return 7.0 * static_cast<double>(batch) * field_.element_bytes;
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        if (field_.limb_bytes == 4)
            return std::make_unique<FieldWork<std::uint32_t>>(targets, field_, batch, threads);
        return std::make_unique<FieldWork<std::uint64_t>>(targets, field_, batch, threads);
    }

  private:
    FieldInfo field_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_field(Field field) {
    return std::make_unique<FieldReport>(field);
}

}  // namespace weft::tool
