// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: versions 1 to 3 are read, version 1 is written; C order, little-endian, plain numbers.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/file_watch.hpp"
#include "cli/output_file.hpp"

namespace weft::tool {

using Shape = std::vector<std::uint64_t>;
std::string to_string(const Shape& shape);  ///< as Python prints it: "(4, 6)", "(4,)", "()"

/// What the header of a .npy file says.
struct NpyHeader {
    std::string descr;  ///< "<u8"
    Shape shape;
    bool fortran_order = false;   ///< first axis runs fastest
    std::size_t data_offset = 0;  ///< bytes from the start of the file
    std::size_t data_bytes = 0;   ///< of the elements that shape and descr ask for
};

/// Errors: Failure with Exit::usage - no .npy file, a damaged header, an array of a kind that is not read
/// here, or data that is shorter or longer than the header says. `path` opens the text. `any_order`: Fortran
/// order is read too.
NpyHeader parse_npy(std::span<const std::byte> file, const std::string& path, bool any_order = false);

/// The bytes of a version 1 header; the data that follows is aligned to 64 bytes. At most 32 axes.
std::string npy_header(std::string_view descr, const Shape& shape);

template <class T>
inline constexpr const char* kDescr = nullptr;
template <>
inline constexpr const char* kDescr<std::uint64_t> = "<u8";
template <>
inline constexpr const char* kDescr<std::uint32_t> = "<u4";
template <>
inline constexpr const char* kDescr<float> = "<f4";
template <>
inline constexpr const char* kDescr<std::int32_t> = "<i4";
template <>
inline constexpr const char* kDescr<std::uint8_t> = "|u1";
template <>
inline constexpr const char* kDescr<std::int64_t> = "<i8";
template <>
inline constexpr const char* kDescr<double> = "<f8";

/// An array in a file, mapped read-only, so that arrays larger than memory work.
class NpyInput {
  public:
    /// Errors: those of parse_npy; Failure with Exit::usage - the file is missing or cannot be read.
    explicit NpyInput(std::string path, bool any_order = false);
    ~NpyInput();
    NpyInput(const NpyInput&) = delete;
    NpyInput& operator=(const NpyInput&) = delete;

    const std::string& path() const noexcept { return path_; }
    const Shape& shape() const noexcept { return header_.shape; }
    const NpyHeader& header() const noexcept { return header_; }
    /// The elements as they lie in the file, aligned to nothing.
    std::span<const std::byte> data() const { return file_.subspan(header_.data_offset, header_.data_bytes); }
    /// The elements, last axis first. Errors: Failure with Exit::usage - the file holds another type.
    template <class T>
    std::span<const T> elements() {
        require_descr(kDescr<T>);
        return {static_cast<const T*>(aligned_data(alignof(T))), header_.data_bytes / sizeof(T)};
    }
    /// To be called when all has been read. Errors: Failure with Exit::usage - the file was written to since
    /// it was opened, so that what was read may be of two files.
    void require_unchanged() const;
    /// Ends the command: "PATH: what". Always Exit::usage.
    [[noreturn]] void refuse(const std::string& what) const;

  private:
    void require_descr(std::string_view descr) const;
    const void* aligned_data(std::size_t alignment);

    std::string path_;
    NpyHeader header_;
    Descriptor descriptor_;
    FileWatch watch_;  // from before the first byte is read
    std::span<const std::byte> file_;
    std::vector<std::uint64_t> aligned_copy_;  // where the header has a length that misaligns the data
};

/// An array on its way into a file: filled in memory that is mapped onto an OutputFile.
class NpyOutput {
  public:
    /// Space on the disk is taken here. Errors: Failure with Exit::failed - the target cannot be written, or
    /// the disk has no room for it.
    NpyOutput(const std::string& path, std::string_view descr, const Shape& shape, std::size_t data_bytes);
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
