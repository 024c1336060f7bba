// SPDX-License-Identifier: Apache-2.0
// Where the rows of a two-dimensional array come from, whatever file they lie in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <weft/array.hpp>

namespace weft::tool {

/// Rows in a file, [samples, features], read part by part. One thread at a time.
class RowSource {
  public:
    virtual ~RowSource() = default;
    RowSource(const RowSource&) = delete;
    RowSource& operator=(const RowSource&) = delete;

    const std::string& path() const noexcept { return path_; }
    ElementType type() const noexcept { return type_; }
    /// As the file names it: '<f4', int32; read as type().
    const std::string& type_name() const noexcept { return type_name_; }
    std::uint64_t samples() const noexcept { return samples_; }
    std::uint64_t features() const noexcept { return features_; }
    std::uint64_t row_bytes() const noexcept { return features_ * type_.bytes(); }
    /// The file that the values lie in: a link in an HDF5 file may lead into another.
    virtual std::string file() const { return path_; }
    /// Rows [first, first + rows) in C order. Errors: Failure with Exit::usage - the file cannot be read, or
    /// was written to since it was opened.
    virtual void read(std::uint64_t first, std::uint64_t rows, std::byte* to) = 0;
    /// Ends the command: "PATH: what". Always Exit::usage.
    [[noreturn]] void refuse(const std::string& what) const;

  protected:
    explicit RowSource(std::string path) : path_(std::move(path)) {}
    void set_shape(ElementType type, const std::string& type_name, std::uint64_t samples,
                   std::uint64_t features);

  private:
    std::string path_, type_name_;
    ElementType type_ = kFloat64;
    std::uint64_t samples_ = 0, features_ = 0;
};

/// What raw files do not say about themselves.
struct RawShape {
    std::uint64_t samples = 0, features = 0;
    ElementType type = kFloat64;
};

/// A .npy file of float32, float64 or int64 in either order. Errors: as NpyInput; other types and ranks.
std::unique_ptr<RowSource> open_npy(const std::string& path);
/// Numbers without a header, C order, little-endian. Errors: Failure with Exit::usage - a size that is not
/// the shape's.
std::unique_ptr<RowSource> open_raw(const std::string& path, const RawShape& shape);
/// A data set, "file.h5:/path/of/it", that holds its values itself. Errors: Failure with Exit::usage - no
/// such file or data set, other types or ranks, a virtual set or external storage.
std::unique_ptr<RowSource> open_hdf5(const std::string& path);
/// Whether a path is of that form: no file has it as its name, and what stands before a colon is an HDF5 file
/// or, unless the path ends in ".npy", what follows it begins with "/". An HDF5 file without a data set is of
/// that form too, for open_hdf5 to refuse.
bool names_hdf5(const std::string& path);
/// The file of such a path.
std::string hdf5_file(const std::string& path);

}  // namespace weft::tool
