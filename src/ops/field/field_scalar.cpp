// SPDX-License-Identifier: Apache-2.0
#include "ops/field/field_scalar.hpp"

#include <cstdio>

#include <weft/error.hpp>

namespace weft::kernels {
namespace {

// Calls body with a value of the field's limb type.
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

template <class Limb>
FieldWords scalar_words(const std::string& where, Field field, FieldForm form, std::span<const Limb> scalar) {
    const shared::FieldConstants& f = field_constants(field);
    const FieldInfo& info = field_info(field);
    if (scalar.size() != info.limbs || scalar.data() == nullptr)
        throw Error(Errc::invalid_argument, where + ": axpy needs a scalar (got " +
                                                std::to_string(scalar.size()) + " limbs, need " +
                                                std::to_string(info.limbs) + ")");
    const FieldWords words = to_words(scalar);
    if (!is_canonical(field, words))
        throw Error(Errc::invalid_argument, where + ": the scalar is not canonical (got " +
                                                hex(field, words) + ", need below p = " + hex(field, f.p) +
                                                ")");
    return form == FieldForm::montgomery ? words : montgomery_on_host(field, words, f.r_squared);
}

}  // namespace

const shared::FieldConstants& field_constants(Field field) {
    return shared::kFieldTable[static_cast<std::size_t>(field_info(field).field)];
}

FieldWords to_words(std::span<const std::uint64_t> limbs) {
    FieldWords words{};
    for (std::size_t i = 0; i < limbs.size(); ++i) {
        words.word[2 * i] = static_cast<std::uint32_t>(limbs[i]);
        words.word[2 * i + 1] = static_cast<std::uint32_t>(limbs[i] >> 32);
    }
    return words;
}
FieldWords to_words(std::span<const std::uint32_t> limbs) {
    return {{limbs[0]}};
}
void from_words(const FieldWords& words, std::span<std::uint64_t> limbs) {
    for (std::size_t i = 0; i < limbs.size(); ++i)
        limbs[i] = std::uint64_t{words.word[2 * i + 1]} << 32 | words.word[2 * i];
}
void from_words(const FieldWords& words, std::span<std::uint32_t> limbs) {
    limbs[0] = words.word[0];
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

bool is_canonical(Field field, const FieldWords& a) {
    const shared::FieldConstants& f = field_constants(field);
    for (std::uint32_t i = f.words; i-- > 0;)
        if (a.word[i] != f.p.word[i]) return a.word[i] < f.p.word[i];
    return false;
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

FieldWords axpy_words(const std::string& where, Field field, FieldForm form,
                      std::span<const std::uint64_t> scalar) {
    if (field_info(field).limb_bytes == 8) return scalar_words(where, field, form, scalar);
    // A field of 31 bits: one limb, whose upper half must be empty.
    if (scalar.size() == 1 && scalar.data() != nullptr && scalar[0] >> 32 == 0) {
        const auto narrow = static_cast<std::uint32_t>(scalar[0]);
        return scalar_words(where, field, form, std::span(&narrow, 1));
    }
    const std::string p = hex(field, field_constants(field).p);
    if (scalar.size() == 1 && scalar.data() != nullptr) {
        char value[20];
        std::snprintf(value, sizeof value, "0x%llx", static_cast<unsigned long long>(scalar[0]));
        throw Error(Errc::invalid_argument,
                    where + ": the scalar is not canonical (got " + value + ", need below p = " + p + ")");
    }
    throw Error(Errc::invalid_argument, where + ": axpy needs a scalar of one limb (got " +
                                            std::to_string(scalar.size()) + " limbs, need 1 below p = " + p +
                                            ")");
}
FieldWords axpy_words(const std::string& where, Field field, FieldForm form,
                      std::span<const std::uint32_t> scalar) {
    return scalar_words(where, field, form, scalar);
}

}  // namespace weft::kernels
