// SPDX-License-Identifier: Apache-2.0
// Buffer: memory that stays where it is between calls.
#include "buffer.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "backend.hpp"
#include "bindings.hpp"
#include "calls.hpp"
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

PyBuffer make_buffer(const PyBackend& backend, const Shape& shape, nb::handle dtype, bool pinned,
                     const std::string& name) {
    const ElementType type = element_type_of("Buffer", dtype);
    const std::size_t elements = elements_of(shape, type);
    const std::shared_ptr<Backend> owner = backend.get();
    const WithoutLock unlocked;
    PyBuffer buffer{nullptr, 0, type, shape, pinned};
    buffer.object = pinned ? detail::make_host_buffer(*owner, elements, type.bytes(), name)
                           : detail::make_device_buffer(*owner, elements, type.bytes(), name);
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

nb::dlpack::dtype dlpack_type(ElementType type) {
    return with_element_type(type, []<class T>() { return nb::dtype<T>(); });
}

void require_pinned(const PyBuffer& buffer, const char* what) {
    if (!buffer.pinned) {
        const std::string text =
            std::string(what) +
            ": is in device memory; make the Buffer with pinned=True, or download it with a "
            "Stream";
        throw nb::buffer_error(text.c_str());
    }
}

/// Memory of `self` as an array of a framework, which keeps `self` alive.
template <class Framework>
nb::object array_of(nb::handle self, const char* what) {
    const auto& buffer = nb::cast<const PyBuffer&>(self);
    require_pinned(buffer, what);
    return nb::cast(nb::ndarray<Framework>(buffer.data(), buffer.shape.size(), buffer.shape.data(), self,
                                           nullptr, dlpack_type(buffer.type), nb::device::cpu::value));
}

}  // namespace

void bind_buffer(nb::module_& module) {
    nb::class_<PyBuffer>(module, "_Buffer")
        .def("__init__",
             [](PyBuffer* self, const PyBackend& backend, const Shape& shape, nb::handle dtype, bool pinned,
                const std::string& name) {
                 new (self) PyBuffer(make_buffer(backend, shape, dtype, pinned, name));
             })
        .def_prop_ro(
            "shape", [](const PyBuffer& b) { return nb::tuple(nb::cast(b.shape)); },
            nb::for_getter(nb::sig("def shape(self, /) -> tuple[int, ...]")))
        .def_prop_ro("_dtype", [](const PyBuffer& b) { return numpy_dtype(b.type); })
        .def_prop_ro("size", &PyBuffer::size, "In elements.")
        .def_prop_ro("nbytes", &PyBuffer::bytes)
        .def_ro("pinned", &PyBuffer::pinned, "Page-locked memory of the host, which the device reaches.")
        .def_prop_ro(
            "array", [](nb::object self) { return array_of<nb::numpy>(self, "Buffer.array"); },
            nb::for_getter(nb::sig("def array(self, /) -> typing.Any")),
            "The memory of a pinned buffer as a NumPy array, without a copy. Wait for the streams that use "
            "it\n"
            "before it is read or changed.")
        .def("__len__", [](const PyBuffer& b) { return b.shape.empty() ? std::size_t{1} : b.shape[0]; })
        .def("__getitem__", &slice_of, "A contiguous part along the first axis, of the same memory.")
        .def(
            "__dlpack__",
            [](nb::object self, nb::kwargs arguments) {
                return array_of<nb::array_api>(self, "Buffer.__dlpack__").attr("__dlpack__")(**arguments);
            },
            nb::sig("def __dlpack__(self, **kwargs: object) -> object"))
        .def("__dlpack_device__",
             [](const PyBuffer& buffer) {
                 require_pinned(buffer, "Buffer.__dlpack_device__");
                 return std::pair(static_cast<int>(nb::device::cpu::value), 0);
             })
        .def("__repr__", [](const PyBuffer& b) {
            return "<weftgpu.Buffer " + to_string(b.shape) + " " + weft::to_string(b.type) +
                   (b.pinned ? " pinned>" : " on the device>");
        });
}

}  // namespace weft::python
