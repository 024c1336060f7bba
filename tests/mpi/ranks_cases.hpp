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
};

/// Ends all ranks when each has had the time to say what it found. The others need this rank's help to reach
/// the memory that it shares, so it goes on to call MPI.
[[noreturn]] inline void abort_after_all() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < end) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    MPI_Abort(MPI_COMM_WORLD, 7);
    std::abort();
}

void operators(Run& run);
void devices(Run& run);
void silent_in_a_solve(Run& run);

}  // namespace ranks_test
