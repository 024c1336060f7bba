// SPDX-License-Identifier: Apache-2.0
// The one way in which the command reads arrays, whatever file they lie in. open_array() knows the formats;
// the subcommands do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/array.hpp>

#include "arrays/npy.hpp"
#include "cli/file_paths.hpp"

namespace weft::tool {

/// What an argument names: a file, and the array inside it where the file holds several.
struct ArrayName {
    std::string file, inside;
};
/// If a file has the whole argument as its name, colons included, it is meant. Otherwise, if the text before
/// a colon names an HDF5 or .npz file, the text after it names an array in it.
ArrayName array_name(const std::string& path);

/// Types that a command takes, the preferred one first.
using Types = std::span<const ElementType>;
std::string to_string(Types types);  ///< "float32 or float64"

/// An array in a file, read in parts along its first axis. One thread at a time.
class ArraySource {
  public:
    virtual ~ArraySource() = default;
    ArraySource(const ArraySource&) = delete;
    ArraySource& operator=(const ArraySource&) = delete;

    const std::string& path() const noexcept { return path_; }
    ElementType type() const noexcept { return type_; }
    /// As the file names it: '<f4', int32; read as type().
    const std::string& type_name() const noexcept { return type_name_; }
    const Shape& shape() const noexcept { return shape_; }
    std::uint64_t rows() const noexcept { return shape_.empty() ? 1 : shape_[0]; }
    std::uint64_t row_values() const noexcept { return row_values_; }
    std::uint64_t row_bytes() const noexcept { return row_values_ * type_.bytes(); }
    std::uint64_t values() const noexcept { return rows() * row_values_; }
    /// The files that an output must not replace: the one that was named, and the one that holds the values,
    /// since a link in an HDF5 file may lead into another.
    std::vector<NamedFile> files(const char* role) const;

    /// Whether a .npy file may take the place of the file: it holds no more than the array, in that format.
    virtual bool replaceable() const { return false; }
    /// All elements in C order, aligned to nothing, where a mapped file has them so; otherwise null.
    virtual const std::byte* mapped() const { return nullptr; }
    /// Rows [first, first + rows) in C order. Errors: Failure with Exit::usage - the file cannot be read, or
    /// was written to since it was opened.
    virtual void read(std::uint64_t first, std::uint64_t rows, std::byte* to) = 0;
    /// To be called when all has been read. Errors: as of read().
    virtual void require_unchanged() const = 0;

    /// Ends the command: "PATH: what". Always Exit::usage.
    [[noreturn]] void refuse(const std::string& what) const;
    /// The same with the line of Python that makes what is needed: `change` follows the array's name,
    /// ".reshape(1, -1)".
    [[noreturn]] void refuse(const std::string& what, const std::string& change) const;

  protected:
    explicit ArraySource(std::string path) : path_(std::move(path)) {}
    /// Errors: Failure with Exit::usage - a shape that is larger than any memory.
    void set_array(ElementType type, const std::string& type_name, Shape shape);
    [[noreturn]] void refuse_type(const std::string& got, Types types) const;
    virtual std::string value_file() const { return array_name(path_).file; }
    /// The array in Python, where the user has loaded the file.
    virtual std::string in_python() const { return "x"; }

  private:
    std::string path_, type_name_;
    ElementType type_ = kFloat64;
    Shape shape_;
    std::uint64_t row_values_ = 0;
};

/// .npy, .npz, HDF5, and tables of numbers named .csv, .tsv or .txt. Tables and integers of HDF5 become the
/// first of `types` that holds them. Errors: Failure with Exit::usage - no such file or array, damage,
/// another type than those of `types`.
std::unique_ptr<ArraySource> open_array(const std::string& path, Types types);

/// What raw files do not say about themselves.
struct RawShape {
    std::uint64_t samples = 0, features = 0;
    ElementType type = kFloat64;
};
/// Numbers without a header, C order, little-endian; "-": from standard input, to be read from the first row
/// to the last. Errors: Failure with Exit::usage - a size that is not the shape's.
std::unique_ptr<ArraySource> open_raw(const std::string& path, const RawShape& shape);

/// One format each; for open_array.
std::unique_ptr<ArraySource> open_npy(const std::string& path, Types types);  ///< .npz too
std::unique_ptr<ArraySource> open_table(const std::string& path, Types types);
std::unique_ptr<ArraySource> open_hdf5(const std::string& path, Types types);
bool is_hdf5(const std::string& file);

}  // namespace weft::tool
