// SPDX-License-Identifier: Apache-2.0
// Bytes in use by name, for MemoryReport. Bounded, because a program may give every buffer a name of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace weft::core {

struct NameTotal {
    std::uint64_t live = 0, peak = 0, count = 0;  // bytes, bytes, buffers
};

class NameTotals {
  public:
    /// So many names without a live buffer are kept for their peak; the one that has been without one for
    /// longest is dropped first.
    static constexpr std::size_t kMostIdle = 1024;

    void add(const std::string& name, std::uint64_t bytes);
    /// Never allocates, because destructors call it.
    void remove(const std::string& name, std::uint64_t bytes) noexcept;

    struct Entry {
        NameTotal total;
        std::list<const std::string*>::iterator place{};  // in idle_ while nothing is live, else in live_
    };
    const std::map<std::string, Entry>& entries() const { return entries_; }

  private:
    std::map<std::string, Entry> entries_;
    std::list<const std::string*> live_, idle_;  // keys of entries_; idle_: longest idle first
};

}  // namespace weft::core
