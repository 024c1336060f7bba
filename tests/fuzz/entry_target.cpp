// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a compiled shader of the GLSL cache, and as its contents behind a right header.
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "fuzz/target.hpp"
#include "glsl/cache_entry.hpp"

using namespace weft_fuzz;
using namespace weft::glsl;

namespace {

constexpr Digest kKey{1, 2, 3};

void judge(std::span<const std::byte> file) {
    const DecodedEntry read = decode_entry(kKey, file);
    if (!read.refused.empty()) {
        require(read.entry == Entry{}, "a refused file yields nothing");
        return;
    }
    require(read.entry.words.size() >= 5, "a module has a header");
    const DecodedEntry again = decode_entry(kKey, encode_entry(kKey, read.entry));
    require(again.refused.empty() && again.entry == read.entry, "the same once more");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> input = bytes_of(text_of(data, size));
    judge(input);
    // An entry without contents has the header of every entry, except for length and digest.
    constexpr std::size_t kSame = 8 + 4 + 16;
    const std::vector<std::byte> empty = encode_entry(kKey, {});
    weft::core::ByteWriter file;
    file.raw(std::span(empty).first(kSame));
    file.number(size, 8);
    file.raw(Hasher{}.bytes(input).digest());
    file.raw(input);
    std::vector<std::byte> made = file.take();
    judge(made);
    if (size < 2) return 0;
    made[data[0] % made.size()] ^= static_cast<std::byte>(data[1]);
    const DecodedEntry changed = decode_entry(kKey, made);
    require(data[1] == 0 || !changed.refused.empty(), "a changed byte is noticed");
    return 0;
}
