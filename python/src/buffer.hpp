// SPDX-License-Identifier: Apache-2.0
// Memory of weft as Python holds it: of the device, or page-locked memory of the host.
#pragma once

#include <memory>

#include <weft/array.hpp>
#include <weft/buffer.hpp>

#include "arrays.hpp"

namespace weft::python {

struct CudaMemory;

/// A range of device memory or page-locked memory with a type and a shape, in C order. Cheap to copy.
struct PyBuffer {
    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first = 0;  ///< elements from the start of the memory
    ElementType type{};
    Shape shape;
    bool pinned = false;
    std::shared_ptr<CudaMemory> cuda = nullptr;  ///< if CUDA uses the memory too
    detail::BufferObjects imports = {};          ///< on other devices; freed before the memory

    std::uint64_t size() const noexcept;
    std::uint64_t bytes() const noexcept { return size() * type.bytes(); }
    void* data() const noexcept;  ///< null unless pinned
    DeviceArray array() const;
    /// For copies and dispatches, which know no types.
    BufferView<std::byte> view() const;
};

/// Errors: TypeError - no Buffer.
const PyBuffer& buffer_of(const char* call, const char* name, nb::handle object);

/// Errors: TypeError, InvalidArgument - another type or shape.
void require(const char* call, const char* name, const PyBuffer& buffer, ElementType type,
             const Shape& shape);

}  // namespace weft::python
