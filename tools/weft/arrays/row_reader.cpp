// SPDX-License-Identifier: Apache-2.0
#include "arrays/row_reader.hpp"

#include <algorithm>

namespace weft::tool {

RowMemory::RowMemory(Backend* backend, std::uint64_t words) {
    if (backend != nullptr)
        locked_.emplace(*backend, words, "rows read ahead");
    else
        ordinary_.resize(words * sizeof(std::uint64_t));
}

RowReader::RowReader(Backend* backend, ArraySource& source, std::uint64_t rows_per_chunk, std::size_t depth)
    : source_(source), rows_per_chunk_(rows_per_chunk) {
    const std::uint64_t chunks = (source.rows() + rows_per_chunk - 1) / rows_per_chunk;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(depth + 1, chunks); ++i)
        free_.push_back(std::make_shared<RowMemory>(backend, (rows_per_chunk * source.row_bytes() + 7) / 8));
    thread_ = std::thread([this] { run(); });
}

RowReader::~RowReader() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void RowReader::run() {
    try {
        for (std::uint64_t first = 0; first < source_.rows(); first += rows_per_chunk_) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stop_ || !free_.empty(); });
            if (stop_) return;
            RowChunk chunk{first, std::min(rows_per_chunk_, source_.rows() - first), free_.back()};
            free_.pop_back();
            lock.unlock();
            source_.read(chunk.first, chunk.rows, chunk.memory->data());
            lock.lock();
            ready_.push_back(std::move(chunk));
            changed_.notify_all();
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

RowChunk RowReader::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
        if (failure_) std::rethrow_exception(failure_);
        return {};
    }
    RowChunk chunk = std::move(ready_.front());
    ready_.pop_front();
    return chunk;
}

void RowReader::give_back(RowChunk chunk) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk.memory));
    changed_.notify_all();
}

}  // namespace weft::tool
