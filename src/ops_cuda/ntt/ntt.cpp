// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/ntt.hpp>

#include <algorithm>
#include <string>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "ops/ntt/ntt_check.hpp"
#include "ops_cuda/field/field_range.hpp"
#include "ops_cuda/ntt/ntt_resident.hpp"

namespace weft::cuda {
namespace {

using kernels::range_of;

void require(const char* function, Field field, const char* name, const ConstDeviceArray& array) {
    check_aligned(function, array.data, name, std::min<std::uint32_t>(field_info(field).element_bytes, 16));
}

const std::byte* bytes_of(const ConstDeviceArray& array) {
    return static_cast<const std::byte*>(array.data);
}
std::byte* bytes_of(const DeviceArray& array) {
    return static_cast<std::byte*>(array.data);
}

}  // namespace

void ntt(StreamHandle stream, Field field, NttDirection direction, const ConstDeviceArray& in,
         const DeviceArray& out, const NttShape& shape, const NttOptions& options) {
    constexpr const char* function = "ntt";
    const kernels::NttRequest request =
        kernels::check_ntt(plan_device(), kernels::ntt_arguments(function, field, direction, shape, options),
                           range_of(in), range_of(out));
    kernels::refuse_field_shader(function, "NttOptions", options.shader);
    require(function, field, "in", in);
    require(function, field, "out", out);
    require_device(function);
    run_ntt(stream, request, bytes_of(in), bytes_of(out), function);
}

void ntt_extend(StreamHandle stream, Field field, const ConstDeviceArray& in, const DeviceArray& out,
                const NttShape& shape, std::uint32_t blowup, const NttOptions& options) {
    constexpr const char* function = "ntt_extend";
    const kernels::NttExtension extension = kernels::check_ntt_extend(
        plan_device(), kernels::ntt_arguments(function, field, NttDirection::forward, shape, options), blowup,
        range_of(in), range_of(out));
    kernels::refuse_field_shader(function, "NttOptions", options.shader);
    require(function, field, "in", in);
    require(function, field, "out", out);
    require_device(function);
    run_ntt_extend(stream, extension, bytes_of(in), bytes_of(out));
}

void ntt_product(StreamHandle stream, Field field, const ConstDeviceArray& a, const ConstDeviceArray& b,
                 const DeviceArray& out, const FieldOptions& options) {
    constexpr const char* function = "ntt_product";
    if (options.workgroup_size != 0 || options.block_elements != 0)
        throw Error(Errc::invalid_argument,
                    "ntt_product: FieldOptions::workgroup_size and block_elements do not apply (got " +
                        std::to_string(options.workgroup_size) + " and " +
                        std::to_string(options.block_elements) + ", need 0)");
    const kernels::NttProduct product = kernels::check_ntt_product(
        plan_device(), field, options.form, options.shader, range_of(a), range_of(b), range_of(out));
    kernels::refuse_field_shader(function, "FieldOptions", options.shader);
    require(function, field, "a", a);
    require(function, field, "b", b);
    require(function, field, "out", out);
    require_device(function);
    run_ntt_product(stream, product, options.form, bytes_of(a), bytes_of(b), bytes_of(out));
}

}  // namespace weft::cuda
