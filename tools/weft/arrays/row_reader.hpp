// SPDX-License-Identifier: Apache-2.0
// A thread that reads ahead.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <weft/host_buffer.hpp>

#include "arrays/array_source.hpp"

namespace weft::tool {

/// Memory of a chunk. It is ordinary, or page-locked, so that the device reads the rows without another copy.
class RowMemory {
  public:
    /// `backend` provides page-locked memory and may be null. Errors: weft::Error out_of_memory.
    RowMemory(Backend* backend, std::uint64_t words);
    std::byte* data() { return locked_ ? reinterpret_cast<std::byte*>(locked_->data()) : ordinary_.data(); }

  private:
    std::optional<HostBuffer<std::uint64_t>> locked_;
    std::vector<std::byte> ordinary_;
};

/// Consecutive rows.
struct RowChunk {
    std::uint64_t first = 0, rows = 0;
    std::shared_ptr<RowMemory> memory;
};

/// Reads a source from its first row to its last in chunks, at most `depth` of them ahead of the caller.
class RowReader {
  public:
    /// `backend` as of RowMemory. Errors: weft::Error out_of_memory.
    RowReader(Backend* backend, ArraySource& source, std::uint64_t rows_per_chunk, std::size_t depth = 2);
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;
    ~RowReader();

    /// The next chunk; give_back frees its memory for another one. No rows: the end. Errors: as
    /// ArraySource::read.
    RowChunk next();
    void give_back(RowChunk chunk);

  private:
    void run();

    ArraySource& source_;
    std::uint64_t rows_per_chunk_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::shared_ptr<RowMemory>> free_;
    std::deque<RowChunk> ready_;
    std::exception_ptr failure_;
    bool ended_ = false, stop_ = false;
    std::thread thread_;
};

}  // namespace weft::tool
