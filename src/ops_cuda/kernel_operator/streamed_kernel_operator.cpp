// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/kernel_operator.hpp>: operators from and on arrays in host memory. The device keeps
// all samples, V and the output.
#include <cuda_runtime_api.h>

#include <deque>
#include <utility>

#include <weft/cuda/kernel_operator.hpp>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/own_stream.hpp"
#include "cuda/scratch.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;

void copy(StreamHandle stream, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind,
          const char* function) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), function, "cudaMemcpyAsync");
}
Scratch uploaded(StreamHandle stream, const void* data, std::uint64_t bytes, const char* function,
                 const char* what) {
    Scratch memory(stream, bytes, function, what);
    copy(stream, memory.data(), data, bytes, cudaMemcpyHostToDevice, function);
    return memory;
}

std::shared_ptr<const OperatorObject> from_host(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                                                const ConstHostArray* y, const KernelMatrixShape& shape,
                                                const KernelOperatorOptions& options) {
    constexpr const char* kFunction = "KernelOperator";
    kernels::check_operator(circuit, facts_of(x), facts_of(y), shape, options);
    kernels::check_features_alone(kFunction, x, y, shape.qubits, circuit.scale, host_threads());
    const kernels::OperatorPlan plan = operator_plan_here(kFunction, circuit, shape, options);
    kernels::check_operator_fits(plan);
    const OwnStream stream(kFunction);
    const Scratch x_memory = uploaded(stream, x.data, x.bytes(), kFunction, "X");
    const Scratch y_memory = y != nullptr ? uploaded(stream, y->data, y->bytes(), kFunction, "Y") : Scratch();
    const ConstDeviceArray x_array(x_memory.data(), x.size, x.type);
    const ConstDeviceArray y_array(y_memory.data(), y != nullptr ? y->size : 0, x.type);
    auto object = std::make_shared<const OperatorObject>(stream, plan, circuit.scale, x_array,
                                                         y != nullptr ? &y_array : nullptr);
    stream.wait();
    return object;
}

/// Bands whose kernels the device has not finished. The host puts one on the stream while the device works on
/// another.
class BandsUnderWay {
  public:
    explicit BandsUnderWay(StreamHandle stream, core::ProgressMeter& meter)
        : stream_(stream), meter_(meter) {}
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
    static constexpr const char* kFunction = "kernel_apply";
    void finish_one() {
        const auto [event, pairs] = bands_.front();
        check(cudaEventSynchronize(event), kFunction, "cudaEventSynchronize");
        bands_.pop_front();
        static_cast<void>(cudaEventDestroy(event));
        meter_.show(done_ += pairs);
    }
    StreamHandle stream_;
    core::ProgressMeter& meter_;
    std::uint64_t done_ = 0;
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

KernelOperator::KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(from_host(circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray& y, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(circuit, x, &y, shape, options)) {}

OpReport kernel_apply(const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                      const KernelApplyHostOptions& host) {
    constexpr const char* kFunction = "kernel_apply";
    core::require_members(kFunction, host.batch, {});
    const KernelApplyOptions options{host.a, host.b, host.lambda, host.transpose};
    const OperatorObject& object = *weft::detail::Access::object(k);
    const std::uint32_t columns = kernels::check_apply(object.plan(), facts_of(v), facts_of(out), options);
    kernels::check_out_memory(kFunction, &v, out);
    object.require_here(kFunction);
    const OperatorApplyCall call(object, columns, options);
    core::ProgressMeter meter(kFunction, host.batch, call.pairs());
    meter.check();
    const OwnStream stream(kFunction);
    const Scratch in = uploaded(stream, v.data, v.bytes(), kFunction, "V");
    const Scratch made(stream, out.bytes(), kFunction, "results");
    if (options.b != 0) copy(stream, made.data(), out.data, out.bytes(), cudaMemcpyHostToDevice, kFunction);
    BandsUnderWay bands(stream, meter);
    call.launch(stream, ConstDeviceArray(in.data(), v.size, v.type),
                DeviceArray(made.data(), out.size, out.type), [&](std::uint64_t pairs) { bands.add(pairs); });
    copy(stream, out.data, made.data(), out.bytes(), cudaMemcpyDeviceToHost, kFunction);
    stream.wait();
    bands.finish();
    OpReport report = kernels::operator_report(kFunction, call.pairs(), v.bytes(), out);
    report.method = to_string(call.method());
    report.chunks = meter.parts();
    report.wall_s = meter.elapsed_s();
    return report;
}

OpReport kernel_rows(const KernelOperator& k, const std::vector<std::uint32_t>& rows, const HostArray& out) {
    kernels::check_rows(weft::detail::Access::object(k)->plan(), rows, facts_of(out));
    if (rows.empty()) return kernels::operator_report("kernel_rows", 0, 0, out);
    return to_host("kernel_rows", out,
                   [&](StreamHandle stream, const DeviceArray& made) { kernel_rows(stream, k, rows, made); });
}

OpReport kernel_diagonal(const KernelOperator& k, const HostArray& out) {
    kernels::check_diagonal(weft::detail::Access::object(k)->plan(), facts_of(out));
    return to_host("kernel_diagonal", out,
                   [&](StreamHandle stream, const DeviceArray& made) { kernel_diagonal(stream, k, made); });
}

}  // namespace weft::cuda
