// SPDX-License-Identifier: Apache-2.0
// Reads data sets of HDF5 files that the library itself made: the input chooses type, shape, layout, filters,
// attributes, and how much of the set is written. Damage inside a file is the library's to find.
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/array_source_check.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"

using namespace weft_fuzz;

namespace {

constexpr hsize_t kMostLength = 6;

/// What the input chose, and what a reader must find.
struct Made {
    std::string file;
    std::vector<hsize_t> shape;
    bool integers = false, floats = false, written = false;
};

hid_t type_of(Choices& choices, Made& made) {
    const std::array numbers{H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE,
                             H5T_STD_U8LE,   H5T_STD_I8LE,   H5T_STD_U16BE,  H5T_STD_I32LE,
                             H5T_STD_U32LE,  H5T_STD_I64LE,  H5T_STD_U64BE,  H5T_STD_B16LE};
    const std::size_t kind = choices.of(numbers.size() + 5);
    if (kind < numbers.size()) {
        made.floats = kind < 4;
        made.integers = kind >= 4 && kind < 11;
        return H5Tcopy(numbers[kind]);
    }
    const hid_t part = numbers[choices.of(numbers.size())];
    switch (kind - numbers.size()) {
        case 0: {
            const hid_t text = H5Tcopy(H5T_C_S1);
            H5Tset_size(text, choices.yes() ? H5T_VARIABLE : 1 + choices.of(20));
            return text;
        }
        case 1: {
            const std::size_t bytes = H5Tget_size(part), gap = choices.of(3);
            const hid_t both = H5Tcreate(H5T_COMPOUND, 2 * bytes + gap);
            H5Tinsert(both, choices.yes() ? "r" : "x", 0, part);
            H5Tinsert(both, choices.yes() ? "i" : "y", bytes + gap, part);
            return both;
        }
        case 2: {
            const hsize_t length = 1 + choices.of(4);
            return H5Tarray_create2(part, 1, &length);
        }
        case 3:
            return H5Tvlen_create(part);
        default: {
            const hid_t names = H5Tenum_create(H5T_STD_I8LE);
            const std::int8_t no = 0, yes = 1;
            H5Tenum_insert(names, "FALSE", &no);
            H5Tenum_insert(names, "TRUE", &yes);
            return names;
        }
    }
}

hid_t creation_of(Choices& choices, const std::vector<hsize_t>& shape) {
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    const int rank = static_cast<int>(shape.size());
    switch (choices.of(5)) {
        case 0:
            H5Pset_layout(made, H5D_COMPACT);
            break;
        case 1: {
            std::vector<hsize_t> chunk(shape.size());
            for (hsize_t& length : chunk) length = 1 + choices.of(kMostLength);
            if (rank > 0) H5Pset_chunk(made, rank, chunk.data());
            if (choices.yes()) H5Pset_shuffle(made);
            if (choices.yes()) H5Pset_deflate(made, 1);
            if (choices.yes()) H5Pset_fletcher32(made);
            break;
        }
        case 2:
            // In a folder that does not exist, because HDF5 would make the file.
            H5Pset_external(made, "/nonexistent/values", 0, H5F_UNLIMITED);
            break;
        default:
            break;
    }
    constexpr std::array kWhen{H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE,
                               H5D_ALLOC_TIME_INCR};
    H5Pset_alloc_time(made, kWhen[choices.of(kWhen.size())]);
    return made;
}

hid_t space_of(Choices& choices, Made& made, hid_t creation) {
    const std::size_t kind = choices.of(8);
    if (kind == 0) return H5Screate(H5S_NULL);
    std::vector<hsize_t> most = made.shape;
    if (kind == 1 && H5Pget_layout(creation) == H5D_CHUNKED)
        for (hsize_t& length : most) length = H5S_UNLIMITED;
    return H5Screate_simple(static_cast<int>(made.shape.size()), made.shape.data(), most.data());
}

void annotate(Choices& choices, hid_t set) {
    const hsize_t length = choices.of(5);
    const hid_t space = H5Screate_simple(1, &length, nullptr);
    const std::string name = "attribute" + std::to_string(choices.of(256));
    const hid_t attribute = H5Acreate2(set, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Aclose(attribute);
    H5Sclose(space);
}

// The values are 0, 1, 2 and so on, which every type of number holds.
void fill(hid_t set, Made& made) {
    std::size_t count = 1;
    for (const hsize_t length : made.shape) count *= length;
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    for (double& value : values) value = static_cast<double>(static_cast<int>(value) % 100);
    made.written = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
}

Made make(Choices choices) {
    Made made;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 4096, false);
    const hid_t file = H5Fcreate("fuzz.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    made.shape.resize(choices.of(5));
    for (hsize_t& length : made.shape) length = choices.of(kMostLength + 1);
    const hid_t type = type_of(choices, made), creation = creation_of(choices, made.shape);
    const hid_t space = space_of(choices, made, creation);
    const hid_t set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (set >= 0) {
        if (choices.yes()) annotate(choices, set);
        if (choices.yes() && (made.floats || made.integers)) fill(set, made);
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Pclose(creation);
    H5Tclose(type);
    H5Fflush(file, H5F_SCOPE_LOCAL);
    made.file.resize(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    H5Fget_file_image(file, made.file.data(), made.file.size());
    H5Fclose(file);
    H5Pclose(access);
    return made;
}

void check_values(const Made& made, std::span<const std::byte> got) {
    std::size_t count = 1;
    for (const hsize_t length : made.shape) count *= length;
    require(got.size() == count * sizeof(double), "as many values as the shape says");
    for (std::size_t i = 0; i < count; ++i) {
        double value = 0;
        std::memcpy(&value, got.data() + i * sizeof value, sizeof value);
        require(value == static_cast<double>(i % 100), "the values that were written");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Made made = make({data, size});
    const MemoryFile file(made.file);
    const std::string path = file.path() + ":/x";
    const auto read = [&](weft::tool::Types types) {
        return read_or_refuse([&] { return weft::tool::open_hdf5(path, types); });
    };
    read(kAllTypes);
    const auto doubles = read(std::span(kAllTypes).first(1));
    if (made.floats && made.written && !doubles.empty()) check_values(made, doubles);
    return 0;
}
