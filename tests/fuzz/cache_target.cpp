// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a pipeline cache file. Only a file that encode_cache made, from a payload with the
// driver's header of the same device, may be accepted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/cache_file.hpp"
#include "fuzz/target.hpp"

using namespace weft::core;

using weft_fuzz::require;

namespace {

const CacheIdentity kIdentity{0x10005, 0, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

void judge(std::span<const std::byte> file) {
    const DecodedCache decoded = decode_cache(kIdentity, file);
    require(decoded.refused.empty() != decoded.payload.empty(), "taken or refused with a reason");
    if (!decoded.refused.empty()) return;
    const std::vector<std::byte> again = encode_cache(kIdentity, decoded.payload);
    require(std::equal(again.begin(), again.end(), file.begin(), file.end()), "taken files are encoded ones");
    require(decoded.payload.size() >= 32, "the driver finds its header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    judge(bytes);
    // The payload gets a matching header, because random bytes never have the right checksum.
    std::vector<std::byte> file = encode_cache(kIdentity, bytes);
    judge(file);
    // The same file with one byte changed.
    if (size < 2) return 0;
    file[std::to_integer<std::size_t>(bytes[0]) % file.size()] ^= bytes[1];
    judge(file);
    const bool changed = std::to_integer<int>(bytes[1]) != 0;
    require(!changed || !decode_cache(kIdentity, file).refused.empty(), "a changed byte is noticed");
    return 0;
}
