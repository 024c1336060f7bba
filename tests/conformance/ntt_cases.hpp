// SPDX-License-Identifier: Apache-2.0
// The table of transforms: fields, directions, orders and layouts that are combined with sizes and batches.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/ops/ntt.hpp>

namespace weft_test {

struct NttCase {
    const char* name;
    std::vector<weft::Field> fields;
    std::vector<std::uint32_t> log_sizes;
    std::size_t batch = 1;
    bool coset = false;                             ///< a random one, else 1
    weft::FieldForm form = weft::FieldForm::plain;  ///< of the coset
    bool in_place = false;
    std::size_t inputs = 0;  ///< NttShape::inputs, of forward transforms nn and nr
    std::vector<weft::NttOrder> orders{weft::NttOrder::nn, weft::NttOrder::nr, weft::NttOrder::rn};
    std::vector<weft::NttLayout> layouts{weft::NttLayout::rows, weft::NttLayout::columns};
    std::uint64_t chunk = 2;  ///< transforms of a chunk in places that cut jobs
};

inline const std::vector<NttCase>& ntt_cases() {
    using enum weft::Field;
    using weft::FieldForm;
    using weft::NttOrder;
    // One field of each size of element.
    static const std::vector<weft::Field> kSizes{babybear, goldilocks, bn254_fr, bls12_377_fp};
    static const std::vector<NttCase> cases{
        {"one transform of one pass", kSizes, {4}},
        {"a batch", kSizes, {5}, 5},
        {"a batch of several passes", {goldilocks, bn254_fr}, {11}, 3},
        {"on a coset", kSizes, {6}, 3, true},
        {"on a coset in several passes", {babybear}, {11}, 3, true},
        {"on a coset in Montgomery form", {koalabear, bls12_381_fr}, {6}, 2, true, FieldForm::montgomery},
        {"in place", {goldilocks}, {5, 11}, 3, true, FieldForm::plain, true},
        {"fewer inputs than points",
         {babybear},
         {6, 11},
         3,
         true,
         FieldForm::plain,
         false,
         13,
         {NttOrder::nn, NttOrder::nr}},
        {"a quarter of the inputs",
         {goldilocks},
         {11},
         2,
         false,
         FieldForm::plain,
         false,
         512,
         {NttOrder::nn, NttOrder::nr}},
        {"many columns",
         {babybear},
         {10},
         37,
         true,
         FieldForm::plain,
         false,
         0,
         {NttOrder::nr},
         {weft::NttLayout::columns},
         17},
        {"every field", {bls12_377_fr, stark252, koalabear}, {5}, 2, true},
    };
    return cases;
}

/// Extensions: of each field, values of 2^log_size points become those of blowup times as many.
struct NttExtendCase {
    weft::Field field;
    std::uint32_t log_size, blowup;
    std::size_t batch;
};
inline const std::vector<NttExtendCase>& ntt_extend_cases() {
    using enum weft::Field;
    static const std::vector<NttExtendCase> cases{
        {babybear, 1, 2, 3},    {babybear, 5, 16, 2}, {babybear, 11, 4, 3}, {goldilocks, 6, 8, 3},
        {goldilocks, 12, 2, 1}, {bn254_fr, 4, 4, 2},  {bn254_fr, 9, 4, 2},  {bls12_377_fp, 7, 8, 1},
    };
    return cases;
}

}  // namespace weft_test
