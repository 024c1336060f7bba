// SPDX-License-Identifier: Apache-2.0
#include "base/name_totals.hpp"

#include <algorithm>

namespace weft::core {

void NameTotals::add(const std::string& name, std::uint64_t bytes) {
    auto it = entries_.find(name);
    if (it == entries_.end()) {
        live_.push_back(nullptr);
        try {
            it = entries_.emplace(name, Entry{{}, std::prev(live_.end())}).first;
        } catch (...) {
            live_.pop_back();
            throw;
        }
        live_.back() = &it->first;
    } else if (it->second.total.count == 0) {
        live_.splice(live_.end(), idle_, it->second.place);
    }
    NameTotal& total = it->second.total;
    total.live += bytes;
    total.peak = std::max(total.peak, total.live);
    ++total.count;
}

void NameTotals::remove(const std::string& name, std::uint64_t bytes) noexcept {
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.total.count == 0) return;
    it->second.total.live -= bytes;
    if (--it->second.total.count != 0) return;
    idle_.splice(idle_.end(), live_, it->second.place);
    if (idle_.size() <= kMostIdle) return;
    const auto oldest = entries_.find(*idle_.front());
    idle_.pop_front();
    entries_.erase(oldest);
}

}  // namespace weft::core
