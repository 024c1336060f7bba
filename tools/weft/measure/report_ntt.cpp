// SPDX-License-Identifier: Apache-2.0
// weft profile ntt: forward transforms of one size, in the orders of input and output.
#include <algorithm>

#include "cpu/cpu_field.hpp"
#include "cpu/cpu_ntt.hpp"
#include "device/cuda_calls.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

std::size_t reversed(std::size_t index, std::uint32_t bits) {
    std::size_t r = 0;
    for (std::uint32_t i = 0; i < bits; ++i) r = r << 1 | (index >> i & 1);
    return r;
}

template <class Limb>
class NttReportWork : public ReportWork {
  public:
    NttReportWork(const ReportTargets& targets, const NttChoice& choice, std::uint64_t batch,
                  unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          field_(field_info(choice.field)),
          choice_(choice),
          batch_(batch),
          row_(field_.limbs << choice.log_size),
          a_(batch * row_),
          powers_(cpu_ntt_powers<Limb>(field_, choice.log_size)),
          wanted_(choice.orders.size()),
          items_(choice.orders.size()) {
        fill_field(field_, 1, std::span<Limb>(a_));
    }
    std::uint64_t bytes_in(std::size_t) const override { return a_.size() * sizeof(Limb); }
    std::uint64_t bytes_out(std::size_t) const override { return a_.size() * sizeof(Limb); }
    /// Each pass reads and writes all elements.
    std::uint64_t bytes_resident(std::size_t process) const override {
        return passes(process) * (bytes_in(process) + bytes_out(process));
    }
    void run_cpu(std::size_t process) override {
        items_[process].clear();
        run_cpu_on(process, a_);
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) override {
        items_[process].assign(items.begin(), items.end());
        std::vector<Limb> rows;
        for (const std::uint64_t item : items) {
            const auto row = a_.begin() + static_cast<std::ptrdiff_t>(item * row_);
            rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(row_));
        }
        run_cpu_on(process, rows);
    }
    void prepare(ReportPath path) override {
        path_ = path;
        if (path == ReportPath::resident) {
            Stream stream(*targets_.backend);
            device_ = std::make_unique<Resident>(*targets_.backend, a_.size());
            stream.upload(a_, device_->a);
            stream.wait();
            return;
        }
        if (path == ReportPath::page_locked) {
            locked_.make(targets_.backend, a_.size(), path);
            std::copy(a_.begin(), a_.end(), locked_.span().begin());
        }
        out_.make(targets_.backend, a_.size(), path);
    }
    void release() override {
        device_.reset();
        locked_.clear();
        out_.clear();
    }
    void run(std::size_t process) override {
        const std::span<const Limb> in =
            path_ == ReportPath::page_locked ? locked_.span() : std::span<Limb>(a_);
        targets_.of(path_).ntt(field_.field, NttDirection::forward, in, out_.span(), shape(batch_),
                               {.order = choice_.orders[process]});
    }
    void record(std::size_t process, Stream& stream) override {
        ntt(stream, field_.field, NttDirection::forward, device_->a, device_->out, shape(batch_),
            {.order = choice_.orders[process]});
    }
    void verify(std::size_t process, Stream* stream) override {
        std::vector<Limb> resident;
        if (device_) resident = stream->download(device_->out);
        const std::span<Limb> got = device_ ? std::span<Limb>(resident) : out_.span();
        const std::vector<Limb>& wanted = wanted_[process];
        const std::vector<std::uint64_t>& items = items_[process];
        for (std::size_t i = 0; i < wanted.size() / row_; ++i) {
            const std::size_t item = items.empty() ? i : items[i];
            if (!std::equal(&wanted[i * row_], &wanted[i * row_] + row_, &got[item * row_]))
                throw WrongResult("transform " + std::to_string(item) + " differs from the CPU's");
        }
        if (device_)
            stream->fill(device_->out.view(), ~0u);
        else
            std::fill(got.begin(), got.end(), static_cast<Limb>(~Limb{0}));
    }

  private:
    struct Resident {
        Buffer<Limb> a, out;
        Resident(Backend& backend, std::size_t size) : a(backend, size), out(backend, size) {}
    };

    NttShape shape(std::uint64_t batch) const { return {.log_size = choice_.log_size, .batch = batch}; }

    /// Of a single transform, which a plan never cuts into fewer passes than a batch.
    std::uint64_t passes(std::size_t process) const {
        if (targets_.backend == nullptr) return 1;
        const Resident one(*targets_.backend, row_);
        Stream stream(*targets_.backend);
        return stream
            .record([&](Stream& steps) {
                ntt(steps, field_.field, NttDirection::forward, one.a, one.out, shape(1),
                    {.order = choice_.orders[process]});
            })
            .dispatches();
    }

    /// The transform takes natural order to bit-reversed order. Other orders are another copy.
    void run_cpu_on(std::size_t process, const std::vector<Limb>& in) {
        std::vector<Limb>& out = wanted_[process];
        out = in;
        const NttOrder order = choice_.orders[process];
        if (order == NttOrder::rn) reverse_rows(in, out);
        cpu_ntt<Limb>(field_, choice_.log_size, powers_, out, threads_);
        if (order == NttOrder::nr) return;
        const std::vector<Limb> made = out;
        reverse_rows(made, out);
    }
    void reverse_rows(const std::vector<Limb>& from, std::vector<Limb>& to) const {
        const std::size_t limbs = field_.limbs, n = std::size_t{1} << choice_.log_size;
        for (std::size_t first = 0; first < from.size(); first += row_)
            for (std::size_t i = 0; i < n; ++i)
                std::copy_n(&from[first + i * limbs], limbs,
                            &to[first + reversed(i, choice_.log_size) * limbs]);
    }

    ReportTargets targets_;
    const FieldInfo& field_;
    const NttChoice& choice_;
    std::uint64_t batch_;
    std::size_t row_;  // limbs of a transform
    ReportPath path_ = ReportPath::cpu;
    std::vector<Limb> a_, powers_;
    std::vector<std::vector<Limb>> wanted_;          // for each process,
    std::vector<std::vector<std::uint64_t>> items_;  // of these transforms; empty: of all
    PathArray<Limb> locked_, out_;
    std::unique_ptr<Resident> device_;
};

class NttReport : public ReportKernel {
  public:
    explicit NttReport(NttChoice choice) : choice_(std::move(choice)) {}
    std::string name() const override { return "ntt"; }
    std::string unit() const override { return "transforms"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        const FieldInfo& field = field_info(choice_.field);
        return {{"field", std::string(field.name)},
                {"element", std::to_string(field.element_bytes) + " bytes"},
                {"size", "2^" + std::to_string(choice_.log_size) + " elements"}};
    }
    std::vector<std::string> processes() const override {
        std::vector<std::string> names;
        for (const NttOrder order : choice_.orders) names.emplace_back(to_string(order));
        return names;
    }
    std::uint64_t sample_size() const override {
        constexpr std::uint32_t kLogElements = 16;
        return choice_.log_size >= kLogElements ? 1 : std::uint64_t{1} << (kLogElements - choice_.log_size);
    }
    double host_bytes(std::uint64_t batch) const override {
        const double transform =
            static_cast<double>(std::uint64_t{field_info(choice_.field).element_bytes} << choice_.log_size);
        return (4 + static_cast<double>(choice_.orders.size())) * static_cast<double>(batch) * transform;
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        if (field_info(choice_.field).limb_bytes == 4)
            return std::make_unique<NttReportWork<std::uint32_t>>(targets, choice_, batch, threads);
        return std::make_unique<NttReportWork<std::uint64_t>>(targets, choice_, batch, threads);
    }

  private:
    NttChoice choice_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_ntt(NttChoice choice) {
    return std::make_unique<NttReport>(std::move(choice));
}

}  // namespace weft::tool
