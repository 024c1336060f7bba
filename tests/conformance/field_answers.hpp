// SPDX-License-Identifier: Apache-2.0
// Known answers of field operations on one element, computed without this library.
#pragma once

#include <string>
#include <vector>

#include "support/any_field.hpp"

namespace weft_test {

struct FieldAnswer {
    std::string id;
    weft::Field field;
    weft::FieldOp op;
    weft::FieldForm form;
    std::string a, b, expected;
};

inline std::vector<FieldAnswer> field_answers() {
    using weft::FieldOp;
    const std::string p1 = hex(minus(fp(), power(0)));
    const std::string a =
        "1844749c657fb8381ee33321630b613e248a7db7ff206df291333a206624f63e32a9f1b6d8322db6da9bcf184e2c0dc7";
    const std::string b =
        "0ccf40786044756ba4e7abfcb1c55c5dcc0944052ba2f724cc5333d3be7494bf7f25d0add6c34ff5b76a692a3e72c2af";
    const std::string r =
        "15f65ec3fa80e4935c071a97a256ec6d77ce5853705257455f48985753c758baebf4000bc40c0002760900000002fffd";
    const std::string inverse_r =
        "14fec701e8fb0ce9ed5e64273c4f538b1797ab1458a88de9343ea97914956dc87fe11274d898fafbf4d38259380b4820";
    const auto last = [](weft::Field field, unsigned less) {
        return hex(minus(any_fields()[static_cast<std::size_t>(field)].p, number(less == 1 ? "1" : "2")));
    };
    const weft::FieldForm plain = weft::FieldForm::plain, montgomery = weft::FieldForm::montgomery;
    using enum weft::Field;
    std::vector<FieldAnswer> answers{
        {"T15", bls12_381_fp, FieldOp::mul, plain, a, b,
         "bd77c8c75e233d7d351b624b47fd30b9a43302d02dc55dc1a5652dc84343209e055c822f834f480999c1349ef2f42e0"},
        {"T16", bls12_381_fp, FieldOp::mul, montgomery, a, b,
         "baa53bdf70e66749d792bf41a98acb6fdbd9c4120522dd3391229f04f8718e4ad0f6a6fc0b92bdaa2a61aabab6bdc1e"},
        {"T17", bls12_381_fp, FieldOp::mul, plain, p1, p1, "1"},
        {"T17 small", bls12_381_fp, FieldOp::mul, plain, "3e7", "378", "d8948"},
        {"T17 2^380", bls12_381_fp, FieldOp::mul, plain, hex(power(380)), "2",
         "5feee15c6801965b4e45849bcb453289b88b47b0c7aed4098cf2d5f094f09dbe15400014eac00004601000000005555"},
        {"T18", bls12_381_fp, FieldOp::mul, montgomery, "1", "1", inverse_r},
        {"T18 R", bls12_381_fp, FieldOp::mul, montgomery, r, r, r},
        {"T18 p-1", bls12_381_fp, FieldOp::square, montgomery, p1, "0", inverse_r},
        {"to", bls12_381_fp, FieldOp::to_montgomery, plain, "1", "0", r},
        {"from", bls12_381_fp, FieldOp::from_montgomery, plain, r, "0", "1"},
        {"inverse of 1", bls12_381_fp, FieldOp::inverse, plain, "1", "0", "1"},
        {"inverse of 0", bls12_381_fp, FieldOp::inverse, plain, "0", "0", "0"},
        {"inverse of -1", bls12_381_fp, FieldOp::inverse, plain, p1, "0", p1},
        {"T24", bls12_381_fr, FieldOp::add, plain, last(bls12_381_fr, 1), "1", "0"},
        {"T24 twice", bls12_381_fr, FieldOp::add, plain, last(bls12_381_fr, 1), last(bls12_381_fr, 1),
         "73eda753299d7d483339d80809a1d80553bda402fffe5bfefffffffeffffffff"},
        {"T24 mul", bls12_381_fr, FieldOp::mul, plain, last(bls12_381_fr, 1), last(bls12_381_fr, 1), "1"},
        {"T25", goldilocks, FieldOp::add, plain, "ffffffff00000000", "1", "0"},
        {"T25 twice", goldilocks, FieldOp::add, plain, "ffffffff00000000", "ffffffff00000000",
         "fffffffeffffffff"},
        {"T26 babybear", babybear, FieldOp::add, plain, "78000000", "78000000", "77ffffff"},
        {"T26 koalabear", koalabear, FieldOp::add, plain, "7f000000", "7f000000", "7effffff"},
        {"T26 mersenne31", mersenne31, FieldOp::add, plain, "7ffffffe", "7ffffffe", "7ffffffd"},
        {"T27 bn254", bn254_fr, FieldOp::add, plain, last(bn254_fr, 1), last(bn254_fr, 1), last(bn254_fr, 2)},
        {"T27 377", bls12_377_fp, FieldOp::add, plain, last(bls12_377_fp, 1), last(bls12_377_fp, 1),
         last(bls12_377_fp, 2)},
        {"T27 stark", stark252, FieldOp::add, plain, last(stark252, 1), last(stark252, 1),
         "800000000000010ffffffffffffffffffffffffffffffffffffffffffffffff"},
    };
    for (const FieldVector& v : known_vectors())
        answers.push_back({v.id, bls12_381_fp, v.op, plain, v.a, v.b, v.expected});
    return answers;
}

}  // namespace weft_test
