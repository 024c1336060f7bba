// SPDX-License-Identifier: Apache-2.0
// Files that change while they are read, and data sets whose values are elsewhere: they never give wrong
// rows.
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "arrays/array_source.hpp"
#include "arrays/npy.hpp"
#include "cli/failure.hpp"

using namespace weft;
using namespace weft::tool;

namespace {

constexpr std::uint64_t kRows = 1000, kColumns = 4;

/// A temporary folder, which is removed at the end.
struct Folder {
    std::string path = (std::filesystem::temp_directory_path() / "weft-rows-XXXXXX").string();
    Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const std::string& name) const { return path + "/" + name; }
};

std::vector<double> ones() {
    return std::vector<double>(kRows * kColumns, 1.0);
}

void write_bytes(const std::string& path, const std::string& header, const std::vector<double>& values) {
    std::ofstream file(path, std::ios::binary);
    file << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
}

enum class Storage { contiguous, chunked, external, virtual_set };

void write_hdf5(const std::string& path, Storage storage) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<hsize_t, 2> size{kRows, kColumns}, chunk{100, kColumns};
    const hid_t space = H5Screate_simple(2, size.data(), nullptr), made = H5Pcreate(H5P_DATASET_CREATE);
    if (storage == Storage::chunked) H5Pset_chunk(made, 2, chunk.data());
    if (storage == Storage::external) H5Pset_external(made, "gone.raw", 0, kRows * kColumns * sizeof(double));
    if (storage == Storage::virtual_set) H5Pset_virtual(made, space, "gone.h5", "/y", space);
    const hid_t set = H5Dcreate2(file, "/x", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    REQUIRE(set >= 0);
    const std::vector<double> values = ones();
    if (storage == Storage::contiguous || storage == Storage::chunked)
        REQUIRE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    H5Dclose(set);
    H5Pclose(made);
    H5Sclose(space);
    REQUIRE(H5Fclose(file) >= 0);
}

std::unique_ptr<ArraySource> open_doubles(const std::string& path) {
    static constexpr ElementType kTypes[] = {kFloat64};
    return open_array(path, kTypes);
}

/// The error of the source if it refuses; empty otherwise.
template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const Failure& failure) {
        CHECK(failure.exit() == Exit::usage);
        return failure.what();
    }
    return {};
}

struct Kind {
    const char* name;
    std::unique_ptr<ArraySource> (*make)(const std::string& file);
};

const Kind kKinds[] = {
    {"raw",
     [](const std::string& file) {
         write_bytes(file, "", ones());
         return open_raw(file, {.samples = kRows, .features = kColumns});
     }},
    {"npy",
     [](const std::string& file) {
         write_bytes(file, npy_header("<f8", {kRows, kColumns}), ones());
         return open_doubles(file);
     }},
    {"csv",
     [](const std::string& file) {
         std::ofstream out(file);
         for (std::uint64_t row = 0; row < kRows; ++row) out << "1.000000,1.000000,1.000000,1.000000\n";
         out.close();
         return open_doubles(file);
     }},
    {"hdf5, contiguous",
     [](const std::string& file) {
         write_hdf5(file, Storage::contiguous);
         return open_doubles(file + ":/x");
     }},
    {"hdf5, chunked",
     [](const std::string& file) {
         write_hdf5(file, Storage::chunked);
         return open_doubles(file + ":/x");
     }},
};

// The last rows, which a file cut by 100 bytes no longer holds.
std::string read_end(ArraySource& source) {
    std::array<double, 50 * kColumns> rows{};
    return refusal([&] { source.read(kRows - 50, 50, reinterpret_cast<std::byte*>(rows.data())); });
}

}  // namespace

TEST_CASE("array files: a file that shrinks while it is read is refused, whatever its kind") {
    for (const Kind& kind : kKinds) {
        CAPTURE(kind.name);
        for (const std::uintmax_t cut : {100, 20000}) {
            const Folder folder;
            const std::string file = folder / "file.csv";  // tables are known by their names alone
            const std::unique_ptr<ArraySource> source = kind.make(file);
            std::array<double, kColumns> row{};
            source->read(0, 1, reinterpret_cast<std::byte*>(row.data()));
            CHECK(row == std::array<double, kColumns>{1, 1, 1, 1});
            if (cut > 4096 && std::string(kind.name) == "npy")
                continue;  // this raises a signal, which the command's tests cover
            std::filesystem::resize_file(file, std::filesystem::file_size(file) - cut);
            CHECK(read_end(*source).find("the file shrank while it was read (got ") != std::string::npos);
        }
    }
}

TEST_CASE("array files: a file that is as long as before, but was written to, is refused") {
    for (const Kind& kind : kKinds) {
        CAPTURE(kind.name);
        const Folder folder;
        const std::string file = folder / "file.csv";  // tables are known by their names alone
        const std::unique_ptr<ArraySource> source = kind.make(file);
        CHECK(read_end(*source).empty());
        usleep(20000);  // longer than the resolution of file systems' clocks
        const std::uintmax_t size = std::filesystem::file_size(file);
        std::filesystem::resize_file(file, size - 100);
        std::filesystem::resize_file(file, size);
        CHECK(read_end(*source).find("the file was written to while it was read") != std::string::npos);
    }
}

TEST_CASE("array files: replacing a file that is being read changes nothing") {
    for (const Kind& kind : kKinds) {
        CAPTURE(kind.name);
        const Folder folder;
        const std::string file = folder / "file.csv";  // tables are known by their names alone
        const std::unique_ptr<ArraySource> source = kind.make(file);
        write_bytes(folder / "other", "", {1.0});
        std::filesystem::rename(folder / "other", file);
        CHECK(read_end(*source).empty());
    }
}

TEST_CASE("array files: a data set behind a link is watched in the file that contains it") {
    const Folder folder;
    write_hdf5(folder / "far.h5", Storage::contiguous);
    const hid_t near = H5Fcreate((folder / "near.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Lcreate_external("far.h5", "/x", near, "/x", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(near);
    const std::unique_ptr<ArraySource> source = open_doubles((folder / "near.h5") + ":/x");
    CHECK(read_end(*source).empty());
    CHECK(source->files("X")[1].path == folder / "far.h5");
    std::filesystem::resize_file(folder / "far.h5", 4000);
    CHECK(read_end(*source).find("the file shrank") != std::string::npos);
}

TEST_CASE("array files: values of virtual sets and of external storage are elsewhere, and refused by name") {
    const Folder folder;
    write_hdf5(folder / "v.h5", Storage::virtual_set);
    const std::string virtual_text = refusal([&] { open_doubles((folder / "v.h5") + ":/x"); });
    CHECK(virtual_text.find("v.h5:/x: a virtual data set") != std::string::npos);
    CHECK(virtual_text.find("gone.h5:/y") != std::string::npos);
    write_hdf5(folder / "e.h5", Storage::external);
    const std::string external_text = refusal([&] { open_doubles((folder / "e.h5") + ":/x"); });
    CHECK(external_text.find("e.h5:/x: a data set in external storage") != std::string::npos);
    CHECK(external_text.find("gone.raw") != std::string::npos);
}
