// SPDX-License-Identifier: Apache-2.0
// One of several CUDA devices is lost in the middle of a call, or all are. The functions of CUDA that a call
// makes are wrapped by the linker. A device is lost for a call by the thread that serves it, so two places on
// one GPU are enough.
#include <weft/cuda/devices.hpp>
#include <weft/cuda/kernel_operator.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <weft/weft.hpp>

#include "cuda/kernels.hpp"
#include "support/any_field.hpp"
#include "support/child_process.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"

namespace {

using namespace weft_test;
using weft::Errc;
using weft::OpReport;
using weft::cuda::Devices;

/// Which thread has lost its device. All calls of CUDA that it makes fail from then on.
class Faults {
  public:
    /// The thread that makes the `index`-th call loses its device; calls of this thread do not count.
    void lose_one(std::uint64_t index) {
        const std::lock_guard lock(mutex_);
        left_ = index;
        caller_ = std::this_thread::get_id();
        victim_.reset();
        armed_ = true, all_ = false;
    }
    void lose_all() {
        const std::lock_guard lock(mutex_);
        armed_ = all_ = true;
    }
    /// Returns whether a device was lost.
    bool stop() {
        const std::lock_guard lock(mutex_);
        armed_ = false;
        return victim_.has_value();
    }
    bool fails() {
        const std::lock_guard lock(mutex_);
        if (!armed_) return false;
        const std::thread::id self = std::this_thread::get_id();
        if (all_ || victim_ == self) return true;
        if (victim_ || self == caller_ || left_-- != 0) return false;
        victim_ = self;
        return true;
    }

  private:
    std::mutex mutex_;
    bool armed_ = false, all_ = false;
    std::uint64_t left_ = 0;
    std::thread::id caller_;
    std::optional<std::thread::id> victim_;
};

Faults& faults() {
    static Faults faults;
    return faults;
}

}  // namespace

// What the call does comes first, so that no work is left behind that writes to memory of a later call.
#define WEFT_WRAP(function, parameters, arguments)                                          \
    extern "C" cudaError_t __real_##function parameters;                                    \
    extern "C" cudaError_t __wrap_##function parameters;                                    \
    cudaError_t __wrap_##function parameters {                                              \
        const cudaError_t result = __real_##function arguments;                             \
        return result == cudaSuccess && faults().fails() ? cudaErrorLaunchFailure : result; \
    }
WEFT_WRAP(cudaStreamSynchronize, (cudaStream_t stream), (stream))
WEFT_WRAP(cudaMemcpyAsync,
          (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
          (to, from, bytes, kind, stream))
WEFT_WRAP(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
WEFT_WRAP(cudaMemcpy2DAsync,
          (void* to, size_t pitch, const void* from, size_t from_pitch, size_t width, size_t height,
           cudaMemcpyKind kind, cudaStream_t stream),
          (to, pitch, from, from_pitch, width, height, kind, stream))
#undef WEFT_WRAP

namespace {

std::size_t count_lost(const Devices& devices) {
    std::size_t lost = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) lost += devices.lost(i) ? 1 : 0;
    return lost;
}

void check_rows_name_losses(const OpReport& report, const Devices& devices) {
    REQUIRE(report.devices.size() == devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        INFO("note: " << report.devices[i].note);
        CHECK(report.devices[i].lost == devices.lost(i));
        if (devices.lost(i)) CHECK(report.devices[i].note.find("lost") != std::string::npos);
    }
}

/// Runs on the devices and checks its results.
using Call = std::function<OpReport(Devices&)>;

/// Loses one device at many of the calls of CUDA that `call` makes: it succeeds all the same, and later on
/// what is left.
void lose_everywhere(const Call& call) {
    std::uint64_t index = 0, lost = 0;
    for (bool reached = true; reached; index += 1 + index / 4) {
        CAPTURE(index);
        Devices devices("0,0");
        faults().lose_one(index);
        const OpReport report = call(devices);
        reached = faults().stop();
        CHECK(count_lost(devices) == (reached ? 1 : 0));
        check_rows_name_losses(report, devices);
        const OpReport again = call(devices);
        CHECK(count_lost(devices) == (reached ? 1 : 0));
        check_rows_name_losses(again, devices);
        for (std::size_t i = 0; i < devices.size() && reached; ++i) {
            CHECK((again.devices[i].shares == 0) == devices.lost(i));
            if (devices.lost(i)) CHECK(again.devices[i].note == "lost in an earlier call");
        }
        lost += reached ? 1 : 0;
    }
    MESSAGE(lost << " losses, up to call " << index);
    CHECK(lost > 4);
}

OpReport add_fields(Devices& devices) {
    static const std::vector<std::uint64_t> a = random_elements(100'000, 4), b = random_elements(100'000, 5);
    static const std::vector<std::uint64_t> want = [] {
        std::vector<std::uint64_t> sum(a.size());
        weft::cuda::field_apply(weft::Field::bls12_381_fp, weft::FieldOp::add, a, b, {}, sum);
        return sum;
    }();
    std::vector<std::uint64_t> sum(a.size());
    const OpReport report = weft::cuda::field_apply(devices, weft::Field::bls12_381_fp, weft::FieldOp::add, a,
                                                    b, {}, sum, {.batch = {.chunk_elements = 1024}});
    CHECK(sum == want);
    return report;
}

OpReport kernel(Devices& devices, bool reupload) {
    constexpr std::uint64_t kRows = 8192;
    static const std::vector<float> x = normal_values(kRows * 10, 7), weights(2 * 10, 0.5f);
    const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = reupload};
    const weft::KernelMatrixShape shape{kRows, 0, 10};
    static std::vector<float> wants[2], k(shape.values());
    std::vector<float>& want = wants[reupload ? 1 : 0];
    if (want.empty()) {
        want.resize(shape.values());
        weft::cuda::kernel_matrix(circuit, x, want, shape);
    }
    std::fill(k.begin(), k.end(), 7.0f);
    const OpReport report = weft::cuda::kernel_matrix(devices, circuit, x, k, shape);
    CHECK(std::memcmp(k.data(), want.data(), k.size() * sizeof(float)) == 0);
    return report;
}

/// By shares of pairs (on) or of rows (off), which are small.
OpReport product(Devices& devices, weft::Choice symmetric) {
    constexpr std::uint64_t kRows = 8192;
    static const std::vector<float> x = normal_values(kRows * 8, 7), v = normal_values(kRows, 8);
    const auto run = [&](Devices& on, std::vector<float>& out) {
        const weft::cuda::KernelOperator k(on, {}, x, {kRows, 0, 8},
                                           {.symmetric = symmetric, .low_rank = weft::Choice::off});
        return weft::cuda::kernel_apply(on, k, v, out);
    };
    static std::vector<float> wants[2];
    std::vector<float>& want = wants[symmetric == weft::Choice::on ? 1 : 0];
    if (want.empty()) {
        want.resize(kRows);
        Devices alone("0");
        run(alone, want);
    }
    std::vector<float> out(kRows);
    weft::cuda::set_host_settings({.chunk_elements = 64});
    const OpReport report = run(devices, out);
    weft::cuda::set_host_settings({});
    CHECK(out == want);
    return report;
}

}  // namespace

TEST_CASE("cuda devices: one is lost in a product with a kernel operator") {
    for (const weft::Choice symmetric : {weft::Choice::on, weft::Choice::off}) {
        Devices whole("0,0");
        product(whole, symmetric);  // makes the wanted result before anything fails
        lose_everywhere([symmetric](Devices& devices) { return product(devices, symmetric); });
    }
}

TEST_CASE("cuda devices: one is lost while fields are added") {
    lose_everywhere(add_fields);
}

TEST_CASE("cuda devices: one is lost in a kernel matrix") {
    lose_everywhere([](Devices& devices) { return kernel(devices, true); });
    lose_everywhere([](Devices& devices) { return kernel(devices, false); });
}

TEST_CASE("cuda devices: work in place is not repeated, and the call says so") {
    Devices devices("0,0");
    std::vector<std::uint64_t> a = random_elements(100'000, 4);
    faults().lose_one(20);
    check_error(Errc::device_lost, "cudaErrorLaunchFailure", [&] {
        weft::cuda::field_apply(devices, weft::Field::bls12_381_fp, weft::FieldOp::neg, a, {}, {}, a,
                                {.batch = {.chunk_elements = 1024}});
    });
    CHECK(faults().stop());
    CHECK(count_lost(devices) == 1);
    check_rows_name_losses(add_fields(devices), devices);
}

TEST_CASE("cuda devices: all are lost") {
    Devices devices("0,0");
    add_fields(devices);
    std::vector<std::uint64_t> a = random_elements(100'000, 4), sum(a.size());
    const auto add = [&] {
        weft::cuda::field_apply(devices, weft::Field::bls12_381_fp, weft::FieldOp::add, a, a, {}, sum,
                                {.batch = {.chunk_elements = 1024}});
    };
    faults().lose_all();
    check_error(Errc::device_lost, "cudaErrorLaunchFailure", add);
    faults().stop();
    CHECK(count_lost(devices) == 2);
    check_error(Errc::device_lost, "every device is lost", add);
    check_error(Errc::device_lost, "every device is lost", [&] { kernel(devices, true); });
}

TEST_CASE("child: a kernel breaks the device") {
    if (!is_child()) return;
    Devices devices("0,0");
    add_fields(devices);
    cuda_trap(nullptr);
    const std::vector<std::uint64_t> a(6000, 1);
    std::vector<std::uint64_t> sum(a.size());
    const auto add = [&] {
        weft::cuda::field_apply(devices, weft::Field::bls12_381_fp, weft::FieldOp::add, a, a, {}, sum);
    };
    check_error(Errc::device_lost, "cudaError", add);
    CHECK(count_lost(devices) == 2);
    check_error(Errc::device_lost, "every device is lost", add);
}

TEST_CASE("cuda devices: a kernel that breaks the device loses every place on it") {
    CHECK(run_case("child: a kernel breaks the device") == 0);
}
