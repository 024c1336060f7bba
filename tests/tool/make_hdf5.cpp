// SPDX-License-Identifier: Apache-2.0
// make_hdf5 FILE SET TYPE LENGTH.. < bytes: writes a data set with these axes. Its type is float32, float64,
// int32, uint32 (all big-endian, so that they are converted), int64, uint64, uint8, or complex numbers as
// h5py writes them. It has chunks if it has several rows. make_hdf5 FILE: opens the file to write, says so,
// and waits for the end of its input. With it, command tests need no h5py.
#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Type {
    const char* name;
    hid_t memory, file;
    std::size_t bytes;
};

hid_t complex_of(hid_t part, std::size_t bytes) {
    const hid_t both = H5Tcreate(H5T_COMPOUND, bytes);
    H5Tinsert(both, "r", 0, part);
    H5Tinsert(both, "i", bytes / 2, part);
    return both;
}

int hold(const char* path) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    std::puts(file >= 0 ? "open" : "refused");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return H5Fclose(file) >= 0 ? 0 : 4;
}

int make(const Type& type, const char* path, const char* name, const std::vector<hsize_t>& size) {
    std::size_t values = 1;
    for (const hsize_t length : size) values *= length;
    std::vector<char> bytes(values * type.bytes);
    if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size()) return 3;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const auto rank = static_cast<int>(size.size());
    const hid_t space = H5Screate_simple(rank, size.data(), nullptr);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    std::vector<hsize_t> chunk = size;
    if (rank > 0) chunk[0] = (size[0] + 1) / 2;
    if (rank > 0 && size[0] > 1) H5Pset_chunk(create, rank, chunk.data());
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(link, 1);
    const hid_t set = H5Dcreate2(file, name, type.file, space, link, create, H5P_DEFAULT);
    const bool written =
        set >= 0 && H5Dwrite(set, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
    H5Dclose(set);
    return H5Fclose(file) >= 0 && written ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2) return hold(argv[1]);
    if (argc < 4) return 2;
    const hid_t c8 = complex_of(H5T_NATIVE_FLOAT, 8), c16 = complex_of(H5T_NATIVE_DOUBLE, 16);
    const std::vector<Type> types{{"float32", H5T_NATIVE_FLOAT, H5T_IEEE_F32BE, 4},
                                  {"float64", H5T_NATIVE_DOUBLE, H5T_IEEE_F64BE, 8},
                                  {"int32", H5T_NATIVE_INT32, H5T_STD_I32BE, 4},
                                  {"uint32", H5T_NATIVE_UINT32, H5T_STD_U32BE, 4},
                                  {"int64", H5T_NATIVE_INT64, H5T_STD_I64LE, 8},
                                  {"uint64", H5T_NATIVE_UINT64, H5T_STD_U64LE, 8},
                                  {"uint8", H5T_NATIVE_UINT8, H5T_STD_U8LE, 1},
                                  {"complex64", c8, c8, 8},
                                  {"complex128", c16, c16, 16}};
    const auto type = std::find_if(types.begin(), types.end(),
                                   [&](const Type& t) { return std::string(t.name) == argv[3]; });
    if (type == types.end()) return 2;
    std::vector<hsize_t> size;
    for (int i = 4; i < argc; ++i) size.push_back(std::strtoull(argv[i], nullptr, 10));
    return make(*type, argv[1], argv[2], size);
}
