// SPDX-License-Identifier: Apache-2.0
// A K that grows tile by tile in a file, with a file of records beside it, so that work that was killed is
// continued. K takes its name when it is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file_io.hpp"
#include "ops/kernel_matrix/store_format.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::kernels {

/// A file that is mapped for reading and writing.
class SharedMapping {
  public:
    SharedMapping() = default;
    /// Errors: io.
    SharedMapping(int file, std::uint64_t bytes, const std::filesystem::path& path);
    SharedMapping(SharedMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    SharedMapping& operator=(SharedMapping&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~SharedMapping();
    std::span<std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// Gives a file its whole size, so that no later write to it can meet a full disk. Errors: io.
void reserve_file(int file, std::uint64_t bytes, const std::filesystem::path& path);

class TileStore {
  public:
    /// Opens the records of the store of that K, or makes an empty file for them, and locks it. Errors: io -
    /// another object, of any process, has the store, a file cannot be made, a file of that name is no store;
    /// invalid_argument - a store of another shape or type.
    TileStore(const std::filesystem::path& file, const KernelMatrixShape& shape, ElementType type,
              std::uint64_t tile_bytes);
    ~TileStore();
    TileStore(const TileStore&) = delete;
    TileStore& operator=(const TileStore&) = delete;

    const KernelMatrixShape& shape() const noexcept { return shape_; }
    ElementType type() const noexcept { return type_; }
    std::uint64_t tile_bytes() const noexcept { return tile_bytes_; }  ///< of a new store
    /// Whether there are tiles that may be continued.
    bool has_facts() const noexcept { return !header_.facts.empty(); }
    const StoreFacts& facts() const noexcept { return header_.facts; }
    /// Errors: invalid_argument - the store has tiles, and one of these facts is another.
    void require(std::span<const StoreFact> facts) const;

    /// Continues with these tiles, or begins. Tiles whose checksum is wrong count as missing. Errors: as
    /// require(); io - no room on the disk.
    void begin(StoreFacts facts, std::vector<StoreTile> tiles);
    bool begun() const noexcept { return !tiles_.empty(); }
    const std::vector<StoreTile>& tiles() const noexcept { return tiles_; }
    /// Indices, in order.
    std::vector<std::size_t> missing() const;
    std::uint64_t kept() const noexcept { return kept_; }        ///< tiles that begin() found whole
    std::uint64_t damaged() const noexcept { return damaged_; }  ///< tiles that it found damaged
    /// K; empty before begin() and after finish().
    std::span<std::byte> values() const noexcept;
    /// The values of this tile are in place. Any thread, each tile from one.
    void put(std::size_t tile) noexcept;

    /// K takes its name, and the records go. Errors: invalid_argument - tiles are missing; io.
    void finish();

  private:
    void open_records();
    void open_values(bool continues);
    void make_anew();
    void write_records();
    void judge_tiles();
    std::uint64_t sum_of(const StoreTile& tile) const noexcept;
    std::span<StoreRecord> records() const noexcept;
    std::uint64_t value_bytes() const noexcept { return npy_.size() + shape_.values() * type_.bytes(); }
    bool renamed_already() const;
    [[noreturn]] void refuse_another(const std::string& what) const;

    KernelMatrixShape shape_;
    ElementType type_;
    std::uint64_t tile_bytes_;
    std::string npy_;  // header of the file of K
    std::filesystem::path target_, part_, file_of_records_;
    core::FileDescriptor lock_, values_file_;  // lock_ is open on the records
    SharedMapping values_, records_map_;
    StoreHeader header_;
    std::size_t records_at_ = 0;
    StoreRecord last_{};  // of the store that was there
    std::vector<StoreTile> tiles_;
    std::uint64_t kept_ = 0, damaged_ = 0;
    bool fresh_ = false;  // the records are new and still empty
};

}  // namespace weft::kernels
