// SPDX-License-Identifier: Apache-2.0
// Bytes in use by name, for MemoryReport. Bounded: a program that names every buffer anew must not grow for
// ever.
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
    /// Names without a live buffer that are remembered for their peak; the one longest without goes first.
    static constexpr std::size_t kMostIdle = 1024;

    void add(const std::string& name, std::uint64_t bytes);
    /// Never allocates: buffers are counted out in destructors.
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
