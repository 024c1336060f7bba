// SPDX-License-Identifier: Apache-2.0
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/failure.hpp"
#include "cli/file_watch.hpp"
#include "arrays/row_source.hpp"

namespace weft::tool {
namespace {

/// Closes an identifier of HDF5 at the end of a scope.
class Handle {
  public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&&) = delete;
    hid_t get() const noexcept { return id_; }
    bool valid() const noexcept { return id_ >= 0; }

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

// The library's own pages of text, where ours is one line. It keeps this for each thread.
void be_quiet() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

// Opening a pipe would wait for who writes to it.
bool is_hdf5(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return false;
    be_quiet();
    return H5Fis_hdf5(file.c_str()) > 0;
}

bool exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

// The colon between file and data set. A file of the whole name has none, colons in it or not. Names need not
// begin at the root, as those of h5py need not, if a file tells; without it ":/" does, but in names of .npy
// files.
std::size_t separator(const std::string& path) {
    if (exists(path)) return std::string::npos;
    for (std::size_t at = path.find(':'); at != std::string::npos; at = path.find(':', at + 1))
        if (is_hdf5(path.substr(0, at))) return at;
    return path.ends_with(".npy") ? std::string::npos : path.rfind(":/");
}

// As NumPy would name it; big-endian numbers are read like any others.
std::string name_of(hid_t type) {
    const std::string bits = std::to_string(8 * H5Tget_size(type));
    switch (H5Tget_class(type)) {
        case H5T_FLOAT:
            return "float" + bits;
        case H5T_INTEGER:
            return (H5Tget_sign(type) == H5T_SGN_2 ? "int" : "uint") + bits;
        case H5T_STRING:
            return "strings";
        case H5T_COMPOUND:
            return "a compound type";
        default:
            return "neither numbers nor strings";
    }
}

class Hdf5Rows : public RowSource {
  public:
    explicit Hdf5Rows(const std::string& path)
        : RowSource(path), file_(open_file(), H5Fclose), set_(open_set(), H5Dclose) {
        const Handle space(H5Dget_space(set_.get()), H5Sclose);
        std::array<hsize_t, 2> size{};
        const int rank = H5Sget_simple_extent_ndims(space.get());
        if (rank != 2 || H5Sget_simple_extent_dims(space.get(), size.data(), nullptr) != 2)
            refuse("wrong number of axes (got " + std::to_string(rank) + ", need 2: samples, features)");
        const Handle type(H5Dget_type(set_.get()), H5Tclose);
        set_shape(value_type(type.get()), name_of(type.get()), size[0], size[1]);
        require_here();
        require_whole();
        watch();
    }

    std::string file() const override {
        return text([&](char* to, std::size_t size) { return H5Fget_name(set_.get(), to, size); });
    }
    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        be_quiet();
        const Handle file_space(H5Dget_space(set_.get()), H5Sclose);
        const std::array<hsize_t, 2> start{first, 0}, count{rows, features()};
        const Handle memory_space(H5Screate_simple(2, count.data(), nullptr), H5Sclose);
        const hid_t memory = type() == kFloat32   ? H5T_NATIVE_FLOAT
                             : type() == kFloat64 ? H5T_NATIVE_DOUBLE
                                                            : H5T_NATIVE_INT64;
        const bool read =
            H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr) >= 0 &&
            H5Dread(set_.get(), memory, memory_space.get(), file_space.get(), H5P_DEFAULT, to) >= 0;
        // The library reads zeros behind a file's end.
        if (const std::string change = watch_->change(); !change.empty()) refuse(change);
        if (!read)
            refuse("rows " + std::to_string(first) + " to " + std::to_string(first + rows - 1) +
                   " cannot be read");
    }

  private:
    hid_t open_file() const {
        const std::string file = path().substr(0, separator(path()));
        if (file.size() + 1 >= path().size())
            refuse("an HDF5 file without the name of a data set (need " + file + ":/PATH)");
        std::error_code error;
        if (::access(file.c_str(), R_OK) != 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
        if (!std::filesystem::is_regular_file(file, error)) refuse("cannot be read: not a regular file");
        if (!is_hdf5(file)) refuse("cannot be read: not an HDF5 file, or its beginning is damaged");
        // The driver whose handle is a descriptor, whatever the environment asks for.
        const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_fapl_sec2(access.get());
        const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get());
        if (id < 0) refuse("cannot be read: a damaged HDF5 file, cut short or overwritten");
        return id;
    }
    hid_t open_set() const {
        const std::string name = path().substr(separator(path()) + 1);
        const Handle object(H5Oopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
        if (object.valid() && H5Iget_type(object.get()) != H5I_DATASET)
            refuse("not a data set (got a group or a type, need the path of an array)");
        const hid_t id = H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT);
        if (id < 0)
            refuse(has(name) ? "the data set is damaged, or a link to one that is not there"
                             : "no such data set in the file");
        return id;
    }
    // Every step of the way must be there; the library asks about the last one alone.
    bool has(const std::string& name) const {
        for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
            const std::string part = name.substr(0, end);
            if (!part.empty() && part != "/" && H5Lexists(file_.get(), part.c_str(), H5P_DEFAULT) <= 0)
                return false;
            if (end == std::string::npos) return true;
        }
    }
    // Of values in other files the library makes zeros where those are missing or short.
    void require_here() const {
        const Handle made(H5Dget_create_plist(set_.get()), H5Pclose);
        if (H5Pget_layout(made.get()) == H5D_VIRTUAL)
            refuse("a virtual data set: its values lie elsewhere, the first of them in " +
                   source_of(made.get()) + " (need a data set that holds its values)");
        if (H5Pget_external_count(made.get()) > 0)
            refuse("a data set in external storage: its values lie in " + external_file(made.get()) +
                   " (need a data set that holds its values)");
    }
    std::string source_of(hid_t made) const {
        std::size_t sources = 0;
        if (H5Pget_virtual_count(made, &sources) < 0 || sources == 0) return "no source";
        return text([&](char* to, std::size_t size) { return H5Pget_virtual_filename(made, 0, to, size); }) +
               ":" +
               text([&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(made, 0, to, size); });
    }
    std::string external_file(hid_t made) const {
        std::array<char, 4096> name{};
        off_t offset = 0;
        hsize_t size = 0;
        H5Pget_external(made, 0, name.size() - 1, name.data(), &offset, &size);
        return name.data();
    }
    template <class Get>
    static std::string text(const Get& get) {
        std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, get(nullptr, 0))), '\0');
        if (!name.empty()) get(name.data(), name.size() + 1);
        return name;
    }
    // The file that the set lies in: a link may lead into another than was opened.
    void watch() {
        const Handle file(H5Iget_file_id(set_.get()), H5Fclose);
        void* handle = nullptr;
        hsize_t size = 0;
        if (file.valid() && H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) >= 0 && handle != nullptr)
            watch_.emplace(*static_cast<const int*>(handle));
        if (!watch_ || !watch_->valid() || H5Fget_filesize(file.get(), &size) < 0)
            refuse("cannot be read: the file's size cannot be told");
        // What the library found when it opened the file, and the space that the file says it takes.
        if (watch_->size() < size)
            refuse("the file shrank while it was read (got " + std::to_string(watch_->size()) +
                   " bytes, need " + std::to_string(size) + ")");
    }
    // The library reads as many bytes as shapes of set and chunks say, also where a damaged file holds fewer.
    void require_whole() const {
        const Handle made(H5Dget_create_plist(set_.get()), H5Pclose), type(H5Dget_type(set_.get()), H5Tclose);
        const std::uint64_t stored = H5Dget_storage_size(set_.get()),
                            value = std::max<std::size_t>(1, H5Tget_size(type.get()));
        bool whole = true;
        if (H5Pget_layout(made.get()) == H5D_COMPACT) whole = stored / value / features() >= samples();
        if (H5Pget_layout(made.get()) == H5D_CHUNKED && H5Pget_nfilters(made.get()) == 0) {
            const Handle space(H5Dget_space(set_.get()), H5Sclose);
            std::array<hsize_t, 2> chunk{};
            hsize_t chunks = 0;
            whole = H5Pget_chunk(made.get(), 2, chunk.data()) == 2 &&
                    H5Dget_num_chunks(set_.get(), space.get(), &chunks) >= 0 &&
                    stored == chunks * chunk[0] * chunk[1] * value;
        }
        if (!whole) refuse("the data set holds fewer values than its shape says");
    }
    ElementType value_type(hid_t type) const {
        const H5T_class_t kind = H5Tget_class(type);
        const std::size_t bytes = H5Tget_size(type);
        if (kind == H5T_FLOAT && bytes == 4) return kFloat32;
        if (kind == H5T_FLOAT && bytes == 8) return kFloat64;
        const bool fits = bytes < 8 || (bytes == 8 && H5Tget_sign(type) == H5T_SGN_2);
        if (kind == H5T_INTEGER && fits) return kInt64;
        refuse("wrong type (got " + name_of(type) +
               ", need float32, float64, or integers of up to 64 bits with sign)");
    }

    Handle file_, set_;
    std::optional<FileWatch> watch_;  // of a descriptor that file_ and set_ keep open
};

}  // namespace

bool names_hdf5(const std::string& path) {
    return separator(path) != std::string::npos || is_hdf5(path);
}

std::string hdf5_file(const std::string& path) {
    return path.substr(0, separator(path));
}

std::unique_ptr<RowSource> open_hdf5(const std::string& path) {
    return std::make_unique<Hdf5Rows>(path);
}

}  // namespace weft::tool
