// SPDX-License-Identifier: Apache-2.0
// Also completes <weft/cuda/kernel_operator.hpp>: calls on arrays in host memory.
#include "ops_cuda/kernel_operator/operator_host.hpp"

#include <cuda_runtime_api.h>

#include <deque>
#include <utility>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;
using kernels::PairsDone;

constexpr const char* kFunction = "kernel_apply";

/// Bands whose kernels the device has not finished. The host puts one on the stream while the device works on
/// another.
class BandsUnderWay {
  public:
    BandsUnderWay(StreamHandle stream, const PairsDone& done) : stream_(stream), done_(done) {}
    BandsUnderWay(const BandsUnderWay&) = delete;
    BandsUnderWay& operator=(const BandsUnderWay&) = delete;
    ~BandsUnderWay() {
        for (const auto& band : bands_) static_cast<void>(cudaEventDestroy(band.first));
    }
    void add(std::uint64_t pairs) {
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync), kFunction,
              "cudaEventCreateWithFlags");
        bands_.emplace_back(event, pairs);
        check(cudaEventRecord(event, stream_), kFunction, "cudaEventRecord");
        if (bands_.size() > 2) finish_one();
    }
    void finish() {
        while (!bands_.empty()) finish_one();
    }

  private:
    void finish_one() {
        const auto [event, pairs] = bands_.front();
        check(cudaEventSynchronize(event), kFunction, "cudaEventSynchronize");
        bands_.pop_front();
        static_cast<void>(cudaEventDestroy(event));
        done_(pairs);
    }
    StreamHandle stream_;
    const PairsDone& done_;
    std::deque<std::pair<cudaEvent_t, std::uint64_t>> bands_;
};

/// make(stream, array) puts the results on the stream; they are copied to `out`.
template <class Make>
OpReport to_host(const char* function, const HostArray& out, const Make& make) {
    kernels::check_out_memory(function, nullptr, out);
    const BatchOptions none;
    const core::ProgressMeter meter(function, none, out.size);
    const OwnStream stream(function);
    const Scratch memory(stream, out.bytes(), function, "results");
    make(stream, DeviceArray(memory.data(), out.size, out.type));
    copy(stream, out.data, memory.data(), out.bytes(), cudaMemcpyDeviceToHost, function);
    stream.wait();
    OpReport report = kernels::operator_report(function, out.size, 0, out);
    report.chunks = 1;
    report.wall_s = meter.elapsed_s();
    return report;
}

}  // namespace

HostApply::HostApply(const OperatorApplyCall& call, const ConstHostArray& v)
    : call_(call), stream_(kFunction), v_(uploaded(stream_, v.data, v.bytes(), kFunction, "V")) {}

void HostApply::run(const std::function<void(const OperatorApplyCall::BandDone& done)>& launch,
                    const std::function<void()>& last, const PairsDone& done) {
    BandsUnderWay bands(stream_, done);
    launch([&](std::uint64_t pairs) { bands.add(pairs); });
    last();
    stream_.wait();
    bands.finish();
}

void HostApply::make(const kernels::ApplyRows& rows, const HostArray& out, bool read_out,
                     const PairsDone& done) {
    const Scratch made(stream_, out.bytes(), kFunction, "results");
    if (read_out) copy(stream_, made.data(), out.data, out.bytes(), cudaMemcpyHostToDevice, kFunction);
    run([&](const auto& band_done) { call_.launch(stream_, v_.data(), made.data(), rows, band_done); },
        [&] { copy(stream_, out.data, made.data(), out.bytes(), cudaMemcpyDeviceToHost, kFunction); }, done);
}

HostTotals::HostTotals(const OperatorApplyCall& call, const ConstHostArray& v,
                       const std::vector<std::int32_t>& units)
    : HostApply(call, v),
      words_(v.size * 2 + 1),
      totals_(stream_, words_ * sizeof(std::uint32_t), kFunction, "operator totals"),
      units_(uploaded(stream_, units.data(), units.size() * sizeof units[0], kFunction, "operator units")),
      received_(words_) {
    check(cudaMemsetAsync(totals_.data(), 0, words_ * sizeof(std::uint32_t), stream_), kFunction,
          "cudaMemsetAsync");
}

void HostTotals::add(const kernels::PairShare& share, std::vector<std::uint32_t>& totals,
                     const PairsDone& done) {
    run(
        [&](const auto& band_done) {
            call_.launch(stream_, v_.data(), ApplyTotals{totals_.data(), units_.data()}, share, band_done);
        },
        [&] {
            copy(stream_, received_.data(), totals_.data(), words_ * sizeof(std::uint32_t),
                 cudaMemcpyDeviceToHost, kFunction);
        },
        done);
    totals.resize(words_);
    totals.swap(received_);
}

OpReport apply_rows(const DeviceSamples& samples, const ConstHostArray& v, const HostArray& out,
                    const kernels::ApplyRows& rows, const KernelApplyHostOptions& host) {
    const KernelApplyOptions options = kernels::apply_options(host);
    const kernels::ApplySide side = kernels::side_of(samples.plan, options.transpose);
    const bool all = rows.first == 0 && rows.last == side.rows;
    const OperatorApplyCall call(samples, static_cast<std::uint32_t>(v.size / side.columns), options,
                                 all ? Choice::automatic : Choice::off);
    const std::uint64_t pairs = call.pairs(rows);
    core::ProgressMeter meter(kFunction, host.batch, pairs);
    meter.check();
    HostApply work(call, v);
    std::uint64_t done = 0;
    work.make(rows, out, options.b != 0, [&](std::uint64_t some) { meter.show(done += some); });
    OpReport report = kernels::operator_report(kFunction, pairs, v.bytes(), out);
    report.method = to_string(call.method());
    report.chunks = meter.parts();
    report.wall_s = meter.elapsed_s();
    return report;
}

OpReport kernel_apply(const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                      const KernelApplyHostOptions& host) {
    core::require_members(kFunction, host.batch, {});
    const OperatorObject& object = *weft::detail::Access::object(k);
    const kernels::OperatorPlan& plan = object.first().plan;
    kernels::check_apply(plan, facts_of(v), facts_of(out), kernels::apply_options(host));
    kernels::check_out_memory(kFunction, &v, out);
    return apply_rows(object.here(kFunction), v, out, {0, kernels::side_of(plan, host.transpose).rows}, host);
}

OpReport kernel_rows(const KernelOperator& k, const std::vector<std::uint32_t>& rows, const HostArray& out) {
    kernels::check_rows(weft::detail::Access::object(k)->first().plan, rows, facts_of(out));
    if (rows.empty()) return kernels::operator_report("kernel_rows", 0, 0, out);
    return to_host("kernel_rows", out,
                   [&](StreamHandle stream, const DeviceArray& made) { kernel_rows(stream, k, rows, made); });
}

OpReport kernel_diagonal(const KernelOperator& k, const HostArray& out) {
    kernels::check_diagonal(weft::detail::Access::object(k)->first().plan, facts_of(out));
    return to_host("kernel_diagonal", out,
                   [&](StreamHandle stream, const DeviceArray& made) { kernel_diagonal(stream, k, made); });
}

}  // namespace weft::cuda
