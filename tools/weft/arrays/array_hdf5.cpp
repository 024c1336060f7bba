// SPDX-License-Identifier: Apache-2.0
// Data sets of HDF5 files; completes array_source.hpp.
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "arrays/array_source.hpp"
#include "cli/file_watch.hpp"

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

// The command prints one line for a failure, so the library must not print its own report, which fills pages.
// HDF5 keeps this setting for each thread.
void be_quiet() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// The text that the library recorded when its last call failed; it lists its functions from the innermost
/// one outwards.
std::string reason() {
    std::string text;
    const auto note = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note, &text);
    return text;
}

/// The same as part of a sentence. A file that cannot be locked is intact, so the text says how to read it.
std::string because() {
    const std::string text = reason();
    if (text.find("unable to lock file") == std::string::npos)
        return text.empty() ? "" : ", HDF5 says: " + text;
    const auto says = [&](int error) {
        return text.find("errno = " + std::to_string(error) + ",") != std::string::npos;
    };
    constexpr const char* kHow = "; to read it without a lock: HDF5_USE_FILE_LOCKING=FALSE weft ...";
    if (says(EAGAIN) || says(EACCES))
        return ": another process has the file open to write (" + text + "); wait for it" + kHow;
    return ": the file system cannot lock files (" + text + ")" + kHow;
}

// Complex numbers of two floating-point parts of 32 or 64 bits, whose fields have the names that h5py gives
// them.
bool is_complex(hid_t type) {
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
    if (H5Tget_size(type) != 8 && H5Tget_size(type) != 16) return false;
    for (const unsigned part : {0u, 1u}) {
        const Handle member(H5Tget_member_type(type, part), H5Tclose);
        char* name = H5Tget_member_name(type, part);
        const bool named = name != nullptr && std::strcmp(name, part == 0 ? "r" : "i") == 0;
        H5free_memory(name);
        if (!named || H5Tget_class(member.get()) != H5T_FLOAT) return false;
        if (H5Tget_size(member.get()) * 2 != H5Tget_size(type)) return false;
    }
    return true;
}

// The type as NumPy names it; big-endian numbers are read like any others.
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
            return is_complex(type) ? "complex" + bits : "a compound type";
        default:
            return "neither numbers nor strings";
    }
}

/// The type that the library converts to when it reads.
Handle memory_type(ElementType type) {
    const bool wide = type.bytes() == 8;
    if (type.kind == ElementKind::signed_integer)
        return {H5Tcopy(wide ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32), H5Tclose};
    if (type.kind == ElementKind::unsigned_integer)
        return {H5Tcopy(wide                ? H5T_NATIVE_UINT64
                        : type.bytes() == 4 ? H5T_NATIVE_UINT32
                                            : H5T_NATIVE_UINT8),
                H5Tclose};
    if (type.kind == ElementKind::floating)
        return {H5Tcopy(wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT), H5Tclose};
    const hid_t part = type == kComplex128 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    const hid_t both = H5Tcreate(H5T_COMPOUND, type.bytes());
    H5Tinsert(both, "r", 0, part);
    H5Tinsert(both, "i", type.bytes() / 2, part);
    return {both, H5Tclose};
}

class Hdf5Array : public ArraySource {
  public:
    Hdf5Array(const std::string& path, Types types)
        : ArraySource(path),
          name_(array_name(path)),
          file_(open_file(), H5Fclose),
          set_(open_set(), H5Dclose) {
        const Handle space(H5Dget_space(set_.get()), H5Sclose);
        Shape shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
        std::vector<hsize_t> size(shape.size());
        H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
        std::copy(size.begin(), size.end(), shape.begin());
        if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) refuse("a data set without values");
        const Handle type(H5Dget_type(set_.get()), H5Tclose);
        set_array(value_type(type.get(), types), name_of(type.get()), std::move(shape));
        require_here();
        require_whole();
        watch();
    }

    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        be_quiet();
        const Handle file_space(H5Dget_space(set_.get()), H5Sclose), memory = memory_type(type());
        std::vector<hsize_t> start(shape().size()), count(shape().begin(), shape().end());
        bool read = true;
        if (!start.empty()) {
            start[0] = first;
            count[0] = rows;
            read = H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                       nullptr) >= 0;
        }
        const hsize_t values = rows * row_values();
        const Handle memory_space(H5Screate_simple(1, &values, nullptr), H5Sclose);
        read = read && (values == 0 || H5Dread(set_.get(), memory.get(), memory_space.get(), file_space.get(),
                                               H5P_DEFAULT, to) >= 0);
        const std::string why = read ? "" : because();
        require_unchanged();  // the library reads zeros beyond the end of a file
        if (!read)
            refuse("rows " + std::to_string(first) + " to " + std::to_string(first + rows - 1) +
                   " cannot be read" + why);
    }
    void require_unchanged() const override {
        if (const std::string change = watch_->change(); !change.empty()) refuse(change);
    }

  protected:
    std::string value_file() const override {
        return text([&](char* to, std::size_t size) { return H5Fget_name(set_.get(), to, size); });
    }
    std::string in_python() const override { return "f['" + name_.inside + "'][...]"; }

  private:
    hid_t open_file() const {
        const std::string& file = name_.file;
        if (name_.inside.empty())
            refuse("an HDF5 file without the name of a data set; to read one: " + file + ":/PATH");
        std::error_code error;
        if (::access(file.c_str(), R_OK) != 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
        if (!std::filesystem::is_regular_file(file, error)) refuse("cannot be read: not a regular file");
        if (!is_hdf5(file))
            refuse(
                "cannot be read: not an HDF5 file, or its beginning is damaged (the first bytes are not "
                "\\x89HDF)");
        // This driver's handle is a file descriptor, which watch() needs, so the environment must not choose
        // another.
        const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_fapl_sec2(access.get());
        const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get());
        if (id < 0) refuse("cannot be read" + because());
        return id;
    }
    hid_t open_set() const {
        const std::string& name = name_.inside;
        const Handle object(H5Oopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
        if (object.valid() && H5Iget_type(object.get()) != H5I_DATASET)
            refuse("not a data set (got a group or a type, need the path of an array)");
        const hid_t id = H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT);
        if (id < 0) {
            const std::string why = because();
            refuse(has(name) ? "the data set cannot be opened" + why : "no such data set in the file");
        }
        return id;
    }
    // Every group on the path must exist, because the library checks only the last name.
    bool has(const std::string& name) const {
        for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
            const std::string part = name.substr(0, end);
            if (!part.empty() && part != "/" && H5Lexists(file_.get(), part.c_str(), H5P_DEFAULT) <= 0)
                return false;
            if (end == std::string::npos) return true;
        }
    }
    // Values in other files are refused, because the library reads zeros if those files are missing or too
    // short.
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
    // Watches the file that holds the set, because a link may lead to a file other than the one that was
    // opened.
    void watch() {
        const Handle file(H5Iget_file_id(set_.get()), H5Fclose);
        void* handle = nullptr;
        hsize_t size = 0;
        if (file.valid() && H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) >= 0 && handle != nullptr)
            watch_.emplace(*static_cast<const int*>(handle));
        if (!watch_ || !watch_->valid() || H5Fget_filesize(file.get(), &size) < 0)
            refuse("cannot be read: the file's size is not known");
        // `size` is the larger of the size that the library found when it opened the file and the size that
        // the file states.
        if (watch_->size() < size)
            refuse("the file shrank while it was read (got " + std::to_string(watch_->size()) +
                   " bytes, need " + std::to_string(size) + ")");
    }
    // The library reads as many bytes as the shapes of set and chunks need, even if a damaged file holds
    // fewer.
    void require_whole() const {
        const Handle made(H5Dget_create_plist(set_.get()), H5Pclose), type(H5Dget_type(set_.get()), H5Tclose);
        const std::uint64_t stored = H5Dget_storage_size(set_.get()),
                            value = std::max<std::size_t>(1, H5Tget_size(type.get()));
        bool whole = true;
        if (H5Pget_layout(made.get()) == H5D_COMPACT) whole = stored / value >= values();
        if (H5Pget_layout(made.get()) == H5D_CHUNKED && H5Pget_nfilters(made.get()) == 0) {
            const Handle space(H5Dget_space(set_.get()), H5Sclose);
            const int rank = static_cast<int>(shape().size());
            std::vector<hsize_t> chunk(shape().size());
            hsize_t chunks = 0;
            whole = H5Pget_chunk(made.get(), rank, chunk.data()) == rank &&
                    H5Dget_num_chunks(set_.get(), space.get(), &chunks) >= 0;
            std::uint64_t bytes = chunks * value;
            for (const hsize_t length : chunk) bytes *= length;
            whole = whole && stored == bytes;
        }
        if (!whole) refuse("the data set holds fewer values than its shape says");
    }
    ElementType value_type(hid_t type, Types types) const {
        const H5T_class_t kind = H5Tget_class(type);
        const std::size_t bytes = H5Tget_size(type);
        const bool sign = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
        for (const ElementType wanted : types) {
            const bool same = bytes == wanted.bytes();
            if (kind == H5T_FLOAT && wanted.kind == ElementKind::floating && same) return wanted;
            if (wanted.kind == ElementKind::complex && same && is_complex(type)) return wanted;
            if (kind != H5T_INTEGER) continue;
            if (wanted.kind == ElementKind::unsigned_integer && !sign && bytes <= wanted.bytes())
                return wanted;
            if (wanted.kind == ElementKind::signed_integer && bytes + (sign ? 0 : 1) <= wanted.bytes())
                return wanted;
        }
        refuse_type(name_of(type), types);
    }

    ArrayName name_;
    Handle file_, set_;
    std::optional<FileWatch> watch_;  // of a descriptor that file_ and set_ keep open
};

}  // namespace

// Tests for a regular file first, because opening a pipe would wait for its writer.
bool is_hdf5(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return false;
    be_quiet();
    return H5Fis_hdf5(file.c_str()) > 0;
}

std::unique_ptr<ArraySource> open_hdf5(const std::string& path, Types types) {
    return std::make_unique<Hdf5Array>(path, types);
}

}  // namespace weft::tool
