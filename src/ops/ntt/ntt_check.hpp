// SPDX-License-Identifier: Apache-2.0
// Refuses transforms that cannot run, in host memory and in device memory of any API, before anything touches
// a device. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <weft/ops/ntt.hpp>

#include "ops/field/field_check.hpp"
#include "ops/ntt/ntt_plan.hpp"

namespace weft::kernels {

/// The arguments of a call that are no arrays of elements.
struct NttArguments {
    const char* function = "ntt";
    Field field{};
    NttDirection direction = NttDirection::forward;
    NttShape shape{};
    NttOrder order = NttOrder::nn;
    FieldForm form = FieldForm::plain;
    ConstHostArray coset{}, root{};
    FieldShader shader = FieldShader::automatic;
    std::uint32_t tile_bits = 0, pass_bits = 0;
};
template <class Options>
NttArguments ntt_arguments(const char* function, Field field, NttDirection direction, const NttShape& shape,
                           const Options& options) {
    NttArguments a{function,     field,         direction,    shape,         options.order,
                   options.form, options.coset, options.root, options.shader};
    if constexpr (requires { options.tile_bits; }) {
        a.tile_bits = options.tile_bits;
        a.pass_bits = options.pass_bits;
    }
    return a;
}

/// An array in host memory as a range of one buffer, so that overlap is found.
FieldRange ntt_range(const ConstHostArray& array);

/// `device` has the limits that count. Errors: as weft::ntt.
NttRequest check_ntt(const DeviceInfo& device, const NttArguments& arguments, const FieldRange& in,
                     const FieldRange& out);

/// The two transforms of an extension: to coefficients, and back with more points.
struct NttExtension {
    NttRequest inverse, forward;
};
NttExtension check_ntt_extend(const DeviceInfo& device, const NttArguments& arguments, std::uint32_t blowup,
                              const FieldRange& in, const FieldRange& out);

/// The transforms of a product: of both factors, and back.
struct NttProduct {
    NttRequest a, b, out;
};
NttProduct check_ntt_product(const DeviceInfo& device, Field field, FieldForm form, FieldShader shader,
                             const FieldRange& a, const FieldRange& b, const FieldRange& out);

/// For arrays on the device: a matrix with columns must fit one binding, because its transforms cannot be
/// bound one by one. Errors: invalid_argument.
void check_ntt_columns(const DeviceInfo& device, const NttArguments& arguments, const FieldRange& in,
                       const FieldRange& out);

/// Reads all values with up to `threads` threads and refuses those >= p. `count` is the number of elements of
/// each transform; 0: the array is not a batch, and the text names no transform. Errors: invalid_argument.
void check_ntt_values(const char* function, Field field, const char* name, const ConstHostArray& array,
                      const NttShape& shape, std::uint64_t count, std::uint32_t threads);

}  // namespace weft::kernels
