// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a .npy file, as the text of a header, and as the choices that make a file of known
// values in either order.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/array_source_check.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"

using namespace weft_fuzz;
using weft::tool::NpyHeader;
using weft::tool::Shape;

namespace {

std::string with_length(std::string_view header, std::string_view data) {
    const std::size_t size = std::min<std::size_t>(header.size(), 0xffff);
    return std::string("\x93NUMPY\1", 7) + '\0' + static_cast<char>(size & 0xff) +
           static_cast<char>(size >> 8) + std::string(header.substr(0, size)) + std::string(data);
}

/// Whether the bytes are a .npy file.
bool judge(std::string_view file) {
    try {
        const NpyHeader header = weft::tool::parse_npy(bytes_of(file), "f");
        require(header.data_offset + header.data_bytes == file.size(), "header and data are the file");
        require(header.shape.size() <= 32, "NumPy can hold the axes");
        return true;
    } catch (const weft::tool::Failure& failure) {
        require(failure.exit() == weft::tool::Exit::usage, failure.what());
        return false;
    }
}

void read(std::string_view file) {
    if (file.empty() || !judge(file)) return;
    const MemoryFile on_disk(file);
    read_or_refuse([&] { return weft::tool::open_npy(on_disk.path(), kAllTypes); });
}

// Element i in C order has the value i, of which a type keeps the low bytes.
std::string values_in(const Shape& shape, bool fortran, std::size_t bytes) {
    std::size_t count = 1;
    for (const std::uint64_t length : shape) count *= length;
    std::string data(count * bytes, '\0');
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t place = 0, left = i, below = count, before = 1;
        for (const std::uint64_t length : shape) {
            below /= length;  // elements of the axes after this one, which run faster in C order
            place += left / below * (fortran ? before : below);
            left %= below;
            before *= length;  // of the axes up to this one, which run faster in Fortran order
        }
        std::memcpy(data.data() + place * bytes, &i, std::min(bytes, sizeof i));
    }
    return data;
}

void make_and_read(Choices choices) {
    constexpr std::array<std::string_view, 9> kDescr{"<f8", "<f4", "|u1", "<u4", "<u8",
                                                     "<i8", "<i4", "<c8", "<c16"};
    const std::string descr(kDescr[choices.of(kDescr.size())]);
    const std::size_t bytes = std::stoul(descr.substr(2));
    const bool fortran = choices.yes();
    Shape shape(choices.of(5));
    for (std::uint64_t& length : shape) length = 1 + choices.of(7);
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                               ", 'shape': " + weft::tool::to_string(shape) + "}";
    const MemoryFile file(with_length(header, values_in(shape, fortran, bytes)));
    const auto got = read_or_refuse([&] { return weft::tool::open_npy(file.path(), kAllTypes); });
    const std::string want = values_in(shape, false, bytes);
    require(got.size() == want.size() && std::memcmp(got.data(), want.data(), want.size()) == 0,
            "values in C order: " + header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = text_of(data, size);
    read(input);
    judge(with_length(input, {}));
    make_and_read({data, size});
    return 0;
}
