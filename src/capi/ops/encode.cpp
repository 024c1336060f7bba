// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: encoders.
#include <weft/ops/encode.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

weft::EncodeMethod method_of(weft_encode_method method) {
    return static_cast<weft::EncodeMethod>(method);  // weft refuses other numbers
}

weft::EncodeHostOptions host_options(const char* function, const weft_encode_options* options) {
    const weft_encode_options all = read_options(function, "weft_encode_options", options);
    return {.check_values = flag_of(function, "weft_encode_options.check_values", all.check_values),
            .batch = batch_options(function, all.batch)};
}

weft::EncodeOptions resident_options(const char* function, const weft_encode_options* options) {
    const weft_encode_options all = read_options(function, "weft_encode_options", options);
    if (all.batch != nullptr)
        refuse(std::string(function) + ": weft_encode_options.batch applies to host memory alone");
    return {.check_values = flag_of(function, "weft_encode_options.check_values", all.check_values)};
}

}  // namespace

weft_status weft_encode_features(weft_encode_method method, uint32_t qubits, uint64_t* features) {
    constexpr const char* kName = "weft_encode_features";
    return guarded(kName, [&] {
        const auto known = enum_of<weft::EncodeMethod>(kName, "method", method, WEFT_ENCODE_IQP_Z + 1);
        given(kName, "features", features) = weft::encode_features(known, qubits);
    });
}

weft_status weft_encode(weft_backend* backend, weft_encode_method method, weft_type values_type,
                        weft_const_span values, weft_type states_type, weft_span states, uint64_t samples,
                        uint32_t qubits, const weft_encode_options* options, weft_report* report) {
    constexpr const char* kName = "weft_encode";
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        const auto in = array_of(kName, "values", values, element_type_of(kName, "values_type", values_type));
        const auto out =
            array_of(kName, "states", states, element_type_of(kName, "states_type", states_type));
        weft::OpReport done =
            weft::encode(owner, method_of(method), in, out, {samples, qubits}, host_options(kName, options));
        put_report(kName, std::move(done), report);
    });
}

weft_status weft_encode_batch(weft_backend* backend, weft_encode_method method, weft_type values_type,
                              weft_type states_type, const weft_encode_job* jobs, uint64_t count,
                              uint32_t qubits, const weft_encode_options* options, weft_report* report) {
    constexpr const char* kName = "weft_encode_batch";
    return with_devices(kName, backend, [&](auto& owner) {
        if (count != 0) given(kName, "jobs", jobs);
        check_size(kName, "weft_report", report);
        const weft::ElementType in = element_type_of(kName, "values_type", values_type);
        const weft::ElementType out = element_type_of(kName, "states_type", states_type);
        std::vector<weft::EncodeJob> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back({array_of(kName, "values", jobs[i].values, in),
                           array_of(kName, "states", jobs[i].states, out), jobs[i].samples});
        weft::OpReport done =
            weft::encode_batch(owner, method_of(method), all, qubits, host_options(kName, options));
        put_report(kName, std::move(done), report);
    });
}

weft_status weft_stream_encode(weft_stream* stream, weft_encode_method method, weft_type values_type,
                               weft_view values, weft_type states_type, weft_view states, uint64_t samples,
                               uint32_t qubits, const weft_encode_options* options,
                               weft_encode_outcome** outcome) {
    constexpr const char* kName = "weft_stream_encode";
    if (outcome != nullptr) *outcome = nullptr;
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const auto in = array_of(kName, "values", values, element_type_of(kName, "values_type", values_type));
        const auto out =
            array_of(kName, "states", states, element_type_of(kName, "states_type", states_type));
        const weft::EncodeOptions all = resident_options(kName, options);
        // Made before the work is recorded, so that a lack of memory is found in time.
        auto made = std::make_unique<weft_encode_outcome>();
        made->object.emplace(weft::encode(s, method_of(method), in, out, {samples, qubits}, all));
        if (outcome != nullptr) *outcome = made.release();
    });
}

weft_status weft_encode_outcome_check(const weft_encode_outcome* outcome, weft_stream* stream) {
    constexpr const char* kName = "weft_encode_outcome_check";
    const Uses uses(outcome);
    return with_stream(kName, stream,
                       [&](weft::Stream& s) { given(kName, "outcome", outcome).object->require_all(s); });
}

WEFT_DEFINE_HANDLE(weft_encode_outcome)

weft_status weft_estimate_encode(const weft_backend* backend, weft_encode_method method,
                                 weft_type values_type, weft_type states_type, uint64_t samples,
                                 uint32_t qubits, uint64_t features, weft_estimate* estimate) {
    constexpr const char* kName = "weft_estimate_encode";
    const Uses uses(backend);
    return guarded(kName, [&] {
        const weft::EncodeTypes types{element_type_of(kName, "values_type", values_type),
                                      element_type_of(kName, "states_type", states_type)};
        const weft::EncodeEstimate found = weft::estimate_encode(
            one_device(kName, backend), method_of(method), {samples, qubits}, types, features);
        weft_estimate all{};
        all.resident_fits = found.resident_fits ? 1 : 0;
        all.streamed_fits = found.streamed_fits ? 1 : 0;
        all.resident_bytes = found.scratch_bytes;
        all.streamed_bytes = found.streamed_bytes;
        all.available_bytes = found.available_bytes;
        put_text(all.reason, found.reason);
        write_report(kName, "weft_estimate", all, estimate);
    });
}
