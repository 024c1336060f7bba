// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer on every file of the given folders: unchanged, truncated, and with
// changed words.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/target.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void run(const Bytes& bytes) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::size_t replay(const Bytes& bytes) {
    constexpr std::size_t kVariants = 60;
    std::uint32_t state = 2463534242u;
    const auto next = [&] {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    };
    run(bytes);
    if (bytes.empty()) return 1;
    for (std::size_t i = 0; i < kVariants; ++i) {
        Bytes changed = bytes;
        if (i % 4 == 0) changed.resize(next() % bytes.size());
        if (i % 4 != 0)
            for (std::size_t k = 0; k <= i % 3; ++k)
                changed[next() % changed.size()] = static_cast<std::uint8_t>(next());
        run(changed);
    }
    return kVariants + 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t files = 0, runs = 0;
    for (int i = 1; i < argc; ++i)
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (!entry.is_regular_file() || entry.path().extension() == ".inc") continue;
            std::ifstream in(entry.path(), std::ios::binary);
            const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
            std::fprintf(stderr, "%s\n", entry.path().c_str());
            runs += replay(bytes);
            ++files;
        }
    std::printf("replayed %zu files, %zu runs\n", files, runs);
    return files == 0 ? 1 : 0;
}
