// SPDX-License-Identifier: Apache-2.0
// Completes weft/ops/ntt.hpp: transforms of host memory, on one device and on several.
#include <algorithm>
#include <string>
#include <utility>

#include <weft/devices.hpp>
#include <weft/ops/ntt.hpp>

#include "base/batch_call.hpp"
#include "ops/ntt/ntt_check.hpp"
#include "ops_vulkan/ntt/ntt_resident.hpp"
#include "ops_vulkan/ntt/ntt_rounds.hpp"
#include "vulkan/devices/shared_call.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft {
namespace {

using kernels::Words;

void check_options(Backend& backend, const char* function, const BatchOptions& options) {
    core::check_batch_options(function, backend, options);
    core::require_members(function, options, {.mode = true, .chunk_elements = true});
}

/// A checked call on host memory.
struct HostCall {
    const char* function;
    Field field;
    kernels::NttHostBatch batch;
    std::uint64_t transforms;
    bool in_place;
    const BatchOptions& options;
    kernels::NttRecord record;
};

OpReport on(Backend& backend, const HostCall& call) {
    OpReport report;
    if (call.transforms != 0)
        static_cast<BatchReport&>(report) = kernels::run_ntt_rounds(
            backend, call.function, call.batch, 0, call.transforms, call.options, call.record);
    return report;
}

OpReport on(Devices& devices, const HostCall& call) {
    if (call.transforms == 0) return {};
    const auto worker = [&](std::size_t) -> core::ShareWorker {
        return [&](Backend& backend, const core::Share& share, core::ShareWatch& watch) {
            OpReport report;
            const BatchOptions options = watch.options(call.options);
            static_cast<BatchReport&>(report) = kernels::run_ntt_rounds(
                backend, call.function, call.batch, share.first, share.count, options, call.record);
            return report;
        };
    };
    OpReport report = core::run_shares(
        devices, {.function = call.function,
                  .rates = std::string(call.function) + " " + to_string(call.field) + " " +
                           std::to_string(call.batch.out_elements),
                  .items = call.transforms,
                  .item_bytes = call.batch.transform_bytes(),
                  .chunk_items = core::wanted_chunk_items(core::first_backend(devices).plan(), call.options),
                  .repeatable = !call.in_place,
                  .single_job = true,
                  .progress_total = call.transforms,
                  .options = call.options,
                  .worker = worker});
    report.jobs = 1;
    return report;
}

kernels::NttHostBatch batch_of(const ConstHostArray& in, const HostArray& out, const FieldInfo& field,
                               const NttShape& shape) {
    kernels::NttHostBatch batch;
    batch.in = static_cast<const std::byte*>(in.data);
    batch.out = static_cast<std::byte*>(out.data);
    const std::uint64_t transforms = std::max<std::uint64_t>(shape.batch, 1);
    batch.in_elements = in.size / field.limbs / transforms;
    batch.out_elements = out.size / field.limbs / transforms;
    batch.element_bytes = field.element_bytes;
    batch.pitch = shape.batch;
    batch.layout = shape.layout;
    return batch;
}

OpReport named(OpReport report, const char* function, std::uint64_t items, std::string method) {
    report.op = function;
    report.items = items;
    report.method = std::move(method);
    return report;
}

/// What `check` finds for a device. The settings of a call must suit every device that may take a share.
template <class Check>
auto checked_for(Backend& backend, const Check& check) {
    return check(std::as_const(backend));
}
template <class Check>
auto checked_for(Devices& devices, const Check& check) {
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i)) check(std::as_const(devices[i]));
    return check(std::as_const(core::first_backend(devices)));
}

std::string method_of(const Backend& backend, const kernels::NttRequest& request) {
    return kernels::plan_ntt(backend.device(), request, kernels::ntt_tile_bytes(backend.plan())).method;
}

template <class Request>
struct Checked {
    Request request;
    std::string method;
};

template <class Where>
OpReport run_ntt(Where& where, Field field, NttDirection direction, const ConstHostArray& in,
                 const HostArray& out, const NttShape& shape, const NttHostOptions& options) {
    Backend& backend = core::first_backend(where);
    const auto [request, method] = checked_for(where, [&](const Backend& on) {
        const kernels::NttRequest checked =
            kernels::check_ntt(on.device(), kernels::ntt_arguments("ntt", field, direction, shape, options),
                               kernels::ntt_range(in), kernels::ntt_range(out));
        return Checked<kernels::NttRequest>{checked, method_of(on, checked)};
    });
    check_options(backend, "ntt", options.batch);
    if (options.check_values)
        kernels::check_ntt_values("ntt", field, "in", in, shape, request.inputs, backend.plan().copy_threads);
    const auto record = [&each = request](Stream& stream, std::uint64_t count, const Words& from,
                                          const Words& to) {
        kernels::NttRequest part = each;
        part.batch = count;
        kernels::record_ntt(stream, part, from, to);
    };
    const HostCall call{
        "ntt",         field, batch_of(in, out, field_info(field), shape), shape.batch, in.data == out.data,
        options.batch, record};
    return named(on(where, call), "ntt", shape.batch, method);
}

template <class Where>
OpReport run_extend(Where& where, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options) {
    Backend& backend = core::first_backend(where);
    const auto [extension, method] = checked_for(where, [&](const Backend& on) {
        const kernels::NttExtension checked = kernels::check_ntt_extend(
            on.device(), kernels::ntt_arguments("ntt_extend", field, NttDirection::forward, shape, options),
            blowup, kernels::ntt_range(in), kernels::ntt_range(out));
        return Checked<kernels::NttExtension>{
            checked, method_of(on, checked.inverse) + ", " + method_of(on, checked.forward)};
    });
    check_options(backend, "ntt_extend", options.batch);
    if (options.check_values)
        kernels::check_ntt_values("ntt_extend", field, "in", in, shape, shape.size(),
                                  backend.plan().copy_threads);
    const auto record = [&each = extension](Stream& stream, std::uint64_t count, const Words& from,
                                            const Words& to) {
        kernels::NttExtension part = each;
        part.inverse.batch = part.forward.batch = count;
        kernels::record_ntt_extend(stream, part, from, to);
    };
    const HostCall call{"ntt_extend",  field, batch_of(in, out, field_info(field), shape), shape.batch, false,
                        options.batch, record};
    return named(on(where, call), "ntt_extend", shape.batch, method);
}

/// A checked product of polynomials in host memory.
struct ProductCall {
    kernels::NttProduct product;
    FieldForm form;
    const ConstHostArray &a, &b;
    const HostArray& out;
    const BatchOptions& options;
};

OpReport multiply(Backend& backend, const ProductCall& call, const BatchOptions& options) {
    core::ProgressMeter meter("ntt_product", options, 1);
    meter.check();
    Stream stream(backend, {.name = "ntt_product"});
    const auto buffer_of = [&](std::uint64_t bytes) {
        return Buffer<std::uint32_t>(backend, bytes / 4, "ntt factors");
    };
    const auto words_of = [](const ConstHostArray& array) {
        return std::span(static_cast<const std::uint32_t*>(array.data), array.bytes() / 4);
    };
    const Buffer<std::uint32_t> first = buffer_of(call.a.bytes()), second = buffer_of(call.b.bytes()),
                                result = buffer_of(call.out.bytes());
    stream.upload(words_of(call.a), first);
    stream.upload(words_of(call.b), second);
    kernels::record_ntt_product(stream, call.product, call.form, first, second, result);
    stream.download<std::uint32_t>(
        result.view(), std::span(static_cast<std::uint32_t*>(call.out.data), call.out.bytes() / 4));
    OpReport report;
    report.jobs = report.elements = 1;
    report.bytes_in = call.a.bytes() + call.b.bytes();
    report.bytes_out = call.out.bytes();
    report.path = Path::staged;
    meter.show(1);
    report.chunks = meter.parts();
    report.wall_s = meter.elapsed_s();
    return report;
}

OpReport on(Backend& backend, const ProductCall& call) {
    return multiply(backend, call, call.options);
}

/// One item, which a device takes whole.
OpReport on(Devices& devices, const ProductCall& call) {
    const auto worker = [&](std::size_t) -> core::ShareWorker {
        return [&](Backend& backend, const core::Share&, core::ShareWatch& watch) {
            return multiply(backend, call, watch.options(call.options));
        };
    };
    return core::run_shares(devices,
                            {.function = "ntt_product",
                             .rates = std::string("ntt_product ") + to_string(call.product.out.field) + " " +
                                      std::to_string(call.product.out.log_size),
                             .items = 1,
                             .item_bytes = call.a.bytes() + call.b.bytes() + call.out.bytes(),
                             .least_items = 1,
                             .single_job = true,
                             .progress_total = 1,
                             .options = call.options,
                             .worker = worker});
}

template <class Where>
OpReport run_product(Where& where, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options) {
    Backend& backend = core::first_backend(where);
    const auto [product, method] = checked_for(where, [&](const Backend& on) {
        const kernels::NttProduct checked =
            kernels::check_ntt_product(on.device(), field, options.form, options.shader,
                                       kernels::ntt_range(a), kernels::ntt_range(b), kernels::ntt_range(out));
        return Checked<kernels::NttProduct>{checked, method_of(on, checked.out)};
    });
    core::check_batch_options("ntt_product", backend, options.batch);
    core::require_members("ntt_product", options.batch, {});
    if (options.check_values)
        for (const auto& [name, array] : {std::pair("a", &a), std::pair("b", &b)})
            kernels::check_ntt_values("ntt_product", field, name, *array, {}, 0, backend.plan().copy_threads);
    const ProductCall call{product, options.form, a, b, out, options.batch};
    return named(on(where, call), "ntt_product", 1, method);
}

}  // namespace

OpReport ntt(Backend& backend, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options) {
    return run_ntt(backend, field, direction, in, out, shape, options);
}
OpReport ntt(Devices& devices, Field field, NttDirection direction, const ConstHostArray& in,
             const HostArray& out, const NttShape& shape, const NttHostOptions& options) {
    return run_ntt(devices, field, direction, in, out, shape, options);
}

OpReport ntt_extend(Backend& backend, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options) {
    return run_extend(backend, field, in, out, shape, blowup, options);
}
OpReport ntt_extend(Devices& devices, Field field, const ConstHostArray& in, const HostArray& out,
                    const NttShape& shape, std::uint32_t blowup, const NttHostOptions& options) {
    return run_extend(devices, field, in, out, shape, blowup, options);
}

OpReport ntt_product(Backend& backend, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options) {
    return run_product(backend, field, a, b, out, options);
}
OpReport ntt_product(Devices& devices, Field field, const ConstHostArray& a, const ConstHostArray& b,
                     const HostArray& out, const FieldHostOptions& options) {
    return run_product(devices, field, a, b, out, options);
}

}  // namespace weft
