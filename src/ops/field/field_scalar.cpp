// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_scalar.hpp"

#include <cstdio>
#include <cstring>

#include <weft/error.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"

namespace weft::kernels {
namespace {

// Calls body with a value of the type that holds an element.
template <class Body>
auto with_limbs(const shared::FieldConstants& f, Body&& body) {
    switch (f.words) {
        case 1:
            return body(shared::Limbs1x32{});
        case 2:
            return body(shared::Limbs2x32{});
        case 8:
            return body(shared::Limbs8x32{});
        default:
            return body(shared::Limbs12x32{});
    }
}

template <class Limbs>
FieldWords words_of(const Limbs& limbs) {
    FieldWords words{};
    for (std::size_t i = 0; i < sizeof(Limbs) / sizeof(std::uint32_t); ++i) words.word[i] = limbs.limb[i];
    return words;
}

}  // namespace

// Limbs of 64 bits lie as two words, the low one first, on every host that Vulkan or CUDA runs on.
FieldWords to_words(const FieldInfo& field, const void* array, std::size_t index) {
    FieldWords words{};
    std::memcpy(words.word, static_cast<const std::byte*>(array) + index * field.element_bytes,
                field.element_bytes);
    return words;
}
void from_words(const FieldInfo& field, const FieldWords& words, void* array) {
    std::memcpy(array, words.word, field.element_bytes);
}

FieldWords add_on_host(Field field, const FieldWords& a, const FieldWords& b) {
    const shared::FieldConstants& f = field_constants(field);
    return with_limbs(f, [&]<class Limbs>(Limbs) {
        using shared::limbs_from;
        return words_of(add_mod(limbs_from<Limbs>(a), limbs_from<Limbs>(b), limbs_from<Limbs>(f.p)));
    });
}

FieldWords montgomery_on_host(Field field, const FieldWords& a, const FieldWords& b) {
    const shared::FieldConstants& f = field_constants(field);
    return with_limbs(f, [&]<class Limbs>(Limbs) {
        using shared::limbs_from;
        return words_of(
            montgomery_in_pairs(limbs_from<Limbs>(a), limbs_from<Limbs>(b), limbs_from<Limbs>(f.p), f.n0));
    });
}

std::string hex(Field field, const FieldWords& words) {
    std::string text = "0x";
    for (std::uint32_t i = field_constants(field).words; i-- > 0;) {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", words.word[i]);
        text += digits;
    }
    return text;
}

FieldWords axpy_words(const std::string& place, Field field, FieldForm form, const ConstHostArray& scalar) {
    const shared::FieldConstants& f = field_constants(field);
    const FieldInfo& info = field_info(field);
    const auto refuse = [&](const std::string& what) {
        throw Error(Errc::invalid_argument, place + ": " + what);
    };
    if (scalar.size != info.limbs || scalar.data == nullptr)
        refuse("axpy needs a scalar (got " + std::to_string(scalar.size) + " limbs, need " +
               std::to_string(info.limbs) + ")");
    if (scalar.type != limb_type(info)) refuse(wrong_limbs(info, "scalar", scalar.type));
    const FieldWords words = to_words(info, scalar.data, 0);
    if (!is_canonical(f, words.word))
        refuse("the scalar is not canonical (got " + hex(field, words) +
               ", need below p = " + hex(field, f.p) + ")");
    return form == FieldForm::montgomery ? words : montgomery_on_host(field, words, f.r_squared);
}

}  // namespace weft::kernels
