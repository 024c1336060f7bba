// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: transforms on several devices. A share of rows is consecutive
// transforms. Columns, and a product, are one item, which a device takes whole.
#include <string>
#include <utility>

#include <weft/cuda/devices.hpp>

#include "base/batch_call.hpp"
#include "cuda/check.hpp"
#include "cuda/devices_state.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/ntt/ntt_check.hpp"

namespace weft::cuda {
namespace {

/// `count` of `batch` transforms, which all have the same size.
template <class Array>
Array part_of(const Array& array, std::uint64_t batch, const core::Share& share) {
    Array part = array;
    const std::uint64_t each = array.size / batch;
    part.data = static_cast<decltype(array.data)>(const_cast<std::byte*>(
        static_cast<const std::byte*>(array.data) + share.first * each * array.type.bytes()));
    part.size = share.count * each;
    return part;
}

struct HostCall {
    const char* function;
    Field field;
    const ConstHostArray& in;
    const HostArray& out;
    const NttShape& shape;
    const BatchOptions& batch;
    bool in_place = false;
};

/// work(in, out, shape, batch options) is the call on one device. Arguments have been checked.
template <class Work>
OpReport share_transforms(Devices& devices, const HostCall& call, std::string method, const Work& work) {
    const bool rows = call.shape.layout == NttLayout::rows;
    const std::uint64_t items = rows ? call.shape.batch : 1, batch = call.shape.batch;
    OpReport report;
    if (batch != 0) {
        const auto on_device = [&](const core::Share& share, core::ShareWatch& watch) {
            const BatchOptions options = watch.options(call.batch);
            if (!rows) return work(call.in, call.out, call.shape, options);
            NttShape shape = call.shape;
            shape.batch = share.count;
            return work(part_of(call.in, batch, share), part_of(call.out, batch, share), shape, options);
        };
        report = run_shares(devices, {.function = call.function,
                                      .rates = std::string(call.function) + " " + to_string(call.field) +
                                               " " + std::to_string(call.out.size / batch),
                                      .items = items,
                                      .item_bytes = (call.in.bytes() + call.out.bytes()) / items,
                                      .chunk_items = rows ? wanted_chunk_elements(call.batch) : 0,
                                      .least_items = rows ? std::uint64_t{0} : 1,
                                      .repeatable = !call.in_place,
                                      .single_job = true,
                                      .progress_total = batch,
                                      .options = call.batch,
                                      .worker = on_each(devices, call.function, on_device)});
        report.jobs = 1;
    }
    report.op = call.function;
    report.items = batch;
    report.method = std::move(method);
    return report;
}

void check_options(const char* function, const char* type, const BatchOptions& batch, FieldShader shader) {
    core::require_members(function, batch, {.chunk_elements = true, .ring_slots = true});
    kernels::refuse_field_shader(function, type, shader);
}

NttHostOptions checked_before(NttHostOptions options, const BatchOptions& batch) {
    options.check_values = false;
    options.batch = batch;
    return options;
}

}  // namespace

OpReport ntt(Devices& devices, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options) {
    constexpr const char* function = "ntt";
    const kernels::NttRequest request =
        kernels::check_ntt(plan_device(), kernels::ntt_arguments(function, field, direction, shape, options),
                           kernels::ntt_range(in), kernels::ntt_range(out));
    check_options(function, "NttHostOptions", options.batch, options.shader);
    if (options.check_values)
        kernels::check_ntt_values(function, field, "in", in, shape, request.inputs, host_threads());
    return share_transforms(devices, {function, field, in, out, shape, options.batch, in.data == out.data},
                            kernels::plan_ntt(plan_device(), request).method,
                            [&](const ConstHostArray& from, const HostArray& to, const NttShape& part,
                                const BatchOptions& batch) {
                                return ntt(field, direction, from, to, part, checked_before(options, batch));
                            });
}

OpReport ntt_extend(Devices& devices, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options) {
    constexpr const char* function = "ntt_extend";
    const kernels::NttExtension extension = kernels::check_ntt_extend(
        plan_device(), kernels::ntt_arguments(function, field, NttDirection::forward, shape, options), blowup,
        kernels::ntt_range(in), kernels::ntt_range(out));
    check_options(function, "NttHostOptions", options.batch, options.shader);
    if (options.check_values)
        kernels::check_ntt_values(function, field, "in", in, shape, shape.size(), host_threads());
    return share_transforms(devices, {function, field, in, out, shape, options.batch},
                            kernels::plan_ntt(plan_device(), extension.inverse).method + ", " +
                                kernels::plan_ntt(plan_device(), extension.forward).method,
                            [&](const ConstHostArray& from, const HostArray& to, const NttShape& part,
                                const BatchOptions& batch) {
                                return ntt_extend(field, from, to, part, blowup,
                                                  checked_before(options, batch));
                            });
}

OpReport ntt_product(Devices& devices, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options) {
    constexpr const char* function = "ntt_product";
    const kernels::NttProduct product =
        kernels::check_ntt_product(plan_device(), field, options.form, options.shader, kernels::ntt_range(a),
                                   kernels::ntt_range(b), kernels::ntt_range(out));
    check_options(function, "FieldHostOptions", options.batch, options.shader);
    for (const auto& [name, array] : {std::pair{"a", &a}, std::pair{"b", &b}})
        if (options.check_values)
            kernels::check_ntt_values(function, field, name, *array, {}, 0, host_threads());
    const auto on_device = [&](const core::Share&, core::ShareWatch& watch) {
        FieldHostOptions checked = options;
        checked.check_values = false;
        checked.batch = watch.options(options.batch);
        return ntt_product(field, a, b, out, checked);
    };
    OpReport report = run_shares(devices, {.function = function,
                                           .rates = std::string(function) + " " + to_string(field) + " " +
                                                    std::to_string(product.out.log_size),
                                           .items = 1,
                                           .item_bytes = a.bytes() + b.bytes() + out.bytes(),
                                           .least_items = 1,
                                           .single_job = true,
                                           .progress_total = 1,
                                           .options = options.batch,
                                           .worker = on_each(devices, function, on_device)});
    report.op = function;
    report.items = 1;
    report.method = kernels::plan_ntt(plan_device(), product.out).method;
    return report;
}

}  // namespace weft::cuda
