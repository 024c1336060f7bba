// SPDX-License-Identifier: Apache-2.0
// Completes weft/ops/ntt.hpp: transforms in buffers.
#include <weft/ops/ntt.hpp>

#include <string>

#include <weft/error.hpp>

#include "ops/ntt/ntt_check.hpp"
#include "ops_vulkan/ntt/ntt_resident.hpp"

namespace weft {
using kernels::range_of;

void ntt(Stream& stream, Field field, NttDirection direction, const ConstDeviceArray& in,
         const DeviceArray& out, const NttShape& shape, const NttOptions& options) {
    const kernels::NttArguments arguments = kernels::ntt_arguments("ntt", field, direction, shape, options);
    const kernels::NttRequest request =
        kernels::check_ntt(stream.device(), arguments, range_of(in), range_of(out));
    kernels::check_ntt_columns(stream.device(), arguments, range_of(in), range_of(out));
    kernels::record_ntt(stream, request, kernels::ntt_words(in), kernels::ntt_words(out));
}

void ntt_extend(Stream& stream, Field field, const ConstDeviceArray& in, const DeviceArray& out,
                const NttShape& shape, std::uint32_t blowup, const NttOptions& options) {
    const kernels::NttArguments arguments =
        kernels::ntt_arguments("ntt_extend", field, NttDirection::forward, shape, options);
    const kernels::NttExtension extension =
        kernels::check_ntt_extend(stream.device(), arguments, blowup, range_of(in), range_of(out));
    kernels::check_ntt_columns(stream.device(), arguments, range_of(in), range_of(out));
    kernels::record_ntt_extend(stream, extension, kernels::ntt_words(in), kernels::ntt_words(out));
}

void ntt_product(Stream& stream, Field field, const ConstDeviceArray& a, const ConstDeviceArray& b,
                 const DeviceArray& out, const FieldOptions& options) {
    if (options.workgroup_size != 0 || options.block_elements != 0)
        throw Error(Errc::invalid_argument,
                    "ntt_product: FieldOptions::workgroup_size and block_elements do not apply (got " +
                        std::to_string(options.workgroup_size) + " and " +
                        std::to_string(options.block_elements) + ", need 0)");
    const kernels::NttProduct product = kernels::check_ntt_product(
        stream.device(), field, options.form, options.shader, range_of(a), range_of(b), range_of(out));
    kernels::record_ntt_product(stream, product, options.form, kernels::ntt_words(a), kernels::ntt_words(b),
                                kernels::ntt_words(out));
}

}  // namespace weft
