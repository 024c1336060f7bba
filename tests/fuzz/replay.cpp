// SPDX-License-Identifier: Apache-2.0
// replay [-runs=N] FOLDER...: runs a fuzz target without libFuzzer on every file of the folders: unchanged,
// truncated, with changed bytes, and with parts that are missing, doubled or moved, N times in all for each
// file.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "fuzz/target.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void run(const Bytes& bytes) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

using Offset = Bytes::difference_type;

/// Removes a part of up to 16 bytes, or inserts it at another place.
Bytes moved(const Bytes& bytes, std::size_t from, std::size_t length, std::size_t to, bool remove) {
    const std::size_t size = std::min(1 + length % 16, bytes.size() - from);
    const Bytes part(bytes.begin() + static_cast<Offset>(from),
                     bytes.begin() + static_cast<Offset>(from + size));
    Bytes changed = bytes;
    if (remove)
        changed.erase(changed.begin() + static_cast<Offset>(from),
                      changed.begin() + static_cast<Offset>(from + size));
    else
        changed.insert(changed.begin() + static_cast<Offset>(to), part.begin(), part.end());
    return changed;
}

std::size_t replay(const Bytes& bytes, std::size_t variants) {
    std::uint32_t state = 2463534242u;
    const auto next = [&] {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    };
    run(bytes);
    if (bytes.empty()) return 1;
    for (std::size_t i = 0; i < variants; ++i) {
        Bytes changed = bytes;
        if (i % 4 == 0) changed.resize(next() % bytes.size());
        if (i % 4 == 1 || i % 4 == 2)
            for (std::size_t k = 0; k <= i % 3; ++k)
                changed[next() % changed.size()] = static_cast<std::uint8_t>(next());
        if (i % 4 == 3) {
            const std::size_t from = next() % bytes.size(), length = next(), to = next() % bytes.size();
            changed = moved(bytes, from, length, to, i % 8 == 3);
        }
        run(changed);
    }
    return variants + 1;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::string_view kRuns = "-runs=";
    std::size_t files = 0, runs = 0, variants = 60;
    int first = 1;
    if (argc > 1 && std::string_view(argv[1]).starts_with(kRuns)) {
        const std::string_view number = std::string_view(argv[first++]).substr(kRuns.size());
        std::from_chars(number.data(), number.data() + number.size(), variants);
    }
    for (int i = first; i < argc; ++i)
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (!entry.is_regular_file() || entry.path().extension() == ".inc") continue;
            std::ifstream in(entry.path(), std::ios::binary);
            const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
            std::fprintf(stderr, "%s\n", entry.path().c_str());
            runs += replay(bytes, variants);
            ++files;
        }
    std::printf("replayed %zu files, %zu runs\n", files, runs);
    return files == 0 ? 1 : 0;
}
