// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/store_format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.hpp"

namespace weft::kernels {
namespace {

constexpr std::string_view kStoreMagic = "weftkm\r\n";
constexpr std::uint32_t kStoreVersion = 1;
constexpr std::size_t kStart = 8 + 4 + 4 + 8 + 4;  // up to the facts
constexpr std::uint64_t kMostTiles = std::uint64_t{1} << 48;

/// Spreads every bit over the whole word; a bijection.
std::uint64_t spread(std::uint64_t word) {
    for (const int shift : {31, 29, 32}) {
        word ^= word >> shift;
        word *= 0x9fb21c651e98df25u;
    }
    return word ^ word >> 32;
}

std::uint64_t sum_of(std::span<const std::byte> bytes) {
    ContentSum sum;
    sum.add(bytes);
    return sum.value();
}

/// Why these bytes are no header; empty: they are one, except for the facts.
std::string refuse_header(std::span<const std::byte> file, std::uint64_t header, std::uint64_t tiles) {
    constexpr std::size_t kUnit = sizeof(StoreRecord);
    if (header < kStart + 8 || header % kUnit != 0 || header > file.size()) return "the header is damaged";
    core::ByteReader sum(file.subspan(header - 8));
    if (sum.number(8) != sum_of(file.first(header - 8))) return "the header is damaged";
    if (tiles > kMostTiles || file.size() != store_bytes(header, tiles)) return "records are missing";
    return {};
}

}  // namespace

const std::string* find_fact(const StoreFacts& facts, std::string_view name) {
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const StoreFact& fact) { return fact.name == name; });
    return found != facts.end() ? &found->value : nullptr;
}

std::uint64_t mark_of(std::uint64_t index, std::uint64_t sum) noexcept {
    // Never 0, which is what a file is filled with before anything is written.
    return spread(sum ^ spread(index + 1)) | 1;
}

std::vector<std::byte> encode_store(const StoreHeader& header) {
    std::size_t bytes = kStart + 8;
    for (const StoreFact& fact : header.facts) bytes += 8 + fact.name.size() + fact.value.size();
    bytes = (bytes + sizeof(StoreRecord) - 1) / sizeof(StoreRecord) * sizeof(StoreRecord);
    core::ByteWriter out;
    out.raw(std::as_bytes(std::span(kStoreMagic)));
    out.number(kStoreVersion, 4);
    out.number(bytes, 4);
    out.number(header.tiles, 8);
    out.number(header.facts.size(), 4);
    for (const StoreFact& fact : header.facts) {
        out.text(fact.name);
        out.text(fact.value);
    }
    std::vector<std::byte> made = out.take();
    made.resize(bytes - 8);
    core::ByteWriter sum;
    sum.number(sum_of(made), 8);
    const std::vector<std::byte> end = sum.take();
    made.insert(made.end(), end.begin(), end.end());
    return made;
}

DecodedStore decode_store(std::span<const std::byte> file) {
    DecodedStore decoded;
    const auto refuse = [](std::string why, bool foreign = false) {
        return DecodedStore{{}, 0, std::move(why), foreign};
    };
    if (file.empty()) return refuse("it is empty");
    const std::size_t known = std::min(file.size(), kStoreMagic.size());
    if (std::memcmp(file.data(), kStoreMagic.data(), known) != 0) {
        // Zeros are what a process leaves that is killed before it writes.
        const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
        return refuse("it is no tile store", !std::ranges::all_of(file.first(known), is_zero));
    }
    core::ByteReader reader(file.subspan(known));
    const std::uint32_t version = reader.number32();
    const std::uint64_t header = reader.number32();
    decoded.header.tiles = reader.number(8);
    const std::uint32_t facts = reader.number32();
    if (!reader.ok()) return refuse("the header is damaged");
    if (version != kStoreVersion)
        return refuse("it has version " + std::to_string(version) + ", need " +
                      std::to_string(kStoreVersion));
    if (std::string why = refuse_header(file, header, decoded.header.tiles); !why.empty())
        return refuse(std::move(why));
    core::ByteReader names(file.subspan(kStart, header - 8 - kStart));
    for (std::uint32_t i = 0; i < facts && names.ok(); ++i) {
        StoreFact fact;
        fact.name = names.text();
        fact.value = names.text();
        decoded.header.facts.push_back(std::move(fact));
    }
    if (!names.ok()) return refuse("the header is damaged");
    decoded.records_at = header;
    return decoded;
}

void ContentSum::add(std::span<const std::byte> bytes) noexcept {
    constexpr std::uint64_t kOfWord[4] = {0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u,
                                          0x589965cc75374cc3u};
    constexpr std::uint64_t kOfLane = 0x9fb21c651e98df25u;
    // Each step is a bijection of the lane for a given word and of the word for a given lane, so that a
    // changed word always changes the sum. Words are multiplied first: otherwise a changed bit in one of them
    // could be undone by a changed bit in the next.
    const auto step = [&](std::size_t lane, std::uint64_t word) {
        lanes_[lane] = std::rotl(lanes_[lane] + word * kOfWord[lane], 29) * kOfLane;
    };
    std::size_t at = 0;
    for (; at + 32 <= bytes.size(); at += 32) {
        std::uint64_t words[4];
        std::memcpy(words, bytes.data() + at, sizeof words);
        for (std::size_t lane = 0; lane < 4; ++lane) step(lane, words[lane]);
    }
    for (std::size_t lane = 0; at < bytes.size(); ++lane, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        step(lane, word);
    }
    bytes_ += bytes.size();
}

std::uint64_t ContentSum::value() const noexcept {
    std::uint64_t sum = spread(bytes_);
    for (const std::uint64_t lane : lanes_) sum = spread(sum ^ lane);
    return sum;
}

}  // namespace weft::kernels
