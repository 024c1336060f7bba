// SPDX-License-Identifier: Apache-2.0
// Reads the header of .npy: a magic number, a version, a length and the literal of a Python dictionary.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "arrays/npy.hpp"
#include "cli/failure.hpp"

namespace weft::tool {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays go to the device as they lie in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxAxes = 32;

/// The supported formats, and a line of Python that converts another one.
std::string other_files(std::string_view file) {
    return std::string(
               " (the first bytes are not \\x93NUMPY): .npy, .npz, HDF5 as FILE.h5:/PATH, and tables ") +
           "named .csv, .tsv or .txt are read; to convert another: np.save('x.npy', " +
           (file.starts_with("PAR1") ? "pandas.read_parquet('x.parquet').to_numpy())"
                                     : "np.loadtxt('x.csv', delimiter=','))");
}

/// The values of the dictionary, before they are checked.
struct Fields {
    std::string descr;
    bool structured = false;
    bool fortran_order = false;
    Shape shape;
};

// Reads the only literal that a header may hold. Every error text names the position of the fault.
class HeaderText {
  public:
    HeaderText(std::string_view text, const std::string& path) : text_(text), path_(path) {}

    Fields read() {
        Fields fields;
        bool descr = false, fortran = false, shape = false;
        expect('{');
        while (!take('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr" && !descr) {
                descr = true;
                // The fields of a structured type may nest; their contents are not needed here.
                if (peek() == '[' || peek() == '(') return {.structured = true};
                fields.descr = quoted();
            } else if (key == "fortran_order" && !fortran) {
                fortran = true;
                fields.fortran_order = boolean();
            } else if (key == "shape" && !shape) {
                shape = true;
                fields.shape = tuple();
            } else {
                damaged("unexpected or repeated key '" + key + "'");
            }
            if (take(',')) continue;
            expect('}');
            break;
        }
        if (peek() != '\0') damaged("text after the closing brace");
        if (!descr || !fortran || !shape) damaged("descr, fortran_order or shape is missing");
        return fields;
    }

  private:
    [[noreturn]] void damaged(const std::string& what) const {
        throw Failure(Exit::usage, path_ + ": damaged .npy header: " + what + " (at character " +
                                       std::to_string(at_) + ")");
    }

    char peek() {
        constexpr std::string_view kBlank = " \t\r\n";
        while (at_ < text_.size() && kBlank.find(text_[at_]) != std::string_view::npos) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) damaged(std::string("need '") + c + "'");
    }
    bool take_word(std::string_view word) {
        peek();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    std::string quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') damaged("need a quoted text");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) damaged("a quoted text does not end");
        const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return std::string(inside.substr(0, 40));  // longer than any legal type name
    }
    bool boolean() {
        if (take_word("True")) return true;
        if (take_word("False")) return false;
        damaged("fortran_order is neither True nor False");
    }
    Shape tuple() {
        Shape shape;
        expect('(');
        while (!take(')')) {
            if (shape.size() == kMaxAxes) damaged("more than 32 axes");
            shape.push_back(length());
            if (take(',')) continue;
            if (shape.size() == 1) damaged("shape is not a tuple");
            expect(')');
            break;
        }
        return shape;
    }
    std::uint64_t length() {
        peek();
        std::uint64_t value = 0;
        const char* first = text_.data() + at_;
        const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) damaged("a length in shape is 2^64 or more");
        if (error != std::errc{}) damaged("a length in shape is no whole number");
        at_ += static_cast<std::size_t>(end - first);
        take('L');  // Python 2 wrote this suffix
        return value;
    }

    std::string_view text_;
    const std::string& path_;
    std::size_t at_ = 0;
};

struct HeaderPlace {
    std::size_t offset = 0, bytes = 0;
};

HeaderPlace find_header(std::string_view file, const std::string& path) {
    if (!file.starts_with(kMagic.substr(0, std::min(file.size(), kMagic.size()))) || file.empty())
        throw Failure(Exit::usage, path + ": not a .npy file" + other_files(file));
    const auto need = [&](std::size_t bytes) {
        if (file.size() < bytes)
            throw Failure(Exit::usage, path + ": truncated in the header (got " +
                                           std::to_string(file.size()) + " bytes, need at least " +
                                           std::to_string(bytes) + ")");
    };
    need(10);
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(file[i])}; };
    const std::size_t major = byte(6);
    if (major < 1 || major > 3)
        throw Failure(Exit::usage, path + ": unknown .npy version (got " + std::to_string(major) + "." +
                                       std::to_string(byte(7)) + ", need 1.0, 2.0 or 3.0)");
    HeaderPlace place;
    if (major == 1) {
        place = {10, byte(8) | byte(9) << 8};
    } else {
        need(12);
        place = {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
    }
    need(place.offset + place.bytes);
    return place;
}

std::size_t element_bytes(const std::string& descr, const std::string& path) {
    const std::string got = " (got dtype '" + descr + "')";
    if (descr.find('O') != std::string::npos)
        throw Failure(Exit::usage, path + ": Python objects (pickled arrays) are not read" + got +
                                       "; to convert it: np.save('x.npy', np.array(x.tolist()))");
    if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos ||
        std::string_view("biufc").find(descr[1]) == std::string_view::npos)
        throw Failure(Exit::usage, path + ": elements are not plain numbers" + got +
                                       "; to convert it: np.save('x.npy', x.astype('<f8'))");
    if (descr[0] == '>')
        throw Failure(Exit::usage, path + ": elements are big-endian" + got +
                                       "; to convert it: np.save('x.npy', x.astype('<" + descr.substr(1) +
                                       "'))");
    std::size_t bytes = 0;
    const char* end = descr.data() + descr.size();
    const auto [stop, error] = std::from_chars(descr.data() + 2, end, bytes);
    if (error != std::errc{} || stop != end || bytes < 1 || bytes > 32)
        throw Failure(Exit::usage, path + ": damaged .npy header: no such dtype" + got);
    return bytes;
}

// Overflow is checked even after a length of 0, because NumPy itself cannot hold such a shape.
std::size_t checked_bytes(const Shape& shape, std::size_t bytes, const std::string& path) {
    bool empty = false;
    for (const std::uint64_t length : shape) {
        empty = empty || length == 0;
        if (length != 0 &&
            bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / length)
            throw Failure(Exit::usage, path + ": shape " + to_string(shape) + " is larger than any memory");
        if (length != 0) bytes *= length;
    }
    return empty ? 0 : bytes;
}

}  // namespace

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i != 0) text += ", ";
        text += std::to_string(shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

NpyHeader parse_npy(std::span<const std::byte> file, const std::string& path) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    const HeaderPlace place = find_header(text, path);
    Fields fields = HeaderText(text.substr(place.offset, place.bytes), path).read();
    if (fields.structured)
        throw Failure(Exit::usage, path + ": structured arrays are not read; to convert one " +
                                       "field: np.save('x.npy', x['NAME'])");
    const std::size_t bytes_each = element_bytes(fields.descr, path);
    NpyHeader header{std::move(fields.descr), std::move(fields.shape), fields.fortran_order,
                     place.offset + place.bytes, 0};
    header.data_bytes = checked_bytes(header.shape, bytes_each, path);
    const std::size_t there = file.size() - header.data_offset;
    if (there != header.data_bytes)
        throw Failure(Exit::usage, path + ": data is " + (there < header.data_bytes ? "shorter" : "longer") +
                                       " than the header says (got " + std::to_string(there) +
                                       " bytes, need " + std::to_string(header.data_bytes) + " for shape " +
                                       to_string(header.shape) + " of '" + header.descr + "')");
    return header;
}

std::string npy_descr(ElementType type) {
    constexpr std::string_view kLetters = "iufc";
    return std::string(type.bytes() == 1 ? "|" : "<") + kLetters[static_cast<std::size_t>(type.kind)] +
           std::to_string(type.bytes());
}

std::optional<ElementType> npy_type(std::string_view descr) {
    for (const ElementType type :
         {kUint8, kUint32, kUint64, kInt32, kInt64, kFloat32, kFloat64, kComplex64, kComplex128})
        if (descr == npy_descr(type)) return type;
    return std::nullopt;
}

std::string npy_header(std::string_view descr, const Shape& shape) {
    constexpr std::size_t kPreamble = 10, kAlignment = 64;
    std::string text = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': False, 'shape': " + to_string(shape) + ", }";
    while ((kPreamble + text.size() + 1) % kAlignment != 0) text += ' ';
    text += '\n';
    std::string header(kMagic);
    header += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return header + text;
}

}  // namespace weft::tool
