// SPDX-License-Identifier: Apache-2.0
// The records of a tile store: what its tiles were made from, and a checksum of each tile that is finished.
// Pure.
//
// Layout, little-endian: 8 bytes "weftkm\r\n", u32 version, u32 bytes of the header, u64 tiles, u32 facts, a
// name and a value for each fact, zeros, u64 checksum of everything before. Records of 16 bytes follow: one
// for each tile, and one that says which file the finished K is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::kernels {

/// Something that values of K depend on.
struct StoreFact {
    std::string name, value;
    bool operator==(const StoreFact&) const = default;
};
using StoreFacts = std::vector<StoreFact>;

/// The value of a fact; null: there is none of that name.
const std::string* find_fact(const StoreFacts& facts, std::string_view name);

struct StoreHeader {
    StoreFacts facts;
    std::uint64_t tiles = 0;
};

/// A record with any other mark says nothing: the process was killed between the two, or the bytes are
/// damaged.
struct StoreRecord {
    std::uint64_t sum = 0;   ///< of a tile; of the last record the number of the finished file
    std::uint64_t mark = 0;  ///< mark_of(index, sum); written after the sum
};
std::uint64_t mark_of(std::uint64_t index, std::uint64_t sum) noexcept;

/// A multiple of the size of a record.
std::vector<std::byte> encode_store(const StoreHeader& header);
/// Bytes of a whole file of records behind a header of that many bytes.
constexpr std::uint64_t store_bytes(std::uint64_t header, std::uint64_t tiles) noexcept {
    return header + (tiles + 1) * sizeof(StoreRecord);
}

struct DecodedStore {
    StoreHeader header;
    std::size_t records_at = 0;
    std::string refused;   ///< why nothing can be continued; empty: it can
    bool foreign = false;  ///< no store at all, so that it must not be overwritten
};
/// An empty file is not foreign.
DecodedStore decode_store(std::span<const std::byte> file);

/// A checksum of bytes that finds every change of up to eight neighbouring bytes, and others except for one
/// in 2^64. The bytes of one add() must not be split over two.
class ContentSum {
  public:
    void add(std::span<const std::byte> bytes) noexcept;
    std::uint64_t value() const noexcept;

  private:
    std::uint64_t lanes_[4] = {1, 2, 3, 4};
    std::uint64_t bytes_ = 0;
};

}  // namespace weft::kernels
