// SPDX-License-Identifier: Apache-2.0
// Arrays on CUDA devices as DLPack tensors. Nothing here calls CUDA.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cuda/cuda.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

/// What the array's library says about a refusal; the error is over then.
std::string text_of(const nb::python_error& error) {
    return nb::cast<std::string>(nb::str(error.value()));
}

const void* address_of(const nb::object& interface) {
    return reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(interface["data"][0]));
}

/// A capsule of an array that has __cuda_array_interface__ alone.
nb::object capsule_of_interface(nb::handle object) {
    const nb::object interface = object.attr("__cuda_array_interface__");
    const auto shape = nb::cast<Shape>(interface["shape"]);
    const ElementType type = element_type_of("__cuda_array_interface__", interface["typestr"]);
    std::vector<std::int64_t> strides;
    const nb::object given = interface.attr("get")("strides");
    if (!given.is_none()) strides = nb::cast<std::vector<std::int64_t>>(given);
    for (std::int64_t& stride : strides) stride /= type.bytes();
    const void* const data = address_of(interface);
    const nb::ndarray<nb::array_api> tensor(const_cast<void*>(data), shape.size(), shape.data(), object,
                                            given.is_none() ? nullptr : strides.data(), dlpack_type(type),
                                            nb::device::cuda::value, cuda_device_of_memory(data));
    return nb::cast(tensor).attr("__dlpack__")();
}

}  // namespace

bool is_read_only(nb::handle object) {
    return !is_numpy(object) &&
           nb::cast<bool>(nb::module_::import_("weftgpu._cuda").attr("is_read_only")(object));
}

int cuda_device_of(nb::handle object) {
    if (object.is_none() || is_numpy(object)) return -1;
    if (nb::hasattr(object, "__dlpack_device__")) try {
            const auto [kind, ordinal] = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
            return kind == nb::device::cuda::value || kind == nb::device::cuda_managed::value ? ordinal : -1;
        } catch (const std::exception&) {
            return -1;  // whoever reads the array gets the reason
        }
    if (!nb::hasattr(object, "__cuda_array_interface__")) return -1;
    try {
        return cuda_device_of_memory(address_of(object.attr("__cuda_array_interface__")));
    } catch (const std::exception&) {
        return -1;
    }
}

nb::object cuda_capsule(const std::string& argument, nb::handle object, std::intptr_t stream) {
    if (!nb::hasattr(object, "__dlpack__")) return capsule_of_interface(object);
    const nb::object export_to = object.attr("__dlpack__");
    try {
        return export_to(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (const nb::python_error& error) {
        // Libraries older than versions of DLPack.
        if (!error.matches(PyExc_TypeError)) refuse_type(argument + ": cannot be read: " + text_of(error));
    }
    try {
        return export_to(nb::arg("stream") = stream);
    } catch (const nb::python_error& error) {
        refuse_type(argument + ": cannot be read: " + text_of(error));
    }
}

nb::object new_cuda_array(const Place& place, ElementType type, const Shape& shape) {
    const nb::object extents = nb::tuple(nb::cast(shape));
    return nb::module_::import_("weftgpu._cuda")
        .attr("empty")(place.like, place.ordinal, extents, weft::to_string(type));
}

}  // namespace weft::python
