// SPDX-License-Identifier: Apache-2.0
// Arrays in .npy files, members of .npz files, tables of text and raw files; completes array_source.hpp.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays/array_source.hpp"
#include "arrays/mapped_file.hpp"
#include "arrays/text_table.hpp"
#include "arrays/zip_member.hpp"
#include "cli/file_watch.hpp"

namespace weft::tool {
namespace {

class NpyArray : public ArraySource {
  public:
    NpyArray(const std::string& path, Types types) : ArraySource(path), file_(array_name(path).file, path) {
        std::span<const std::byte> npy = file_.bytes();
        if (is_zip({reinterpret_cast<const char*>(npy.data()), npy.size()})) {
            member_ = read_member(npy, array_name(path).inside, path);
            npy = member_.bytes();
        }
        const NpyHeader header = parse_npy(npy, path);
        const std::optional<ElementType> type = npy_type(header.descr);
        if (!type || std::find(types.begin(), types.end(), *type) == types.end())
            refuse_type("'" + header.descr + "'", types);
        set_array(*type, "'" + header.descr + "'", header.shape);
        fortran_ = header.fortran_order && header.shape.size() > 1;
        data_ = npy.data() + header.data_offset;
    }

    const std::byte* mapped() const override { return fortran_ ? nullptr : data_; }

    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        if (fortran_)
            gather(first, rows, to);
        else
            std::copy_n(data_ + first * row_bytes(), rows * row_bytes(), to);  // `to` is null for no rows
        // Between the end of a file and the end of that page a mapping has zeros; only beyond that page an
        // access raises a signal.
        require_unchanged();
    }
    void require_unchanged() const override { file_.require_unchanged(); }

  protected:
    std::string in_python() const override {
        return member_.name.empty() ? "x" : "z['" + member_.name + "']";
    }

  private:
    void gather(std::uint64_t first, std::uint64_t rows, std::byte* to) const {
        switch (type().bytes()) {
            case 1:
                return gather_as<1>(first, rows, to);
            case 4:
                return gather_as<4>(first, rows, to);
            case 8:
                return gather_as<8>(first, rows, to);
            default:
                return gather_as<16>(first, rows, to);
        }
    }

    // Positions in the file of the elements of a row, in the order that the row has in memory. In the file
    // the first axis runs fastest.
    template <std::size_t kBytes>
    void gather_as(std::uint64_t first, std::uint64_t rows, std::byte* to) const {
        constexpr std::uint64_t kBand = 64;  // columns at a time, so that each row's part stays in the cache
        for (std::uint64_t begin = 0; begin < row_values(); begin += kBand)
            for (std::uint64_t row = 0; row < rows; ++row)
                for (std::uint64_t c = begin; c < std::min(begin + kBand, row_values()); ++c)
                    std::memcpy(to + (row * row_values() + c) * kBytes,
                                data_ + (column_in_file(c) * shape()[0] + first + row) * kBytes, kBytes);
    }
    std::uint64_t column_in_file(std::uint64_t c) const {
        if (shape().size() == 2) return c;
        std::uint64_t place = 0, stride = row_values();
        for (std::size_t axis = shape().size(); axis-- > 1; c /= shape()[axis]) {
            stride /= shape()[axis];
            place += c % shape()[axis] * stride;
        }
        return place;
    }

    MappedFile file_;
    ZipMember member_;
    bool fortran_ = false;
    const std::byte* data_ = nullptr;
};

/// A table in memory: the number of rows of a text is known only when all of it has been read.
class TableArray : public ArraySource {
  public:
    TableArray(const std::string& path, Types types) : ArraySource(path), file_(path, path) {
        const ElementType type = types.front();
        if (type.kind == ElementKind::complex)
            refuse("tables of text hold no complex numbers (need .npy, .npz or HDF5)", ".astype('<c16')");
        const std::span<const std::byte> bytes = file_.bytes();
        try {
            table_ = parse_table({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, type);
        } catch (const std::invalid_argument& error) {
            const bool whole = type.kind != ElementKind::floating;
            refuse(
                std::string(error.what()) +
                (whole ? "; to write whole numbers: np.savetxt('x.csv', x, fmt='%d', delimiter=',')" : ""));
        }
        file_.require_unchanged();
        set_array(type, weft::to_string(type), {table_.rows, table_.columns});
    }

    const std::byte* mapped() const override { return table_.values.data(); }
    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        std::copy_n(table_.values.data() + first * row_bytes(), rows * row_bytes(), to);
        require_unchanged();
    }
    void require_unchanged() const override { file_.require_unchanged(); }

  private:
    MappedFile file_;
    TextTable table_;
};

class RawArray : public ArraySource {
  public:
    RawArray(const std::string& path, const RawShape& shape) : ArraySource(path) {
        set_array(shape.type, weft::to_string(shape.type), {shape.samples, shape.features});
        if (path == "-") return;
        file_.emplace(path);
        watch_.emplace(file_->get());
        if (!watch_->valid()) refuse(std::string("cannot be read: ") + std::strerror(errno));
        struct stat status {};
        if (fstat(file_->get(), &status) != 0 || !S_ISREG(status.st_mode))
            refuse("cannot be read: not a regular file (for a pipe: --shape and - as the name)");
        if (watch_->size() != rows() * row_bytes()) refuse_size(shape);
    }

    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        std::uint64_t at = first * row_bytes(), left = rows * row_bytes();
        while (left > 0) {
            const ssize_t got = file_ ? pread(file_->get(), to, left, static_cast<off_t>(at))
                                      : ::read(STDIN_FILENO, to, left);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
            if (got == 0) break;
            at += static_cast<std::uint64_t>(got);
            left -= static_cast<std::uint64_t>(got);
            to += got;
        }
        require_unchanged();
        if (left > 0)
            refuse(file_ ? "the file ended while it was read"
                         : "standard input ended early (got " + std::to_string(at) + " bytes, need " +
                               std::to_string(values() * type().bytes()) + ")");
        if (!file_ && first + rows == this->rows()) require_end();
    }
    void require_unchanged() const override {
        if (!watch_) return;
        if (const std::string change = watch_->change(); !change.empty()) refuse(change);
    }

  private:
    void require_end() const {
        char more = 0;
        if (::read(STDIN_FILENO, &more, 1) == 1)
            refuse("standard input continues after the shape's values (need " +
                   std::to_string(values() * type().bytes()) + " bytes)");
    }
    [[noreturn]] void refuse_size(const RawShape& shape) const {
        const bool whole = row_bytes() != 0 && watch_->size() % row_bytes() == 0;
        refuse("size does not fit the shape (got " + std::to_string(watch_->size()) + " bytes, need " +
               std::to_string(rows() * row_bytes()) + " for " + tool::to_string(this->shape()) + " of " +
               weft::to_string(shape.type) + ")" +
               (whole ? "; what fits: --shape " + std::to_string(watch_->size() / row_bytes()) + "," +
                            std::to_string(shape.features)
                      : ""));
    }

    std::optional<Descriptor> file_;
    std::optional<FileWatch> watch_;
};

}  // namespace

std::unique_ptr<ArraySource> open_npy(const std::string& path, Types types) {
    return std::make_unique<NpyArray>(path, types);
}

std::unique_ptr<ArraySource> open_table(const std::string& path, Types types) {
    return std::make_unique<TableArray>(path, types);
}

std::unique_ptr<ArraySource> open_raw(const std::string& path, const RawShape& shape) {
    return std::make_unique<RawArray>(path, shape);
}

}  // namespace weft::tool
