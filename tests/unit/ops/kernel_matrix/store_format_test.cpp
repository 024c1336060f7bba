// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/store_format.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

using namespace weft::kernels;
using Bytes = std::vector<std::byte>;

namespace {

const StoreHeader kHeader{{{"map", "ryrz"}, {"scale", "0.1"}, {"X", ""}}, 3};

Bytes whole_file() {
    Bytes file = encode_store(kHeader);
    file.resize(store_bytes(file.size(), kHeader.tiles));
    return file;
}

std::uint64_t sum_of(const Bytes& bytes) {
    ContentSum sum;
    sum.add(bytes);
    return sum.value();
}

}  // namespace

TEST_CASE("a header is read as it was written, in front of whole records") {
    const Bytes file = whole_file();
    const DecodedStore decoded = decode_store(file);
    CHECK(decoded.refused.empty());
    CHECK_FALSE(decoded.foreign);
    CHECK(decoded.header.facts == kHeader.facts);
    CHECK(decoded.header.tiles == 3);
    CHECK(decoded.records_at % sizeof(StoreRecord) == 0);
    CHECK(file.size() == decoded.records_at + 4 * 16);
    CHECK(*find_fact(decoded.header.facts, "scale") == "0.1");
    CHECK(find_fact(decoded.header.facts, "none") == nullptr);
}

TEST_CASE("every changed byte of a header is noticed, and a file that is shorter or longer") {
    const Bytes good = whole_file();
    const std::size_t header = encode_store(kHeader).size();
    for (std::size_t i = 0; i < header; ++i) {
        Bytes file = good;
        file[i] ^= std::byte{0x10};
        const DecodedStore decoded = decode_store(file);
        CHECK_FALSE(decoded.refused.empty());
        CHECK(decoded.foreign == (i < 8));
        CHECK(decoded.header.facts.empty());
    }
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
        const DecodedStore decoded = decode_store(std::span(good).first(bytes));
        CHECK_FALSE(decoded.refused.empty());
        CHECK_FALSE(decoded.foreign);
    }
    CHECK_FALSE(decode_store(Bytes(good.size())).refused.empty());
    CHECK_FALSE(decode_store(Bytes(good.size())).foreign);
    Bytes longer = good;
    longer.push_back({});
    CHECK(decode_store(longer).refused == "records are missing");
}

TEST_CASE("a mark belongs to its tile and its sum, and is never 0") {
    std::set<std::uint64_t> marks;
    for (std::uint64_t tile = 0; tile < 100; ++tile)
        for (const std::uint64_t sum : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
            CHECK(mark_of(tile, sum) != 0);
            marks.insert(mark_of(tile, sum));
        }
    CHECK(marks.size() == 300);
}

TEST_CASE("a sum finds every changed byte, other lengths and other orders") {
    Bytes bytes(75);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
    std::set<std::uint64_t> sums{sum_of(bytes)};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            Bytes changed = bytes;
            changed[i] ^= static_cast<std::byte>(1 << bit);
            sums.insert(sum_of(changed));
        }
    CHECK(sums.size() == 1 + 75 * 8);
    for (std::size_t shorter = 0; shorter < bytes.size(); ++shorter)
        sums.insert(sum_of(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(shorter))));
    CHECK(sums.size() == 1 + 75 * 8 + 75);
    for (std::size_t zeros = 1; zeros < 70; ++zeros) sums.insert(sum_of(Bytes(zeros)));
    CHECK(sums.size() == 1 + 75 * 8 + 75 + 68);  // one zero byte was there already
    Bytes turned(bytes.rbegin(), bytes.rend());
    CHECK(sums.count(sum_of(turned)) == 0);
}
