// SPDX-License-Identifier: Apache-2.0
// The table of field cases: the fields, operations, forms and operands that are combined. A new operation
// needs a word in kEvery or kElementwise, and a branch of want_of in support/any_field.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/ops/field.hpp>

#include "support/any_field.hpp"

namespace weft_test {

enum class Over { nothing, a, b };  ///< the operand whose memory is also the output

struct FieldCase {
    const char* name;
    std::vector<weft::Field> fields;
    std::vector<weft::FieldOp> ops;
    std::vector<weft::FieldForm> forms;
    std::vector<std::size_t> counts;  ///< numbers of elements; 0: as many as `operands` gives
    std::function<Pairs(const AnyField&, std::size_t count)> operands;
    Over over = Over::nothing;
    bool judged = true;         ///< compared with the oracle; otherwise the places must agree
    std::uint64_t chunk = 100;  ///< elements of a chunk in places that cut jobs
};

inline const std::vector<weft::Field>& all_fields() {
    static const std::vector<weft::Field> fields = [] {
        std::vector<weft::Field> f;
        for (const AnyField& any : any_fields()) f.push_back(any.field);
        return f;
    }();
    return fields;
}

inline const std::vector<FieldCase>& field_cases() {
    using enum weft::Field;
    using enum weft::FieldOp;
    using weft::FieldForm;
    using weft::FieldOp;
    static const std::vector<FieldOp> kElementwise{
        add, sub, neg, mul, square, inverse, to_montgomery, from_montgomery, axpy},
        kReductions{sum, inner_product}, kProducts{mul, square, axpy};
    static const std::vector<FieldForm> kPlain{FieldForm::plain}, kMontgomery{FieldForm::montgomery};
    // One field of each size of element.
    static const std::vector<weft::Field> kSizes{bls12_377_fp, bn254_fr, goldilocks, mersenne31},
        kOtherSizes{bls12_381_fp, bls12_381_fr, goldilocks, koalabear};
    const auto judged = [](std::size_t random) {
        return [random](const AnyField& f, std::size_t) { return judged_pairs(f, random); };
    };
    const auto random = [](const AnyField& f, std::size_t count) {
        return Pairs{random_numbers(f, count, 5), random_numbers(f, count, 6)};
    };
    const auto directed = [](const AnyField& f, std::size_t) {
        Pairs pairs;
        for (const std::size_t width : {32u, 64u})
            for (const auto& [a, b] : directed_pairs(width, f.p)) {
                pairs.a.push_back(a);
                pairs.b.push_back(b);
            }
        return pairs;
    };
    static const std::vector<std::size_t> kEdges{1,    2,    5,    31,   63,   64,   65,  127,
                                                 128,  129,  255,  256,  257,  511,  512, 513,
                                                 1023, 1024, 1025, 4095, 4096, 4097, 8193};
    static const std::vector<FieldCase> cases{
        {"carries and borrows at every limb", {bls12_381_fp}, {add, sub, neg}, kPlain, {0}, directed},
        {"every field, element by element", all_fields(), kElementwise, kPlain, {0}, judged(101)},
        {"every field in Montgomery form", all_fields(), kProducts, kMontgomery, {0}, judged(101)},
        {"inverses in Montgomery form",
         {bls12_377_fp, stark252, goldilocks, koalabear},
         {inverse},
         kMontgomery,
         {0},
         judged(20)},
        {"every field, sums", all_fields(), kReductions, kPlain, {0}, judged(100)},
        {"sums of products in Montgomery form",
         {bn254_fp, goldilocks, mersenne31},
         {inner_product},
         kMontgomery,
         {0},
         judged(100)},
        {"counts at edges of workgroups, shares and chunks",
         kSizes,
         {add, sum, inner_product},
         kPlain,
         kEdges,
         random,
         Over::nothing,
         true,
         320},
        {"inverses at edges of shares",
         kSizes,
         {inverse},
         kPlain,
         {1, 31, 65, 129, 257, 1025},
         random,
         Over::nothing,
         true,
         320},
        {"many elements",
         kOtherSizes,
         {add, mul, axpy, inverse, sum, inner_product},
         kPlain,
         {70001},
         random,
         Over::nothing,
         false,
         4096},
        {"over a", all_fields(), kElementwise, kPlain, {131}, random, Over::a, true, 40},
        {"over b", all_fields(), {add, sub, mul, axpy}, kPlain, {131}, random, Over::b, true, 40},
    };
    return cases;
}

}  // namespace weft_test
