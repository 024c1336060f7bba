// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the records of a tile store. Only what encode_store made may be taken, and a changed
// byte of a header must be noticed.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "ops/kernel_matrix/store_format.hpp"

using namespace weft::kernels;

using weft_fuzz::require;

namespace {

DecodedStore judge(std::span<const std::byte> file) {
    DecodedStore decoded = decode_store(file);
    if (!decoded.refused.empty()) {
        require(decoded.header.facts.empty() && decoded.header.tiles == 0,
                "nothing is taken of a refused file");
        return decoded;
    }
    require(!decoded.foreign, "a foreign file is refused");
    require(file.size() == store_bytes(decoded.records_at, decoded.header.tiles), "every tile has a record");
    const std::vector<std::byte> again = encode_store(decoded.header);
    require(again.size() <= decoded.records_at, "a header has no room that is not used");
    return decoded;
}

/// A store whose facts are cut from the input.
StoreHeader header_of(weft_fuzz::Choices& choices) {
    StoreHeader header{{}, choices.of(200)};
    const std::size_t facts = choices.of(6);
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < 2 * facts; ++i) lengths.push_back(choices.of(40));
    std::string_view text = choices.rest();
    const auto cut = [&](std::size_t bytes) {
        const std::string part(text.substr(0, bytes));
        text.remove_prefix(part.size());
        return part;
    };
    for (std::size_t i = 0; i < facts; ++i) {
        std::string name = cut(lengths[2 * i]);
        header.facts.push_back({std::move(name), cut(lengths[2 * i + 1])});
    }
    return header;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    judge(weft_fuzz::bytes_of(weft_fuzz::text_of(data, size)));
    weft_fuzz::Choices choices(data, size);
    const std::size_t place = choices.of(256), change = choices.of(256);
    const StoreHeader header = header_of(choices);
    std::vector<std::byte> file = encode_store(header);
    const std::size_t bytes = file.size();
    file.resize(store_bytes(bytes, header.tiles));
    const DecodedStore decoded = judge(file);
    require(decoded.refused.empty() && decoded.header.facts == header.facts, "what was written is read");
    file[place % bytes] ^= static_cast<std::byte>(change);
    require(change == 0 || !judge(file).refused.empty(), "a changed byte is noticed");
    return 0;
}
