// SPDX-License-Identifier: Apache-2.0
// What the cases of the ranks program share, and those of kernel operators, which operator_cases.cpp has.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <weft/mpi/block_cyclic.hpp>
#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

namespace ranks_test {

using weft::mpi::Ranks;

inline void require(bool good, const std::string& what) {
    if (good) return;
    std::fprintf(stderr, "WRONG: %s\n", what.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

inline std::string text_of_error(weft::Errc code, const std::function<void()>& call) {
    try {
        call();
    } catch (const weft::Error& error) {
        require(error.code() == code, std::string("code ") + to_string(error.code()) + ": " + error.what());
        return error.what();
    }
    require(false, "nothing was thrown");
    return {};
}

inline bool has(const std::string& text, const std::string& part) {
    if (text.find(part) == std::string::npos) std::fprintf(stderr, "got: %s\n", text.c_str());
    return text.find(part) != std::string::npos;
}

inline std::vector<float> numbers(std::size_t count, double step) {
    std::vector<float> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    return made;
}

inline std::string values_in(const std::filesystem::path& npy) {
    std::ifstream in(npy, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    return file.size() > 128 ? file.substr(128) : std::string();
}

template <class T>
bool same(const std::string& bytes, const std::vector<T>& values) {
    return bytes.size() == values.size() * sizeof(T) &&
           std::memcmp(bytes.data(), values.data(), bytes.size()) == 0;
}

struct Run {
    Ranks& ranks;
    weft::Backend& backend;
    std::filesystem::path folder;
    MPI_Comm communicator;

    /// Of the ranks' numbers.
    std::uint64_t sum(std::uint64_t mine) const {
        std::uint64_t all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, communicator);
        return all;
    }
};

/// Without taking a core from ranks that work.
inline void wait_for_all(MPI_Comm communicator) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(communicator, &request);
    for (int done = 0; done == 0; usleep(500)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

void operators(Run& run);
void checkpoints(Run& run);
void devices(Run& run);
/// The loss of a rank of two: the other prints that it got its name, and ends with MPI_Abort.
void loss(const std::string& name, Run& run);
weft::Program affine(weft::Backend& backend);

}  // namespace ranks_test
