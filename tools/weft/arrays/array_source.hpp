// SPDX-License-Identifier: Apache-2.0
// The command reads every array through this interface. open_array() knows the formats of files; the
// subcommands do not.
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

/// What an argument names: a file, and the array inside it if the file holds several.
struct ArrayName {
    std::string file, inside;
};
/// If the whole argument, colons included, is the name of a file, that file is meant. Otherwise, if the text
/// before a colon names an HDF5 or .npz file, the text after it names an array in that file.
ArrayName array_name(const std::string& path);

/// Types that a command accepts, the preferred one first.
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
    /// The file's own name of the type: '<f4', int32. The values are read as type().
    const std::string& type_name() const noexcept { return type_name_; }
    const Shape& shape() const noexcept { return shape_; }
    std::uint64_t rows() const noexcept { return shape_.empty() ? 1 : shape_[0]; }
    std::uint64_t row_values() const noexcept { return row_values_; }
    std::uint64_t row_bytes() const noexcept { return row_values_ * type_.bytes(); }
    std::uint64_t values() const noexcept { return rows() * row_values_; }
    /// The files that an output must not replace: the one that was named and the one that holds the values.
    /// They may differ, because a link in an HDF5 file may lead to another file.
    std::vector<NamedFile> files(const char* role) const;

    /// All elements in C order, of any alignment, if a mapped file has them in that order; otherwise null.
    virtual const std::byte* mapped() const { return nullptr; }
    /// Rows [first, first + rows) in C order. Errors: Failure with Exit::usage - the file cannot be read, or
    /// another program wrote to it after it was opened.
    virtual void read(std::uint64_t first, std::uint64_t rows, std::byte* to) = 0;
    /// Call it after the last read. Errors: as of read().
    virtual void require_unchanged() const = 0;

    /// Ends the command: "PATH: what". Always Exit::usage.
    [[noreturn]] void refuse(const std::string& what) const;
    /// The same, followed by a line of Python that makes a suitable array: `change` follows the array's name,
    /// such as ".reshape(1, -1)".
    [[noreturn]] void refuse(const std::string& what, const std::string& change) const;

  protected:
    explicit ArraySource(std::string path) : path_(std::move(path)) {}
    /// Errors: Failure with Exit::usage - a shape that no memory could hold.
    void set_array(ElementType type, const std::string& type_name, Shape shape);
    [[noreturn]] void refuse_type(const std::string& got, Types types) const;
    virtual std::string value_file() const { return array_name(path_).file; }
    /// The Python expression for the array, once the user has loaded the file.
    virtual std::string in_python() const { return "x"; }

  private:
    std::string path_, type_name_;
    ElementType type_ = kFloat64;
    Shape shape_;
    std::uint64_t row_values_ = 0;
};

/// Opens .npy, .npz, HDF5, and tables of numbers named .csv, .tsv or .txt. Tables and integers of HDF5 are
/// read as the first of `types` that can hold them. Errors: Failure with Exit::usage - no such file or array,
/// damage, a type that is not among `types`.
std::unique_ptr<ArraySource> open_array(const std::string& path, Types types);

/// What raw files do not say about their contents.
struct RawShape {
    std::uint64_t samples = 0, features = 0;
    ElementType type = kFloat64;
};
/// Numbers without a header, C order, little-endian. "-" means standard input, whose rows must be read in
/// order. Errors: Failure with Exit::usage - a size that does not fit the shape.
std::unique_ptr<ArraySource> open_raw(const std::string& path, const RawShape& shape);

/// Each opens one format, for open_array.
std::unique_ptr<ArraySource> open_npy(const std::string& path, Types types);  ///< .npz too
std::unique_ptr<ArraySource> open_table(const std::string& path, Types types);
std::unique_ptr<ArraySource> open_hdf5(const std::string& path, Types types);
bool is_hdf5(const std::string& file);

}  // namespace weft::tool
