// SPDX-License-Identifier: Apache-2.0
// make_hdf5 FILE SET TYPE ROWS COLUMNS < bytes: writes a data set of float32, float64, int32 (all big-endian,
// so that they are converted), int64 or uint64, in chunks if it has several rows. With it, command tests need
// no h5py.
#include <hdf5.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    const std::string name = argv[3];
    struct Type {
        const char* name;
        hid_t memory, file;
        std::size_t bytes;
    };
    const std::vector<Type> types{{"float32", H5T_NATIVE_FLOAT, H5T_IEEE_F32BE, 4},
                                  {"float64", H5T_NATIVE_DOUBLE, H5T_IEEE_F64BE, 8},
                                  {"int32", H5T_NATIVE_INT32, H5T_STD_I32BE, 4},
                                  {"int64", H5T_NATIVE_INT64, H5T_STD_I64LE, 8},
                                  {"uint64", H5T_NATIVE_UINT64, H5T_STD_U64LE, 8}};
    for (const Type& type : types) {
        if (name != type.name) continue;
        const std::array<hsize_t, 2> size{std::strtoull(argv[4], nullptr, 10),
                                          std::strtoull(argv[5], nullptr, 10)};
        std::vector<char> bytes(size[0] * size[1] * type.bytes);
        if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size()) return 3;
        const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(2, size.data(), nullptr);
        const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
        const std::array<hsize_t, 2> chunk{(size[0] + 1) / 2, size[1]};
        if (size[0] > 1) H5Pset_chunk(create, 2, chunk.data());
        const hid_t link = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(link, 1);
        const hid_t set = H5Dcreate2(file, argv[2], type.file, space, link, create, H5P_DEFAULT);
        const bool written =
            set >= 0 && H5Dwrite(set, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
        H5Dclose(set);
        return H5Fclose(file) >= 0 && written ? 0 : 4;
    }
    return 2;
}
