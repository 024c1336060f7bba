// SPDX-License-Identifier: Apache-2.0
#include "arrays/array_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "arrays/zip_member.hpp"
#include "cli/failure.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

/// The first bytes; empty for anything but a regular file, since opening a pipe would wait for its writer.
std::string beginning(const std::string& file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return {};
    std::array<char, 8> bytes{};
    std::ifstream in(file, std::ios::binary);
    in.read(bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

bool is_npy(const std::string& file) {
    return beginning(file).starts_with("\x93NUMPY");
}

bool named_table(const std::string& file) {
    std::string end = fs::path(file).extension();
    std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return std::tolower(c); });
    return end == ".csv" || end == ".tsv" || end == ".txt";
}

}  // namespace

// If there is no such file to inspect, ":/" begins the name of a data set, except after the name of a .npy
// file, and ".npz:" begins the name of a member.
ArrayName array_name(const std::string& path) {
    std::error_code error;
    const auto cut = [&](std::size_t at) { return ArrayName{path.substr(0, at), path.substr(at + 1)}; };
    if (fs::exists(path, error)) return {path, {}};
    for (std::size_t at = path.find(':'); at != std::string::npos; at = path.find(':', at + 1)) {
        const std::string file = path.substr(0, at);
        if (is_hdf5(file) || is_zip(beginning(file))) return cut(at);
    }
    if (path.ends_with(".npy")) return {path, {}};
    if (const std::size_t at = path.rfind(".npz:"); at != std::string::npos) return cut(at + 4);
    const std::size_t at = path.rfind(":/");
    return at == std::string::npos ? ArrayName{path, {}} : cut(at);
}

std::string to_string(Types types) {
    std::string text;
    for (std::size_t i = 0; i < types.size(); ++i)
        text += (i == 0 ? "" : i + 1 == types.size() ? " or " : ", ") + weft::to_string(types[i]);
    return text;
}

std::vector<NamedFile> ArraySource::files(const char* role) const {
    return {{role, array_name(path_).file}, {role, value_file()}};
}

void ArraySource::refuse(const std::string& what) const {
    throw Failure(Exit::usage, path_ + ": " + what);
}

void ArraySource::refuse(const std::string& what, const std::string& change) const {
    refuse(what + "; to convert it: np.save('x.npy', " + in_python() + change + ")");
}

void ArraySource::refuse_type(const std::string& got, Types types) const {
    const bool parts = got.starts_with("'<c") || got.starts_with("complex");
    const bool to_real = parts && types.front().kind != ElementKind::complex;
    refuse("wrong type (got " + got + ", need " + to_string(types) + ")" +
               (to_real ? "; states are for weft kernel --states" : ""),
           (to_real ? ".real.astype('" : ".astype('") + npy_descr(types.front()) + "')");
}

// Overflow is checked even after a length of 0, which a shape in a damaged file may contain.
void ArraySource::set_array(ElementType type, const std::string& type_name, Shape shape) {
    std::uint64_t bytes = type.bytes(), row = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::uint64_t length = std::max<std::uint64_t>(shape[i], 1);
        if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / length)
            refuse("shape " + tool::to_string(shape) + " is larger than any memory");
        bytes *= length;
        if (i != 0) row *= shape[i];
    }
    type_ = type;
    type_name_ = type_name;
    row_values_ = row;
    shape_ = std::move(shape);
}

std::unique_ptr<ArraySource> open_array(const std::string& path, Types types) {
    const ArrayName name = array_name(path);
    if (name.inside.empty() && is_npy(name.file)) return open_npy(path, types);
    if (is_hdf5(name.file)) return open_hdf5(path, types);
    if (is_zip(beginning(name.file))) return open_npy(path, types);
    if (!name.inside.empty() && !name.file.ends_with(".npz")) return open_hdf5(path, types);
    return named_table(name.file) ? open_table(path, types) : open_npy(path, types);
}

}  // namespace weft::tool
