// SPDX-License-Identifier: Apache-2.0
// Also completes <weft/cuda/kernel_operator.hpp>: calls on arrays in host memory.
#include "ops_cuda/kernel_operator/operator_host.hpp"

#include <cuda_runtime_api.h>

#include <deque>
#include <utility>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_rows.hpp"

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

/// launch(stream, array, done) makes `out`, or some of it, band by band on the device; it is copied to host
/// memory.
template <class Launch>
void to_host(const OwnStream& stream, const char* function, const HostArray& out, const PairsDone& done,
             const Launch& launch) {
    const Scratch memory(stream, out.bytes(), function, "results");
    BandsUnderWay bands(stream, done);
    launch(stream, DeviceArray(memory.data(), out.size, out.type),
           [&](std::uint64_t pairs) { bands.add(pairs); });
    copy(stream, out.data, memory.data(), out.bytes(), cudaMemcpyDeviceToHost, function);
    stream.wait();
    bands.finish();
}

OpReport report_of(const char* function, const HostArray& out, const core::ProgressMeter& meter) {
    OpReport report = kernels::operator_report(function, out.size, 0, out);
    report.chunks = meter.parts();
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

OpReport kernel_rows(const KernelOperator& k, const std::vector<std::uint32_t>& rows, const HostArray& out,
                     const BatchOptions& batch) {
    constexpr const char* kRows = "kernel_rows";
    core::require_members(kRows, batch, {});
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_rows(object.first().plan, rows, facts_of(out));
    if (rows.empty()) return kernels::operator_report(kRows, 0, 0, out);
    kernels::check_out_memory(kRows, nullptr, out);
    const DeviceSamples& samples = object.here(kRows);
    core::ProgressMeter meter(kRows, batch, out.size);
    meter.check();
    const OwnStream stream(kRows);
    const kernels::RowParts parts(samples.plan, rows);
    std::vector<std::byte> kept(parts.kept_bytes());
    std::uint64_t pairs = 0;
    for (std::size_t part = 0; part < parts.count(); ++part) {
        const std::vector<std::uint32_t> some = parts.rows(part);
        to_host(
            stream, kRows, parts.target(part, out, kept),
            [&](std::uint64_t more) { meter.show(pairs += more); },
            [&](StreamHandle on, const DeviceArray& made, const PairsDone& done) {
                launch_rows(on, samples, some, made, done);
            });
        parts.put(part, out, kept);
    }
    return report_of(kRows, out, meter);
}

OpReport kernel_diagonal(const KernelOperator& k, const HostArray& out, const BatchOptions& batch) {
    constexpr const char* kDiagonal = "kernel_diagonal";
    core::require_members(kDiagonal, batch, {});
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_diagonal(object.first().plan, facts_of(out));
    kernels::check_out_memory(kDiagonal, nullptr, out);
    const DeviceSamples& samples = object.here(kDiagonal);
    core::ProgressMeter meter(kDiagonal, batch, out.size);
    meter.check();
    const OwnStream stream(kDiagonal);
    std::uint64_t pairs = 0;
    to_host(
        stream, kDiagonal, out, [&](std::uint64_t more) { meter.show(pairs += more); },
        [&](StreamHandle on, const DeviceArray& made, const PairsDone& done) {
            launch_diagonal(on, samples, made, done);
        });
    return report_of(kDiagonal, out, meter);
}

}  // namespace weft::cuda
