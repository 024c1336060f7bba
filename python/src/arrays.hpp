// SPDX-License-Identifier: Apache-2.0
// Arrays of the caller, in one place: what weftgpu reads and writes in host memory, or on a CUDA device. An
// array is any object with __dlpack__, the buffer protocol or __cuda_array_interface__, in C order, and is
// used where it lies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <weft/array.hpp>

namespace weft::python {

namespace nb = nanobind;

using Shape = std::vector<std::size_t>;

inline constexpr ElementType kInt32{ElementKind::signed_integer, 32};

/// Where the arrays of a call lie: in host memory, or on one CUDA device, used in the order of a stream.
struct Place {
    int ordinal = -1;          ///< of the CUDA device; -1: host memory
    std::intptr_t stream = 1;  ///< as __dlpack__ takes it
    bool wait = false;         ///< for the stream, before an array may go; see weftgpu/_cuda.py
    nb::object like;           ///< the array whose library makes new ones
    bool on_cuda() const noexcept { return ordinal >= 0; }
};

/// The place of the arrays that are given; None is left out. Errors: Unavailable - they are on a CUDA device,
/// and this build has no CUDA, or there is no driver.
Place place_of(const char* call, std::initializer_list<nb::handle> objects);

/// Refuses options that calls on CUDA arrays do not have; true: it is given.
void refuse_on_cuda(const char* call, std::initializer_list<std::pair<const char*, bool>> options);

/// An array during a call, which keeps its memory alive.
struct Array {
    nb::any object;  ///< as the caller gave it, or the array that was made
    nb::ndarray<nb::ro> tensor;
    void* data = nullptr;
    Shape shape;
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
    bool made_here = false;  ///< by new_array: the caller has not seen it yet

    std::uint64_t bytes() const noexcept { return size * type.bytes(); }
    operator ConstHostArray() const { return {data, size, type}; }
    operator HostArray() const { return {data, size, type}; }
};

/// Whether it is an array of NumPy, and not of a class derived from that.
bool is_numpy(nb::handle object);
/// The name of an object's type, for messages.
std::string name_of_type(nb::handle object);

/// "(3, 4)", as Python prints a shape.
std::string to_string(const Shape& shape);

/// What a text about a wrong type says to write: a cast; nothing, for what a call writes, since a copy would
/// take the result from the caller; or Field.array, where a cast would change numbers that are no elements.
enum class Advice { cast, another_array, field_array };

/// An array that `call` reads. `name` is that of the argument. An empty list of types accepts every type that
/// weft knows. Errors: TypeError - no array, or another type, with the cast to write; InvalidArgument - not
/// in C order, or not at the place.
Array input(const char* call, const char* name, nb::handle object,
            std::initializer_list<ElementType> types = {}, const Place& place = {},
            Advice advice = Advice::cast);

/// An array that must have the type of another one: float32 is widened to float64 and complex64 to
/// complex128, which is exact, in a new array. Not on a CUDA device. Errors: as above.
Array input_like(const char* call, const char* name, nb::handle object, ElementType type,
                 const Place& place = {});

/// An array in host memory as one of NumPy, of the same memory, which must not be written unless it was
/// NumPy's.
nb::object numpy_view(Array array);

/// An array that `call` writes. Errors: as above, and InvalidArgument - read-only, or another shape.
Array output(const char* call, const char* name, nb::handle object, ElementType type, const Shape& shape,
             const Place& place = {});
/// The same for an array of any type and shape.
Array output(const char* call, const char* name, nb::handle object, const Place& place = {});

/// A new NumPy array, contents undefined.
Array new_array(ElementType type, const Shape& shape);

/// `object` if it is not None, otherwise a new array: of NumPy, or on the CUDA device.
Array output_or_new(const char* call, const char* name, nb::handle object, ElementType type,
                    const Shape& shape, const Place& place = {});

/// "float32" and the like. Errors: TypeError - a type that weft does not know, named.
ElementType element_type_of(const char* call, nb::handle dtype);

/// The NumPy dtype of an element type, and that of DLPack.
nb::object numpy_dtype(ElementType type);
nb::dlpack::dtype dlpack_type(ElementType type);

/// Calls `of_type.operator()<T>()` with the C++ type of the elements.
template <class Call>
decltype(auto) with_element_type(ElementType type, Call&& of_type) {
    if (type == kFloat32) return of_type.template operator()<float>();
    if (type == kFloat64) return of_type.template operator()<double>();
    if (type == kComplex64) return of_type.template operator()<c32>();
    if (type == kComplex128) return of_type.template operator()<c64>();
    if (type == kUint64) return of_type.template operator()<std::uint64_t>();
    if (type == kInt64) return of_type.template operator()<std::int64_t>();
    if (type == kUint8) return of_type.template operator()<std::uint8_t>();
    if (type == kInt32) return of_type.template operator()<std::int32_t>();
    return of_type.template operator()<std::uint32_t>();
}

}  // namespace weft::python
