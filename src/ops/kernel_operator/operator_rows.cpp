// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::kernels {
namespace {

constexpr std::size_t kPartBytes = std::size_t{16} << 20;

}  // namespace

RowParts::RowParts(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows)
    : rows_(rows),
      columns_(plan.shape.columns()),
      row_bytes_(columns_ * plan.real_bytes()),
      together_(std::max<std::size_t>(1, std::min(rows.size(), kPartBytes / row_bytes_))) {
    if (!plan.states || std::is_sorted(rows.begin(), rows.end())) return;
    places_.resize(rows.size());
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::stable_sort(places_.begin(), places_.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
}

std::size_t RowParts::rows_of(std::size_t part) const noexcept {
    return std::min(together_, rows_.size() - part * together_);
}

std::vector<std::uint32_t> RowParts::rows(std::size_t part) const {
    std::vector<std::uint32_t> some(rows_of(part));
    for (std::size_t i = 0; i < some.size(); ++i) {
        const std::size_t at = part * together_ + i;
        some[i] = rows_[places_.empty() ? at : places_[at]];
    }
    return some;
}

HostArray RowParts::target(std::size_t part, const HostArray& out, std::vector<std::byte>& kept) const {
    auto* const in_place = static_cast<std::byte*>(out.data) + part * together_ * row_bytes_;
    return {places_.empty() ? in_place : kept.data(), rows_of(part) * columns_, out.type};
}

void RowParts::put(std::size_t part, const HostArray& out, const std::vector<std::byte>& kept) const {
    if (places_.empty()) return;
    auto* const to = static_cast<std::byte*>(out.data);
    for (std::size_t i = 0; i < rows_of(part); ++i)
        std::memcpy(to + places_[part * together_ + i] * row_bytes_, kept.data() + i * row_bytes_,
                    row_bytes_);
}

}  // namespace weft::kernels
