// SPDX-License-Identifier: Apache-2.0
// Work through every noun of the C API, for tests in which something fails: each part returns the status of
// its first call that did not succeed.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "capi/fixture.hpp"
#include "fault/fixture.hpp"
#include "support/scratch_folder.hpp"

namespace weft_test {

#define WEFT_TRY(call)                        \
    do {                                      \
        const weft_status tried_ = (call);    \
        if (tried_ != WEFT_OK) return tried_; \
    } while (false)

/// Options of a backend without a cache on disk, so that every run makes the same calls.
inline weft_backend_options quiet_options() {
    weft_backend_options options{};
    options.size = sizeof(options);
    options.cache = WEFT_OFF;
    options.log_level = WEFT_LOG_OFF;
    return options;
}

/// What is made before anything fails.
struct FaultWorld {
    FaultWorld() {
        const weft_backend_options options = quiet_options();
        CHECK_OK(weft_backend_create(&options, &backend));
        make_affine(backend, program);
        const std::string twice = std::string(std::getenv("WEFT_DEVICE")) + "," + std::getenv("WEFT_DEVICE");
        weft_backend_options of_two = options;
        of_two.device = twice.c_str();
        of_two.chunk_elements = 16;
        CHECK_OK(weft_backend_create(&of_two, &several));
        make_affine(several, of_several);
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, nullptr, &x));
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, nullptr, &y));
    }
    void forget() {
        work.y.assign(work.y.size(), 7);
        sum.assign(sum.size(), 0);
    }

    Backend backend, several;
    Program program, of_several;
    Buffer x, y;
    AffineJob work{100};
    std::vector<std::uint64_t> a = std::vector<std::uint64_t>(300, 5), sum = std::vector<std::uint64_t>(300);
    std::vector<float> angles = std::vector<float>(8, 0.25f), states = std::vector<float>(32),
                       k = std::vector<float>(16), ones = std::vector<float>(4, 1), alpha = ones;
    std::vector<std::uint64_t> points = std::vector<std::uint64_t>(16, 5), values = points,
                               extended = std::vector<std::uint64_t>(32);
    ScratchFolder folder;
    std::string file = (folder.path() / "k.npy").string();
};

inline weft_status fault_batch(FaultWorld& w) {
    weft_batch_options options{};
    options.size = sizeof(options);
    options.chunk_elements = 64;
    options.stage_times = WEFT_ON;
    weft_report report{};
    report.size = sizeof(report);
    WEFT_TRY(weft_run_batch(w.backend, w.program, &w.work.job, 1, &options, &report));
    return w.work.right() && report.chunks == 2 ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_pipeline(FaultWorld& w) {
    Pipeline pipeline;
    WEFT_TRY(weft_pipeline_create(w.backend, w.program, nullptr, &pipeline));
    std::uint64_t token = 0;
    WEFT_TRY(weft_pipeline_submit(pipeline, &w.work.job, &token));
    WEFT_TRY(weft_pipeline_wait(pipeline, token, WEFT_FOREVER));
    return w.work.right() ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_stream(FaultWorld& w) {
    Stream stream;
    weft_stream_options options{};
    options.size = sizeof(options);
    options.name = "a name that is longer than a string holds in itself";
    WEFT_TRY(weft_stream_create(w.backend, &options, &stream));
    WEFT_TRY(weft_stream_upload(stream, in(w.work.x), weft_buffer_view(w.x)));
    struct Steps {
        FaultWorld& w;
        weft_status failed;
    } steps{w, WEFT_OK};
    Sequence sequence;
    const weft_status recorded = weft_stream_record(
        stream,
        [](void* user, weft_stream* s) {
            auto& self = *static_cast<Steps*>(user);
            const weft_view views[] = {weft_buffer_view(self.w.x), weft_buffer_view(self.w.y)};
            self.failed = weft_stream_dispatch(s, self.w.program, views, 2, 100, self.w.work.job.parameters);
            return self.failed;
        },
        &steps, &sequence);
    if (steps.failed != WEFT_OK) return steps.failed;
    WEFT_TRY(recorded);
    Event event;
    WEFT_TRY(weft_stream_replay(stream, sequence, &event));
    WEFT_TRY(weft_event_wait(event, WEFT_FOREVER));
    WEFT_TRY(weft_stream_download(stream, weft_buffer_view(w.y), out(w.work.y)));
    return w.work.right() ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_memory(FaultWorld& w) {
    Buffer device, host;
    WEFT_TRY(weft_buffer_create(w.backend, WEFT_DEVICE_MEMORY, 400,
                                "a name that a string cannot hold in itself", &device));
    WEFT_TRY(weft_buffer_create(w.backend, WEFT_HOST_MEMORY, 400, nullptr, &host));
    weft_memory memory{};
    memory.size = sizeof(memory);
    WEFT_TRY(weft_backend_memory(w.backend, &memory));
    Text plan;
    WEFT_TRY(weft_backend_plan(w.backend, &plan));
    return weft_text_data(plan)[0] != 0 ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_ops(FaultWorld& w) {
    WEFT_TRY(weft_field_apply(w.backend, WEFT_GOLDILOCKS, WEFT_FIELD_ADD, in(w.a), in(w.a), {}, out(w.sum),
                              nullptr, nullptr));
    WEFT_TRY(weft_encode(w.backend, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, in(w.angles), WEFT_COMPLEX64,
                         out(w.states), 4, 2, nullptr, nullptr));
    WEFT_TRY(weft_kernel_matrix(w.backend, nullptr, WEFT_FLOAT32, in(w.angles), {}, WEFT_FLOAT32, out(w.k),
                                {4, 0, 2, 0}, nullptr, nullptr));
    return w.sum[299] == 10 && w.k[1] > 0.99f ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_transforms(FaultWorld& w) {
    WEFT_TRY(weft_ntt(w.backend, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, in(w.points), out(w.values),
                      {4, WEFT_NTT_ROWS, 1, 0}, nullptr, nullptr));
    WEFT_TRY(weft_ntt_extend(w.backend, WEFT_GOLDILOCKS, in(w.points), out(w.extended),
                             {4, WEFT_NTT_ROWS, 1, 0}, 2, nullptr, nullptr));
    // A polynomial that is 5 everywhere.
    return w.values[0] == 80 && w.values[1] == 0 && w.extended[31] == 5 ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_operator(FaultWorld& w) {
    KernelOperator k;
    WEFT_TRY(weft_kernel_operator_create(w.backend, nullptr, WEFT_FLOAT32, in(w.angles), {}, {4, 0, 2, 0},
                                         nullptr, &k));
    WEFT_TRY(weft_kernel_apply(w.backend, k, in(w.ones), out(w.alpha), nullptr, nullptr));
    if (w.alpha[3] < 3.99f) return WEFT_INTERNAL;
    const std::uint32_t row = 2;
    WEFT_TRY(weft_kernel_rows(w.backend, k, &row, 1, out(w.alpha), nullptr));
    WEFT_TRY(weft_kernel_diagonal(w.backend, k, out(w.alpha), nullptr));
    weft_kernel_solve_options options{};
    options.size = sizeof(options);
    options.lambda = 1;
    WEFT_TRY(weft_kernel_solve(w.backend, k, in(w.ones), out(w.alpha), &options, nullptr));
    return std::abs(w.alpha[0] - 0.2f) < 1e-3f ? WEFT_OK : WEFT_INTERNAL;
}

inline weft_status fault_store(FaultWorld& w) {
    KernelStore store;
    WEFT_TRY(weft_kernel_store_create(w.file.c_str(), {4, 0, 2, 0}, WEFT_FLOAT32, 0, &store));
    WEFT_TRY(
        weft_kernel_store_fill(store, w.backend, nullptr, WEFT_FLOAT32, in(w.angles), {}, nullptr, nullptr));
    return weft_kernel_store_finish(store);
}

inline weft_status fault_profile(FaultWorld& w) {
    Profile profile;
    WEFT_TRY(weft_profile_create(w.backend, 0, &profile));
    WEFT_TRY(fault_batch(w));
    Text text;
    return weft_profile_print(profile, WEFT_PROFILE_JSON, &text);
}

inline weft_status fault_devices(FaultWorld& w) {
    Backend second;
    WEFT_TRY(weft_backend_at(w.several, 1, &second));
    weft_report report{};
    report.size = sizeof(report);
    WEFT_TRY(weft_run_batch(w.several, w.of_several, &w.work.job, 1, nullptr, &report));
    weft_device_report row{};
    row.size = sizeof(row);
    WEFT_TRY(weft_last_report_device(1, &row));
    if (!w.work.right() || report.devices != 2) return WEFT_INTERNAL;
    return weft_field_apply(w.several, WEFT_GOLDILOCKS, WEFT_FIELD_ADD, in(w.a), in(w.a), {}, out(w.sum),
                            nullptr, nullptr);
}

struct FaultPart {
    const char* name;
    weft_status (*run)(FaultWorld&);
};
inline constexpr FaultPart kFaultParts[] = {
    {"batch", fault_batch},       {"pipeline", fault_pipeline},
    {"stream", fault_stream},     {"memory", fault_memory},
    {"ops", fault_ops},           {"profile", fault_profile},
    {"devices", fault_devices},   {"transforms", fault_transforms},
    {"operator", fault_operator}, {"store", fault_store},
};

}  // namespace weft_test
