// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_product.hpp"

namespace weft::kernels {

OperatorProduct::OperatorProduct(const OperatorPlan& plan, std::uint32_t columns, bool transpose,
                                 Choice symmetric)
    : plan_(plan),
      columns_(columns),
      side_(side_of(plan_, transpose)),
      turned_(transpose && !side_.square),
      symmetric_(symmetric),
      low_rank_(plan_.states || symmetric == Choice::on ? std::nullopt
                                                        : plan_low_rank(plan_, side_, columns)),
      passes_(plan_.states              ? std::vector<ApplyPass>{}
              : symmetric == Choice::on ? plan_symmetric_passes(plan_, side_, columns)
                                        : plan_passes(plan_, side_, columns, symmetric != Choice::off)) {}

KernelOperatorMethod OperatorProduct::method() const noexcept {
    if (plan_.states) return KernelOperatorMethod::states;
    return low_rank_ ? KernelOperatorMethod::low_rank : KernelOperatorMethod::product;
}

std::uint64_t OperatorProduct::pairs(const ApplyRows& rows) const {
    std::uint64_t pairs = 0;
    if (plan_.states) {
        for (const OperatorBlock& block : blocks_of(rows)) pairs += pairs_of(plan_, block);
        return pairs;
    }
    if (low_rank_) return (rows.last - rows.first) * side_.columns * columns_;
    for (const ApplyPass& pass : passes_)
        for (const OperatorBand& band : bands_of(pass, side_, rows.first, rows.last))
            pairs += pairs_of(pass, band);
    return pairs;
}
std::uint64_t OperatorProduct::pairs(const PairShare& share) const {
    std::uint64_t pairs = 0;
    if (plan_.states)
        for (const OperatorBlock& block : blocks_of(share)) pairs += pairs_of(plan_, block);
    for (const ApplyPass& pass : passes_)
        for (const OperatorBand& band : bands_of_share(pass, share)) pairs += pairs_of(pass, band);
    return pairs;
}

std::vector<OperatorBand> OperatorProduct::bands_of_share(const ApplyPass& pass,
                                                          const PairShare& share) const {
    std::vector<OperatorBand> bands;
    for (const RowRange& rows : share.fold.ranges(share.first, share.count))
        for (const OperatorBand& band : bands_of(pass, side_, rows.first, rows.last)) bands.push_back(band);
    return bands;
}

std::vector<OperatorBlock> OperatorProduct::blocks_of(const ApplyRows& rows) const {
    return operator_blocks(plan_, rows.first, rows.last, turned_,
                           symmetric_ != Choice::off && halves_blocks(plan_));
}
std::vector<OperatorBlock> OperatorProduct::blocks_of(const PairShare& share) const {
    const std::vector<OperatorBlock> all = operator_blocks(plan_, 0, side_.rows, false, true);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(share.first);
    return {first, first + static_cast<std::ptrdiff_t>(share.count)};
}

}  // namespace weft::kernels
