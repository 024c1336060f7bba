// SPDX-License-Identifier: Apache-2.0
// Buffer: memory that stays where it is between calls.
#include "buffer.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "backend.hpp"
#include "bindings.hpp"
#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"

namespace weft::python {

std::uint64_t PyBuffer::size() const noexcept {
    std::uint64_t elements = 1;
    for (const std::size_t extent : shape) elements *= extent;
    return elements;
}

void* PyBuffer::data() const noexcept {
    return pinned ? static_cast<std::byte*>(detail::mapped(*object)) + first * type.bytes() : nullptr;
}

DeviceArray PyBuffer::array() const {
    return with_element_type(type, [&]<class T>() {
        return DeviceArray(detail::Access::make<BufferView<T>>(object, static_cast<std::size_t>(first),
                                                               static_cast<std::size_t>(size())));
    });
}

BufferView<std::byte> PyBuffer::view() const {
    return detail::Access::make<BufferView<std::byte>>(object, static_cast<std::size_t>(first * type.bytes()),
                                                       static_cast<std::size_t>(bytes()));
}

const PyBuffer& buffer_of(const char* call, const char* name, nb::handle object) {
    const PyBuffer* buffer = nullptr;
    if (!object.is_none() && nb::try_cast(object, buffer) && buffer != nullptr) return *buffer;
    refuse_type(std::string(call) + ": " + name + ": not a Buffer (got " + name_of_type(object) +
                "); with a stream, arrays are weftgpu.Buffers");
}

void require(const char* call, const char* name, const PyBuffer& buffer, ElementType type,
             const Shape& shape) {
    const std::string begin = std::string(call) + ": " + name;
    if (buffer.type != type)
        refuse_type(begin + ": wrong dtype (got " + weft::to_string(buffer.type) + ", need " +
                    weft::to_string(type) + ")");
    if (buffer.shape != shape)
        refuse(begin + ": wrong shape (got " + to_string(buffer.shape) + ", need " + to_string(shape) + ")");
}

namespace {

std::size_t elements_of(const Shape& shape, ElementType type) {
    std::size_t elements = 1;
    for (const std::size_t extent : shape)
        if (__builtin_mul_overflow(elements, extent, &elements))
            refuse("Buffer: more bytes than an address can hold (got shape " + to_string(shape) + ")");
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(elements, static_cast<std::size_t>(type.bytes()), &bytes))
        refuse("Buffer: more bytes than an address can hold (got shape " + to_string(shape) + ")");
    return elements;
}

PyBuffer make_buffer(nb::handle given, const Shape& shape, nb::handle dtype, bool pinned, bool cuda,
                     const std::string& name) {
    if (pinned && cuda)
        refuse(
            "Buffer: pinned memory is the host's, and CUDA's is the device's; give pinned=True or cuda=True");
    const ElementType type = element_type_of("Buffer", dtype);
    const std::size_t elements = elements_of(shape, type);
    PyBuffer buffer{nullptr, 0, type, shape, pinned, nullptr};
    if (cuda) {
        make_cuda_memory(buffer, backend_of(given), name);
        return buffer;
    }
    const Where where = pinned ? where_of(given) : Where(backend_of(given).get());
    const WithoutLock unlocked;
    buffer.object = pinned ? detail::make_host_buffer(where.first(), elements, type.bytes(), name)
                           : detail::make_device_buffer(where.first(), elements, type.bytes(), name);
    if (pinned) buffer.imports = where.import_into_others(*buffer.object);
    return buffer;
}

/// Elements [begin, end) of the first axis.
PyBuffer slice_of(const PyBuffer& buffer, const nb::slice& slice) {
    if (buffer.shape.empty()) refuse("Buffer: a buffer without axes cannot be cut");
    const auto [begin, end, step, count] = slice.compute(buffer.shape[0]);
    (void)end;
    if (step != 1)
        refuse("Buffer: a part must be contiguous (got step " + std::to_string(step) + ", need 1)");
    PyBuffer part = buffer;
    const std::uint64_t row = buffer.shape[0] == 0 ? 0 : buffer.size() / buffer.shape[0];
    part.first += static_cast<std::uint64_t>(begin) * row;
    part.shape[0] = count;
    return part;
}

[[noreturn]] void refuse_device_memory(const char* what) {
    const std::string text = std::string(what) +
                             ": is in device memory; make the Buffer with pinned=True, or with cuda=True for "
                             "CUDA arrays, or download it with a Stream";
    throw nb::buffer_error(text.c_str());
}

/// Memory of the host as an array of NumPy, which keeps `self` alive.
nb::object numpy_array(nb::handle self) {
    const auto& buffer = nb::cast<const PyBuffer&>(self);
    if (!buffer.pinned) refuse_device_memory("Buffer.array");
    return nb::cast(nb::ndarray<nb::numpy>(buffer.data(), buffer.shape.size(), buffer.shape.data(), self,
                                           nullptr, dlpack_type(buffer.type), nb::device::cpu::value));
}

void* cuda_data(const PyBuffer& buffer) {
    return static_cast<std::byte*>(cuda_address(*buffer.cuda)) + buffer.first * buffer.type.bytes();
}

std::pair<int, int> dlpack_device(const PyBuffer& buffer, const char* what) {
    if (buffer.cuda) return {nb::device::cuda::value, cuda_ordinal(*buffer.cuda)};
    if (!buffer.pinned) refuse_device_memory(what);
    return {nb::device::cpu::value, 0};
}

/// A tensor that keeps `self` alive. The consumer's stream runs after the work on the memory so far.
nb::object dlpack(nb::handle self, const nb::kwargs& arguments) {
    const auto& buffer = nb::cast<const PyBuffer&>(self);
    const auto [kind, ordinal] = dlpack_device(buffer, "Buffer.__dlpack__");
    if (buffer.cuda) {
        const nb::object stream = arguments.contains("stream") ? arguments["stream"] : nb::none();
        order_consumer(*buffer.cuda, stream.is_none() ? 1 : nb::cast<std::intptr_t>(stream));
    }
    const nb::ndarray<nb::array_api> tensor(buffer.cuda ? cuda_data(buffer) : buffer.data(),
                                            buffer.shape.size(), buffer.shape.data(), self, nullptr,
                                            dlpack_type(buffer.type), kind, ordinal);
    return nb::cast(tensor).attr("__dlpack__")(**arguments);
}

PyBuffer from_dlpack(nb::handle backend, nb::handle array) {
    const Place place = place_of("from_dlpack", {array});
    if (!place.on_cuda())
        refuse(
            "from_dlpack: x: is not on a CUDA device; calls use arrays in host memory where they lie, and "
            "Stream.upload copies them to a Buffer");
    return buffer_of_cuda_array(backend_of(backend), array, place);
}

/// Version 3 of the protocol. CUDA's default stream runs after the work on the memory so far.
nb::typed<nb::dict, nb::str, nb::any> cuda_array_interface(const PyBuffer& buffer) {
    if (!buffer.cuda) throw nb::attribute_error("Buffer: has no memory of CUDA; make it with cuda=True");
    order_consumer(*buffer.cuda, 1);
    nb::typed<nb::dict, nb::str, nb::any> interface;
    interface["version"] = 3;
    interface["shape"] = nb::tuple(nb::cast(buffer.shape));
    interface["typestr"] = numpy_dtype(buffer.type).attr("str");
    interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(cuda_data(buffer)), false);
    interface["strides"] = nb::none();
    interface["stream"] = 1;
    return interface;
}

}  // namespace

void bind_buffer(nb::module_& module) {
    nb::class_<PyBuffer>(module, "_Buffer")
        .def(
            "__init__",
            [](PyBuffer* self, nb::handle backend, const Shape& shape, nb::handle dtype, bool pinned,
               bool cuda, const std::string& name) {
                new (self) PyBuffer(make_buffer(backend, shape, dtype, pinned, cuda, name));
            },
            nb::arg("backend").none(), nb::arg("shape"), nb::arg("dtype").none(), nb::arg("pinned"),
            nb::arg("cuda"), nb::arg("name"))
        .def(
            "__init__",
            [](PyBuffer* self, nb::handle backend, nb::handle array) {
                new (self) PyBuffer(from_dlpack(backend, array));
            },
            nb::arg("backend").none(), nb::arg("array"))
        .def_prop_ro(
            "shape", [](const PyBuffer& b) { return nb::tuple(nb::cast(b.shape)); },
            nb::for_getter(nb::sig("def shape(self, /) -> tuple[int, ...]")))
        .def_prop_ro("_dtype", [](const PyBuffer& b) { return numpy_dtype(b.type); })
        .def_prop_ro("size", &PyBuffer::size, "In elements.")
        .def_prop_ro("nbytes", &PyBuffer::bytes)
        .def_ro("pinned", &PyBuffer::pinned, "Page-locked memory of the host, which the device reaches.")
        .def_prop_ro(
            "array", [](nb::object self) { return numpy_array(self); },
            nb::for_getter(nb::sig("def array(self, /) -> typing.Any")),
            "The memory of a pinned buffer as a NumPy array, without a copy. Wait for the streams that use "
            "it\n"
            "before it is read or changed.")
        .def("__len__", [](const PyBuffer& b) { return b.shape.empty() ? std::size_t{1} : b.shape[0]; })
        .def("__getitem__", &slice_of, "A contiguous part along the first axis, of the same memory.")
        .def(
            "__dlpack__", [](nb::object self, nb::kwargs arguments) { return dlpack(self, arguments); },
            nb::sig("def __dlpack__(self, **kwargs: object) -> object"))
        .def("__dlpack_device__",
             [](const PyBuffer& buffer) { return dlpack_device(buffer, "Buffer.__dlpack_device__"); })
        .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
        .def("__repr__", [](const PyBuffer& b) {
            return "<weftgpu.Buffer " + to_string(b.shape) + " " + weft::to_string(b.type) +
                   (b.pinned ? " pinned>"
                    : b.cuda ? " on the device and in CUDA>"
                             : " on the device>");
        });
}

}  // namespace weft::python
