// SPDX-License-Identifier: Apache-2.0
// weft profile field: the operations of a field.
#include <algorithm>
#include <bit>

#include "cpu/cpu_field.hpp"
#include "device/cuda_calls.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

/// 32-bit multiplications of an element in Montgomery form; 0: none.
double multiplications(const FieldInfo& field, FieldOp op) {
    const std::uint32_t words = field.element_bytes / 4;
    const double parts = words == 12 ? 14 : words == 8 ? 9 : words == 2 ? 3 : 1;
    const double product = 2 * parts * parts + parts;
    if (op == FieldOp::add || op == FieldOp::sub || op == FieldOp::neg || op == FieldOp::sum) return 0;
    if (op == FieldOp::inner_product) return parts * parts;  // one reduction for many products
    if (op != FieldOp::inverse) return product;
    // The power p - 2 is shared by many elements; in addition each element takes three products.
    double ones = 0;
    std::uint64_t borrow = 2;
    for (const std::uint64_t limb : field.modulus) {
        ones += std::popcount(limb - borrow);
        borrow = limb < borrow ? 1 : 0;
    }
    return product * (3 + (field.bits + ones) / (words == 1 ? 8 : 32));
}

template <class Limb>
class FieldWork : public ReportWork {
  public:
    FieldWork(const ReportTargets& targets, const FieldInfo& field, const FieldChoice& choice,
              std::uint64_t batch, unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          field_(field),
          ops_(choice.ops),
          options_(choice.options),
          size_(batch * field.limbs),
          a_(size_),
          b_(size_),
          scalar_(field.limbs),
          wanted_(ops_.size()),
          items_(ops_.size()) {
        fill_field(field_, 1, std::span<Limb>(a_));
        fill_field(field_, 2, std::span<Limb>(b_));
        fill_field(field_, 3, std::span<Limb>(scalar_));
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return (takes_b(ops_[process]) ? 2 : 1) * size_ * sizeof(Limb);
    }
    std::uint64_t bytes_out(std::size_t process) const override { return limbs_out(process) * sizeof(Limb); }
    /// record_products() makes plain products. Each of them is two products in Montgomery form for the bytes
    /// of one, so that on most devices arithmetic takes longer than memory traffic.
    double products(std::size_t process) const override {
        return options_.form == FieldForm::plain
                   ? 0
                   : multiplications(field_, ops_[process]) / multiplications(field_, FieldOp::mul) / 2;
    }
    void record_products(Stream& stream) override {
        field_mul(stream, field_.field, device_->a, device_->b, device_->out,
                  {.shader = options_.shader, .workgroup_size = options_.workgroup_size});
    }
    void run_cpu(std::size_t process) override {
        items_[process].clear();
        run_cpu_on(process, a_, b_);
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) override {
        if (is_reduction(ops_[process])) return run_cpu(process);
        items_[process].assign(items.begin(), items.end());
        run_cpu_on(process, gathered(a_, items), gathered(b_, items));
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
    }
    void release() override {
        device_.reset();
        locked_a_.clear();
        locked_b_.clear();
        out_.clear();
    }
    void run(std::size_t process) override {
        const FieldOp op = ops_[process];
        const bool locked = path_ == ReportPath::page_locked;
        FieldJob job{.a = locked ? locked_a_.span() : std::span<Limb>(a_),
                     .out = out_.span().first(limbs_out(process))};
        if (takes_b(op)) job.b = locked ? locked_b_.span() : std::span<Limb>(b_);
        if (op == FieldOp::axpy) job.scalar = scalar_;
        FieldHostOptions options{.form = options_.form};
        if (path_ != ReportPath::cuda) options.shader = options_.shader;
        targets_.of(path_).field_batch(field_.field, op, {&job, 1}, options);
    }
    void record(std::size_t process, Stream& stream) override {
        const FieldOp op = ops_[process];
        FieldOptions options = options_;
        if (!is_reduction(op)) options.block_elements = 0;
        field_apply(stream, field_.field, op, device_->a,
                    takes_b(op) ? ConstDeviceArray(device_->b) : ConstDeviceArray(),
                    op == FieldOp::axpy ? ConstHostArray(scalar_) : ConstHostArray(),
                    device_->out.view(0, limbs_out(process)), options);
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<Limb> resident(limbs_out(process));
        if (device_)
            stream->template download<Limb>(device_->out.view(0, resident.size()), std::span(resident));
        const std::span<Limb> got = device_ ? std::span<Limb>(resident) : out_.span().first(resident.size());
        const std::vector<Limb>& wanted = wanted_[process];
        const std::vector<std::uint64_t>& items = items_[process];
        for (std::size_t i = 0; i < wanted.size() / field_.limbs; ++i) {
            const std::size_t element = items.empty() ? i : items[i];
            if (!std::equal(&wanted[i * field_.limbs], &wanted[i * field_.limbs] + field_.limbs,
                            &got[element * field_.limbs]))
                throw WrongResult("element " + std::to_string(element) + " differs from the CPU's");
        }
        if (device_)
            stream->fill(device_->out.view(), ~0u);
        else
            std::fill(got.begin(), got.end(), static_cast<Limb>(~Limb{0}));
    }

  private:
    std::size_t limbs_out(std::size_t process) const {
        return is_reduction(ops_[process]) ? field_.limbs : size_;
    }
    void run_cpu_on(std::size_t process, std::span<const Limb> a, std::span<const Limb> b) {
        const FieldOp op = ops_[process];
        wanted_[process].resize(is_reduction(op) ? field_.limbs : a.size());
        CpuFieldJob<Limb> job{.a = a, .out = wanted_[process], .form = options_.form};
        if (takes_b(op)) job.b = b;
        if (op == FieldOp::axpy) job.scalar = scalar_;
        cpu_field(field_, op, job, threads_);
    }
    std::vector<Limb> gathered(std::span<const Limb> from, std::span<const std::uint64_t> items) const {
        std::vector<Limb> out(items.size() * field_.limbs);
        for (std::size_t i = 0; i < items.size(); ++i)
            std::copy_n(&from[items[i] * field_.limbs], field_.limbs, &out[i * field_.limbs]);
        return out;
    }
    struct Resident {
        Buffer<Limb> a, b, out;
        Resident(Backend& backend, std::size_t size)
            : a(backend, size), b(backend, size), out(backend, size) {}
    };

    ReportTargets targets_;
    FieldInfo field_;
    std::vector<FieldOp> ops_;
    FieldOptions options_;
    std::size_t size_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<Limb> a_, b_, scalar_;
    std::vector<std::vector<Limb>> wanted_;          // for each process,
    std::vector<std::vector<std::uint64_t>> items_;  // of these elements; empty: of all elements
    PathArray<Limb> locked_a_, locked_b_, out_;
    std::unique_ptr<Resident> device_;
};

class FieldReport : public ReportKernel {
  public:
    explicit FieldReport(FieldChoice choice) : field_(field_info(choice.field)), choice_(std::move(choice)) {}
    std::string name() const override { return "field"; }
    std::string unit() const override { return "elements"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        const char* shader = choice_.options.shader == FieldShader::limbs32   ? "limbs32"
                             : choice_.options.shader == FieldShader::limbs64 ? "limbs64"
                                                                              : "automatic";
        return {{"field", std::string(field_.name)},
                {"element", std::to_string(field_.element_bytes) + " bytes"},
                {"form", choice_.options.form == FieldForm::plain ? "plain" : "montgomery"},
                {"shader", shader}};
    }
    std::vector<std::string> processes() const override {
        std::vector<std::string> names;
        for (const FieldOp op : choice_.ops) names.emplace_back(to_string(op));
        return names;
    }
    double host_bytes(std::uint64_t batch) const override {
        return static_cast<double>((5 + choice_.ops.size()) * batch * field_.element_bytes);
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        if (field_.limb_bytes == 4)
            return std::make_unique<FieldWork<std::uint32_t>>(targets, field_, choice_, batch, threads);
        return std::make_unique<FieldWork<std::uint64_t>>(targets, field_, choice_, batch, threads);
    }

  private:
    FieldInfo field_;
    FieldChoice choice_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_field(FieldChoice choice) {
    return std::make_unique<FieldReport>(std::move(choice));
}

}  // namespace weft::tool
