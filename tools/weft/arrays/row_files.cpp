// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "arrays/npy.hpp"
#include "arrays/row_source.hpp"
#include "cli/failure.hpp"
#include "cli/file_watch.hpp"

namespace weft::tool {

void RowSource::refuse(const std::string& what) const {
    throw Failure(Exit::usage, path_ + ": " + what);
}

void RowSource::set_shape(ElementType type, const std::string& type_name, std::uint64_t samples,
                          std::uint64_t features) {
    if (samples == 0 || features == 0)
        refuse("no values (got " + tool::to_string(Shape{samples, features}) +
               ", need at least one row of one value)");
    type_ = type;
    type_name_ = type_name;
    samples_ = samples;
    features_ = features;
}

namespace {

class NpyRows : public RowSource {
  public:
    explicit NpyRows(const std::string& file) : RowSource(file), input_(file, true) {
        const NpyHeader& header = input_.header();
        ElementType type = kFloat64;
        if (header.descr == kDescr<float>)
            type = kFloat32;
        else if (header.descr == kDescr<std::int64_t>)
            type = kInt64;
        else if (header.descr != kDescr<double>)
            refuse("wrong dtype (got '" + header.descr + "', need '<f4', '<f8' or '<i8')");
        if (header.shape.size() != 2)
            refuse("wrong shape (got " + tool::to_string(header.shape) +
                   ", need (samples, features); save x.reshape(-1, 1) for one value a sample)");
        set_shape(type, "'" + header.descr + "'", header.shape[0], header.shape[1]);
    }

    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        const std::byte* data = input_.data().data();
        if (!input_.header().fortran_order)
            std::memcpy(to, data + first * row_bytes(), rows * row_bytes());
        else if (type() == kFloat32)
            gather<4>(data, first, rows, to);
        else
            gather<8>(data, first, rows, to);
        // A mapping is zeros between a file's end and the end of that page, and a signal only behind it.
        input_.require_unchanged();
    }

  private:
    // Columns lie behind each other. A band of them at a time, so that each row's part stays in the cache.
    template <std::size_t kBytes>
    void gather(const std::byte* data, std::uint64_t first, std::uint64_t rows, std::byte* to) const {
        constexpr std::uint64_t kBand = 64;
        for (std::uint64_t begin = 0; begin < features(); begin += kBand)
            for (std::uint64_t row = 0; row < rows; ++row)
                for (std::uint64_t column = begin; column < std::min(begin + kBand, features()); ++column)
                    std::memcpy(to + (row * features() + column) * kBytes,
                                data + (column * samples() + first + row) * kBytes, kBytes);
    }

    NpyInput input_;
};

class RawRows : public RowSource {
  public:
    RawRows(const std::string& file, const RawShape& shape)
        : RowSource(file), file_(file), watch_(file_.get()) {
        if (!watch_.valid()) refuse(std::string("cannot be read: ") + std::strerror(errno));
        struct stat status {};
        if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode))
            refuse("cannot be read: not a regular file");
        set_shape(shape.type, weft::to_string(shape.type), shape.samples, shape.features);
        if (shape.features > std::numeric_limits<std::uint64_t>::max() / 8 / shape.samples ||
            watch_.size() != samples() * row_bytes())
            refuse("size does not fit the shape (got " + std::to_string(watch_.size()) + " bytes, need " +
                   tool::to_string(Shape{shape.samples, shape.features}) + " of " +
                   weft::to_string(shape.type) + ")");
    }

    void read(std::uint64_t first, std::uint64_t rows, std::byte* to) override {
        std::uint64_t at = first * row_bytes(), left = rows * row_bytes();
        while (left > 0) {
            const ssize_t got = pread(file_.get(), to, left, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
            if (got == 0) break;
            at += static_cast<std::uint64_t>(got);
            left -= static_cast<std::uint64_t>(got);
            to += got;
        }
        if (const std::string change = watch_.change(); !change.empty()) refuse(change);
        if (left > 0) refuse("the file ended while it was read");
    }

  private:
    Descriptor file_;
    FileWatch watch_;
};

}  // namespace

std::unique_ptr<RowSource> open_npy(const std::string& path) {
    return std::make_unique<NpyRows>(path);
}

std::unique_ptr<RowSource> open_raw(const std::string& path, const RawShape& shape) {
    return std::make_unique<RawRows>(path, shape);
}

}  // namespace weft::tool
