// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "errors.hpp"

namespace weft::python {

namespace {

constexpr std::array kKnown{kFloat32, kFloat64, kComplex64, kComplex128, kUint32,
                            kUint64,  kUint8,   kInt32,     kInt64};

std::optional<ElementType> element_type_of(nb::dlpack::dtype type) {
    if (type.lanes != 1) return std::nullopt;
    ElementType found{ElementKind::floating, type.bits};
    switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
        case nb::dlpack::dtype_code::Int:
            found.kind = ElementKind::signed_integer;
            break;
        case nb::dlpack::dtype_code::UInt:
            found.kind = ElementKind::unsigned_integer;
            break;
        case nb::dlpack::dtype_code::Float:
            break;
        case nb::dlpack::dtype_code::Complex:
            found.kind = ElementKind::complex;
            break;
        default:
            return std::nullopt;
    }
    if (std::find(kKnown.begin(), kKnown.end(), found) == kKnown.end()) return std::nullopt;
    return found;
}

std::string name_of_type(nb::handle object) {
    return nb::cast<std::string>(object.type().attr("__name__"));
}

/// The dtype as the array prints it, for messages.
std::string name_of_dtype(nb::handle object) {
    if (!nb::hasattr(object, "dtype")) return "another type";
    const nb::object dtype = object.attr("dtype");
    return nb::cast<std::string>(nb::str(nb::handle(dtype)));
}

std::string prefix(const char* call, const char* name) {
    return std::string(call) + ": " + name;
}

/// "float32" or "float32 or float64".
std::string list_of(std::initializer_list<ElementType> types) {
    std::string text;
    for (const ElementType type : types) text += (text.empty() ? "" : " or ") + weft::to_string(type);
    return text.empty() ? "a number type" : text;
}

/// Why the array does not give its memory away, as its library says it; empty if it does.
std::string reason_of(nb::handle object) {
    if (!nb::hasattr(object, "__dlpack__")) return "";
    try {
        object.attr("__dlpack__")();
    } catch (const nb::python_error& e) {
        return nb::cast<std::string>(nb::str(e.value()));
    }
    return "";
}

[[noreturn]] void refuse_dtype(const char* call, const char* name, nb::handle object,
                               std::initializer_list<ElementType> types) {
    const std::string want = types.size() != 0 ? weft::to_string(*types.begin()) : "float32";
    refuse_type(prefix(call, name) + ": wrong dtype (got " + name_of_dtype(object) + ", need " +
                list_of(types) + "); write " + name + ".astype(numpy." + want + ")");
}

/// For objects that are no array that can be read.
[[noreturn]] void refuse_object(const char* call, const char* name, nb::handle object,
                                std::initializer_list<ElementType> types) {
    const std::string reason = reason_of(object);
    const bool foreign = name_of_dtype(object).find('.') != std::string::npos;  // torch.float32
    if (!reason.empty() && foreign) refuse_type(prefix(call, name) + ": cannot be read: " + reason);
    if (nb::hasattr(object, "dtype")) refuse_dtype(call, name, object, types);
    const std::string want = types.size() != 0 ? weft::to_string(*types.begin()) : "float32";
    refuse_type(prefix(call, name) + ": not an array (got " + name_of_type(object) +
                "); write numpy.asarray(" + name + ", numpy." + want + ")");
}

bool in_c_order(const nb::ndarray<nb::ro>& tensor) {
    if (tensor.size() < 2) return true;
    std::int64_t expected = 1;
    for (std::size_t axis = tensor.ndim(); axis-- > 0;) {
        if (tensor.shape(axis) != 1 && tensor.stride(axis) != expected) return false;
        expected *= static_cast<std::int64_t>(tensor.shape(axis));
    }
    return true;
}

Array read(const char* call, const char* name, nb::handle object, std::initializer_list<ElementType> types,
           const nb::ndarray<nb::ro>& tensor) {
    if (tensor.device_type() != nb::device::cpu::value &&
        tensor.device_type() != nb::device::cuda_host::value)
        refuse(prefix(call, name) + ": is not in host memory; copy it to the host first");
    const std::optional<ElementType> type = element_type_of(tensor.dtype());
    if (!type || (types.size() != 0 && std::find(types.begin(), types.end(), *type) == types.end()))
        refuse_dtype(call, name, object, types);
    if (!in_c_order(tensor))
        refuse(prefix(call, name) + ": is not in C order; write numpy.ascontiguousarray(" + name + ")");
    Array array{
        nb::borrow<nb::any>(object), tensor, const_cast<void*>(tensor.data()), {}, tensor.size(), *type};
    array.shape.assign(tensor.shape_ptr(), tensor.shape_ptr() + tensor.ndim());
    if (reinterpret_cast<std::uintptr_t>(array.data) % std::min<std::uint32_t>(type->bytes(), 8) != 0)
        refuse(prefix(call, name) + ": is not aligned to its elements; write " + name + ".copy()");
    return array;
}

nb::object numpy_function(const char* name) {
    return nb::module_::import_("numpy").attr(name);
}

}  // namespace

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (const std::size_t extent : shape) text += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
    if (shape.size() > 1) text.resize(text.size() - 2);
    return text + ")";
}

namespace {

/// The object, or a memoryview of it if it has only the buffer protocol: a memoryview always has strides,
/// which ctypes leaves out.
nb::object with_strides(nb::handle object) {
    if (nb::hasattr(object, "__dlpack__")) return nb::borrow(object);
    PyObject* const view = PyMemoryView_FromObject(object.ptr());
    if (view != nullptr) return nb::steal(view);
    PyErr_Clear();  // no buffer either, which the caller reports
    return nb::borrow(object);
}

}  // namespace

Array input(const char* call, const char* name, nb::handle object, std::initializer_list<ElementType> types) {
    nb::ndarray<nb::ro> tensor;
    if (!nb::try_cast(with_strides(object), tensor, false)) refuse_object(call, name, object, types);
    return read(call, name, object, types, tensor);
}

Array output(const char* call, const char* name, nb::handle object) {
    nb::ndarray<> tensor;
    if (!nb::try_cast(with_strides(object), tensor, false)) {
        Array readable = input(call, name, object);  // says what else is wrong
        refuse(prefix(call, name) + ": is read-only; give an array that can be written");
    }
    return read(call, name, object, {}, nb::ndarray<nb::ro>(tensor));
}

Array output(const char* call, const char* name, nb::handle object, ElementType type, const Shape& shape) {
    Array array = output(call, name, object);
    if (array.type != type) refuse_dtype(call, name, object, {type});
    if (array.shape != shape)
        refuse(prefix(call, name) + ": wrong shape (got " + to_string(array.shape) + ", need " +
               to_string(shape) + ")");
    return array;
}

nb::object numpy_dtype(ElementType type) {
    // Kept for the life of the process, as nanobind's own types are.
    static std::array<PyObject*, kKnown.size()> made{};
    const auto at = static_cast<std::size_t>(std::find(kKnown.begin(), kKnown.end(), type) - kKnown.begin());
    if (at == kKnown.size()) refuse_type("weftgpu: unknown type " + weft::to_string(type));
    if (!made[at]) made[at] = numpy_function("dtype")(weft::to_string(type)).release().ptr();
    return nb::borrow(made[at]);
}

Array new_array(ElementType type, const Shape& shape) {
    static PyObject* const empty = numpy_function("empty").release().ptr();
    const nb::object extents = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
    for (std::size_t i = 0; i < shape.size(); ++i)
        PyTuple_SetItem(extents.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(shape[i]));
    const nb::object made = nb::handle(empty)(extents, numpy_dtype(type));
    Array array = output("weftgpu", "out", made);
    array.made_here = true;
    return array;
}

Array output_or_new(const char* call, const char* name, nb::handle object, ElementType type,
                    const Shape& shape) {
    return object.is_none() ? new_array(type, shape) : output(call, name, object, type, shape);
}

ElementType element_type_of(const char* call, nb::handle dtype) {
    const auto text = nb::cast<std::string>(numpy_function("dtype")(dtype).attr("name"));
    for (const ElementType type : kKnown)
        if (weft::to_string(type) == text) return type;
    refuse_type(std::string(call) + ": unknown dtype (got " + text +
                ", need float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64)");
}

}  // namespace weft::python
