// SPDX-License-Identifier: Apache-2.0
// Arrays of the caller, in one place: what weftgpu reads and writes in host memory. An array is any object
// with
// __dlpack__ or the buffer protocol, in C order, and is used where it lies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <weft/array.hpp>

namespace weft::python {

namespace nb = nanobind;

using Shape = std::vector<std::size_t>;

inline constexpr ElementType kInt32{ElementKind::signed_integer, 32};

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

/// "(3, 4)", as Python prints a shape.
std::string to_string(const Shape& shape);

/// An array that `call` reads. `name` is that of the argument. An empty list of types accepts every type that
/// weft knows. Errors: TypeError - no array, or another type, with the cast to write; InvalidArgument - not
/// in C order, or not in host memory.
Array input(const char* call, const char* name, nb::handle object,
            std::initializer_list<ElementType> types = {});

/// An array that `call` writes. Errors: as above, and InvalidArgument - read-only, or another shape.
Array output(const char* call, const char* name, nb::handle object, ElementType type, const Shape& shape);
/// The same for an array of any type and shape.
Array output(const char* call, const char* name, nb::handle object);

/// A new NumPy array, contents undefined.
Array new_array(ElementType type, const Shape& shape);

/// `object` if it is not None, otherwise a new array.
Array output_or_new(const char* call, const char* name, nb::handle object, ElementType type,
                    const Shape& shape);

/// "float32" and the like. Errors: TypeError - a type that weft does not know, named.
ElementType element_type_of(const char* call, nb::handle dtype);

/// The NumPy dtype of an element type.
nb::object numpy_dtype(ElementType type);

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
