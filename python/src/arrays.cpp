// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "buffer.hpp"
#include "capsules.hpp"
#include "cuda/cuda.hpp"
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

/// What to write instead.
std::string text_of(Advice advice, const char* name, const std::string& cast) {
    switch (advice) {
        case Advice::cast:
            break;
        case Advice::another_array:
            return "give an array of that dtype";
        case Advice::field_array:
            return std::string("write F.array(") + name + "), which takes integers modulo p";
    }
    return "write " + cast;
}

[[noreturn]] void refuse_dtype(const char* call, const char* name, nb::handle object,
                               std::initializer_list<ElementType> types, Advice advice) {
    if (const PyBuffer* buffer = nullptr; nb::try_cast(object, buffer) && buffer != nullptr)
        if (std::find(types.begin(), types.end(), buffer->type) != types.end())
            refuse_type(prefix(call, name) +
                        ": a Buffer is memory of the device (need stream=, or its contents in an array)");
    const std::string want = types.size() != 0 ? weft::to_string(*types.begin()) : "float32";
    refuse_type(prefix(call, name) + ": wrong dtype (got " + name_of_dtype(object) + ", need " +
                list_of(types) + "); " +
                text_of(advice, name, std::string(name) + ".astype(numpy." + want + ")"));
}

/// For objects that are no array that can be read. `reason`: why the array does not give its memory away, as
/// its library says it; may be empty.
[[noreturn]] void refuse_object(const char* call, const char* name, nb::handle object,
                                std::initializer_list<ElementType> types, Advice advice,
                                const std::string& reason) {
    const bool foreign = name_of_dtype(object).find('.') != std::string::npos;  // torch.float32
    if (!reason.empty() && foreign) refuse_type(prefix(call, name) + ": cannot be read: " + reason);
    if (nb::hasattr(object, "dtype")) refuse_dtype(call, name, object, types, advice);
    if (const PyBuffer* buffer = nullptr; nb::try_cast(object, buffer) && buffer != nullptr)
        if (std::find(types.begin(), types.end(), buffer->type) != types.end())
            refuse_type(prefix(call, name) +
                        ": a Buffer is memory of the device (need stream=, or its contents in an array)");
    const std::string want = types.size() != 0 ? weft::to_string(*types.begin()) : "float32";
    const std::string cast = std::string("numpy.asarray(") + name + ", numpy." + want + ")";
    refuse_type(prefix(call, name) + ": not an array (got " + name_of_type(object) + "); " +
                (advice == Advice::another_array ? "give an array that can be written"
                                                 : text_of(advice, name, cast)));
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

/// Errors: InvalidArgument - not at the place.
void require_place(const char* call, const char* name, const nb::ndarray<nb::ro>& tensor,
                   const Place& place) {
    const int kind = tensor.device_type();
    if (!place.on_cuda()) {
        if (kind != nb::device::cpu::value && kind != nb::device::cuda_host::value)
            refuse(prefix(call, name) + ": is not in host memory; copy it to the host first");
        return;
    }
    const std::string need =
        ", need CUDA device " + std::to_string(place.ordinal) + " for all arrays of a call)";
    if (kind != nb::device::cuda::value && kind != nb::device::cuda_managed::value)
        refuse(prefix(call, name) + ": is on another device (got memory that is not CUDA's" + need);
    if (tensor.device_id() != place.ordinal)
        refuse(prefix(call, name) + ": is on another device (got CUDA device " +
               std::to_string(tensor.device_id()) + need);
    if (tensor.nbytes() != 0)
        check_cuda_memory(prefix(call, name), tensor.data(), tensor.nbytes(), place.ordinal);
}

Array read(const char* call, const char* name, nb::handle object, std::initializer_list<ElementType> types,
           const nb::ndarray<nb::ro>& tensor, const Place& place, Advice advice) {
    const bool written = advice == Advice::another_array;
    const std::optional<ElementType> type = element_type_of(tensor.dtype());
    if (!type || (types.size() != 0 && std::find(types.begin(), types.end(), *type) == types.end()))
        refuse_dtype(call, name, object, types, advice);
    if (!in_c_order(tensor))
        refuse(prefix(call, name) + ": is not in C order; " +
               (written           ? "give an array in C order"
                : place.on_cuda() ? "write a contiguous copy"
                                  : "write numpy.ascontiguousarray(" + std::string(name) + ")"));
    require_place(call, name, tensor, place);
    Array array{
        nb::borrow<nb::any>(object), tensor, const_cast<void*>(tensor.data()), {}, tensor.size(), *type};
    array.shape.assign(tensor.shape_ptr(), tensor.shape_ptr() + tensor.ndim());
    if (reinterpret_cast<std::uintptr_t>(array.data) % std::min<std::uint32_t>(type->bytes(), 8) != 0)
        refuse(prefix(call, name) + ": is not aligned to its elements; " +
               (written ? std::string("give an array that is") : std::string("write ") + name + ".copy()"));
    return array;
}

nb::object numpy_function(const char* name) {
    return nb::module_::import_("numpy").attr(name);
}

}  // namespace

bool is_numpy(nb::handle object) {
    static PyObject* const type = nb::object(numpy_function("ndarray")).release().ptr();
    return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type;
}

std::string name_of_type(nb::handle object) {
    return object.is_none() ? "None" : nb::cast<std::string>(object.type().attr("__name__"));
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (const std::size_t extent : shape) text += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
    if (shape.size() > 1) text.resize(text.size() - 2);
    return text + ")";
}

namespace {

/// An object that has the buffer protocol as a tensor, by a memoryview: that always has strides, which ctypes
/// leaves out.
template <class Tensor>
bool take_buffer(nb::handle object, Tensor& tensor) {
    const nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
    if (view.is_valid()) return nb::try_cast(view, tensor, false);
    PyErr_Clear();  // no buffer, which the caller reports
    return false;
}

/// numpy.ma's arrays give their numbers away without the mask.
void refuse_mask(const char* call, const char* name, nb::handle object) {
    if (!is_numpy(object) && nb::hasattr(object, "mask") && nb::hasattr(object, "filled"))
        refuse_type(prefix(call, name) + ": is a masked array, whose mask would be lost; write " + name +
                    ".filled(value)");
}

/// `object` as a tensor; false if it is none, or read-only and T is not. `reason`: what its library says
/// then.
template <class Tensor>
bool take(const char* call, const char* name, nb::handle object, const Place& place, Tensor& tensor,
          std::string& reason) {
    if (place.on_cuda()) {
        if (cuda_device_of(object) < 0)
            refuse(prefix(call, name) +
                   ": is not on a CUDA device, where another array of the call is; copy it to CUDA device " +
                   std::to_string(place.ordinal) + " first");
        const nb::object capsule = cuda_capsule(prefix(call, name), object, place.stream);
        require_unused(prefix(call, name), capsule);
        return nb::try_cast(capsule, tensor, false);
    }
    // nanobind asks no array but NumPy's own, which give a new capsule each time.
    if (is_numpy(object)) return nb::try_cast(object, tensor, false);
    if (PyCapsule_CheckExact(object.ptr())) {
        if (const std::string fault = fault_of(object); !fault.empty())
            refuse_type(prefix(call, name) + ": " + fault);
        return nb::try_cast(object, tensor, false);
    }
    if (nb::hasattr(object, "__dlpack__")) {
        Exported exported =
            export_array(prefix(call, name), object, !std::is_same_v<Tensor, nb::ndarray<nb::ro>>);
        reason = std::move(exported.reason);
        if (exported.capsule.is_valid()) return nb::try_cast(exported.capsule, tensor, false);
    }
    return take_buffer(object, tensor);
}

}  // namespace

Array input(const char* call, const char* name, nb::handle object, std::initializer_list<ElementType> types,
            const Place& place, Advice advice) {
    refuse_mask(call, name, object);
    nb::ndarray<nb::ro> tensor;
    std::string reason;
    if (!take(call, name, object, place, tensor, reason))
        refuse_object(call, name, object, types, advice, reason);
    return read(call, name, object, types, tensor, place, advice);
}

namespace {

/// The type whose values are all of `type`, in half the bits; `type` itself if there is none.
ElementType narrower(ElementType type) {
    return type == kFloat64 ? kFloat32 : type == kComplex128 ? kComplex64 : type;
}

}  // namespace

Array input_like(const char* call, const char* name, nb::handle object, ElementType type,
                 const Place& place) {
    const ElementType narrow = narrower(type);
    if (place.on_cuda() || narrow == type) return input(call, name, object, {type}, place);
    const Array given = input(call, name, object, {type, narrow}, place);
    if (given.type == type) return given;
    const Array wide = new_array(type, given.shape);
    const auto* const from = static_cast<const float*>(given.data);
    std::copy(from, from + given.bytes() / sizeof(float), static_cast<double*>(wide.data));
    return wide;
}

nb::object numpy_view(Array array) {
    if (is_numpy(array.object)) return array.object;
    auto held = std::make_unique<Array>(std::move(array));
    const nb::capsule owner(held.get(), [](void* gone) noexcept { delete static_cast<Array*>(gone); });
    const Array& of = *held.release();
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(of.data, of.shape.size(), of.shape.data(), owner, nullptr,
                                                   dlpack_type(of.type), nb::device::cpu::value));
}

Array output(const char* call, const char* name, nb::handle object, const Place& place) {
    refuse_mask(call, name, object);
    nb::ndarray<> tensor;
    std::string reason;
    if (is_read_only(object) || !take(call, name, object, place, tensor, reason)) {
        Array readable =
            input(call, name, object, {}, place, Advice::another_array);  // says what else is wrong
        refuse(prefix(call, name) + ": is read-only; give an array that can be written");
    }
    return read(call, name, object, {}, nb::ndarray<nb::ro>(tensor), place, Advice::another_array);
}

Array output(const char* call, const char* name, nb::handle object, ElementType type, const Shape& shape,
             const Place& place) {
    Array array = output(call, name, object, place);
    if (array.type != type) refuse_dtype(call, name, object, {type}, Advice::another_array);
    if (array.shape != shape)
        refuse(prefix(call, name) + ": wrong shape (got " + to_string(array.shape) + ", need " +
               to_string(shape) + ")");
    return array;
}

nb::dlpack::dtype dlpack_type(ElementType type) {
    return with_element_type(type, []<class T>() { return nb::dtype<T>(); });
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
                    const Shape& shape, const Place& place) {
    if (!object.is_none()) return output(call, name, object, type, shape, place);
    if (!place.on_cuda()) return new_array(type, shape);
    Array made = output(call, name, new_cuda_array(place, type, shape), type, shape, place);
    made.made_here = true;
    return made;
}

Place place_of(const char* call, std::initializer_list<nb::handle> objects) {
    Place place;
    std::vector<nb::handle> found;
    for (const nb::handle object : objects) {
        const int ordinal = cuda_device_of(object);
        if (ordinal < 0) continue;
        if (!place.on_cuda()) place.like = nb::borrow(object);
        if (!place.on_cuda()) place.ordinal = ordinal;
        found.push_back(object);
    }
    if (!place.on_cuda()) return place;
    require_cuda(call);
    nb::list arrays;
    for (const nb::handle object : found) arrays.append(object);
    std::tie(place.stream, place.wait) = nb::cast<std::pair<std::intptr_t, bool>>(
        nb::module_::import_("weftgpu._cuda").attr("order_of")(arrays, place.ordinal));
    return place;
}

void refuse_on_cuda(const char* call, std::initializer_list<std::pair<const char*, bool>> options) {
    for (const auto& [name, given] : options)
        if (given) refuse(prefix(call, name) + " has no effect with CUDA arrays; leave it out");
}

ElementType element_type_of(const char* call, nb::handle dtype) {
    std::string text;
    try {
        text = nb::cast<std::string>(numpy_function("dtype")(dtype).attr("name"));
    } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;
        text = nb::cast<std::string>(nb::repr(dtype));
    }
    for (const ElementType type : kKnown)
        if (weft::to_string(type) == text) return type;
    refuse_type(std::string(call) + ": unknown dtype (got " + text +
                ", need float32, float64, complex64, complex128, uint8, uint32, uint64, int32 or int64)");
}

}  // namespace weft::python
