// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: headers of versions 1 to 3 are read, and arrays are written with version 1, in C order;
// little-endian, plain numbers.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/array.hpp>

#include "cli/output_file.hpp"

namespace weft::tool {

using Shape = std::vector<std::uint64_t>;
std::string to_string(const Shape& shape);  ///< as Python prints it: "(4, 6)", "(4,)", "()"

/// The contents of the header of a .npy file.
struct NpyHeader {
    std::string descr;  ///< "<u8"
    Shape shape;
    bool fortran_order = false;   ///< first axis runs fastest
    std::size_t data_offset = 0;  ///< bytes from the start of the file
    std::size_t data_bytes = 0;   ///< of the elements that shape and descr describe
};

/// Errors: Failure with Exit::usage - not a .npy file, a damaged header, a kind of array that is not
/// supported, or data that is shorter or longer than the header says. The text begins with `path`.
NpyHeader parse_npy(std::span<const std::byte> file, const std::string& path);

inline constexpr ElementType kInt32{ElementKind::signed_integer, 32};
std::string npy_descr(ElementType type);                      ///< "<u8", "|u1"
std::optional<ElementType> npy_type(std::string_view descr);  ///< none: another byte order or kind

/// The bytes of a version 1 header; the data that follows is aligned to 64 bytes. At most 32 axes.
std::string npy_header(std::string_view descr, const Shape& shape);

/// An array that is written to a file: the caller fills memory that is mapped onto an OutputFile.
class NpyOutput {
  public:
    /// Reserves the space on the disk. Errors: Failure with Exit::failed - the target cannot be written, or
    /// the disk lacks the space.
    NpyOutput(const std::string& path, ElementType type, const Shape& shape);
    ~NpyOutput();
    NpyOutput(const NpyOutput&) = delete;
    NpyOutput& operator=(const NpyOutput&) = delete;

    template <class T>
    std::span<T> elements() const {
        const std::span<std::byte> data = memory_.subspan(data_offset_);
        return {reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)};
    }
    /// Errors: Failure with Exit::failed.
    void commit();

  private:
    bool unmap_output() noexcept;

    OutputFile output_;
    std::span<std::byte> memory_;
    std::size_t data_offset_ = 0;
};

}  // namespace weft::tool
