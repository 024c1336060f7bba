// SPDX-License-Identifier: Apache-2.0
// Also completes weft/ops/ntt.hpp: what a field has for transforms.
#include "ops/ntt/ntt_constants.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <weft/error.hpp>

#include "ops/field/field_check.hpp"
#include "ops/field/field_plan.hpp"

namespace weft::kernels {
namespace {

// Generators of the multiplicative groups, as in arkworks and Plonky3; 0: no transforms.
constexpr std::array<std::uint32_t, 11> kGenerators{0, 7, 0, 5, 15, 22, 3, 7, 31, 3, 0};
static_assert(kGenerators.size() == static_cast<std::size_t>(Field::mersenne31) + 1);

std::uint32_t generator_of(Field field) {
    return kGenerators[static_cast<std::size_t>(field_info(field).field)];
}

/// The number of times that 2 divides p - 1.
std::uint32_t two_adicity_of(const shared::FieldConstants& f) {
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < f.words; ++i) {
        const std::uint32_t word = i == 0 ? f.p.word[0] - 1 : f.p.word[i];
        if (word != 0) return bits + static_cast<std::uint32_t>(std::countr_zero(word));
        bits += 32;
    }
    return bits;
}

/// x raised to a number of any length.
FieldWords power_of_words(Field field, const FieldWords& x, const FieldWords& exponent) {
    FieldWords power = field_constants(field).r;
    bool begun = false;
    for (std::uint32_t bit = 384; bit-- > 0;) {
        const bool set = (exponent.word[bit / 32] >> (bit % 32) & 1u) != 0;
        if (begun) power = montgomery_on_host(field, power, power);
        if (set) power = begun ? montgomery_on_host(field, power, x) : x;
        begun = begun || set;
    }
    return power;
}

bool equal(const FieldWords& a, const FieldWords& b) {
    return std::equal(std::begin(a.word), std::end(a.word), std::begin(b.word));
}

FieldWords root_of_all(Field field) {
    const shared::FieldConstants& f = field_constants(field);
    FieldWords odd = f.p;
    odd.word[0] -= 1;
    for (std::uint32_t shift = two_adicity_of(f); shift > 0; --shift)
        for (std::uint32_t i = 0; i < 12; ++i)
            odd.word[i] = odd.word[i] >> 1 | (i + 1 < 12 ? odd.word[i + 1] << 31 : 0u);
    FieldWords generator{};
    generator.word[0] = generator_of(field);
    return power_of_words(field, to_montgomery_words(field, generator), odd);
}

/// A scalar of a call in Montgomery form.
FieldWords scalar_words(const std::string& function, Field field, FieldForm form, const char* name,
                        const ConstHostArray& scalar) {
    const FieldInfo& info = field_info(field);
    const auto refuse = [&](const std::string& what) {
        throw Error(Errc::invalid_argument, function + ": " + what);
    };
    if (scalar.size != info.limbs || scalar.data == nullptr)
        refuse(std::string(name) + " is not one element (got " + std::to_string(scalar.size) +
               " limbs, need " + std::to_string(info.limbs) + ")");
    if (scalar.type != limb_type(info)) refuse(wrong_limbs(info, name, scalar.type));
    const FieldWords words = to_words(info, scalar.data, 0);
    if (!is_canonical(field_constants(field), words.word))
        refuse(std::string(name) + " is not canonical (got " + hex(field, words) +
               ", need below p = " + hex(field, field_constants(field).p) + ")");
    return form == FieldForm::montgomery ? words : to_montgomery_words(field, words);
}

}  // namespace

void require_ntt_field(const std::string& function, Field field) {
    if (generator_of(field) != 0) return;
    const bool mersenne = field == Field::mersenne31;
    throw Error(Errc::unsupported,
                function + ": " + to_string(field) +
                    " has no transforms (got p - 1 = 2 * odd, need p - 1 divisible by 2^log_size; " +
                    (mersenne ? "its circle transforms are not offered, use koalabear or babybear)"
                              : "use the scalar field of the curve)"));
}

FieldWords to_montgomery_words(Field field, const FieldWords& plain) {
    return montgomery_on_host(field, plain, field_constants(field).r_squared);
}

FieldWords ntt_power(Field field, const FieldWords& x, std::uint64_t exponent) {
    FieldWords words{};
    words.word[0] = static_cast<std::uint32_t>(exponent);
    words.word[1] = static_cast<std::uint32_t>(exponent >> 32);
    return power_of_words(field, x, words);
}

FieldWords ntt_inverse(Field field, const FieldWords& x) {
    FieldWords exponent = field_constants(field).p;  // p - 2
    std::uint32_t borrow = 2;
    for (std::uint32_t& word : exponent.word) {
        const std::uint32_t before = word;
        word -= borrow;
        borrow = before < borrow ? 1u : 0u;
    }
    return power_of_words(field, x, exponent);
}

FieldWords ntt_default_root(Field field, std::uint32_t log_size) {
    static const auto kRoots = [] {
        std::array<FieldWords, kGenerators.size()> roots{};
        for (const FieldInfo& info : fields())
            if (generator_of(info.field) != 0)
                roots[static_cast<std::size_t>(info.field)] = root_of_all(info.field);
        return roots;
    }();
    FieldWords root = kRoots[static_cast<std::size_t>(field)];
    for (std::uint32_t k = two_adicity_of(field_constants(field)); k > log_size; --k)
        root = montgomery_on_host(field, root, root);
    return root;
}

FieldWords ntt_root16(Field field, const FieldWords& w, std::uint32_t log_size) {
    if (log_size >= 4) return ntt_power(field, w, std::uint64_t{1} << (log_size - 4));
    const FieldWords any = ntt_default_root(field, 4);
    FieldWords root = any;
    // Its odd powers are the roots of order 16.
    while (!equal(ntt_power(field, root, std::uint64_t{1} << (4 - log_size)), w))
        root = montgomery_on_host(field, root, montgomery_on_host(field, any, any));
    return root;
}

FieldWords ntt_inverse_size(Field field, std::uint32_t log_size) {
    const shared::FieldConstants& f = field_constants(field);
    return shared::halved(f.r, f.p, f.words, log_size);
}

NttScalars ntt_scalars(const std::string& function, Field field, std::uint32_t log_size, FieldForm form,
                       const ConstHostArray& root, const ConstHostArray& coset) {
    const shared::FieldConstants& f = field_constants(field);
    NttScalars scalars{ntt_default_root(field, log_size), f.r, false};
    if (!root.empty()) {
        scalars.root = scalar_words(function, field, form, "root", root);
        // Of order N exactly if w^(N / 2) = -1, the only other number whose square is 1.
        FieldWords half = ntt_power(field, scalars.root, std::uint64_t{1} << (log_size - 1));
        if (!equal(add_on_host(field, half, f.r), FieldWords{}))
            throw Error(Errc::invalid_argument, function + ": root is no root of unity of order 2^" +
                                                    std::to_string(log_size) + " (got " +
                                                    hex(field, to_words(field_info(field), root.data, 0)) +
                                                    ", need one such as ntt_root gives)");
    }
    if (!coset.empty()) {
        scalars.coset = scalar_words(function, field, form, "coset", coset);
        if (equal(scalars.coset, FieldWords{}))
            throw Error(Errc::invalid_argument, function + ": coset is zero (got 0, need 1 to p - 1)");
        scalars.has_coset = !equal(scalars.coset, f.r);
    }
    return scalars;
}

}  // namespace weft::kernels

namespace weft {
namespace {

std::array<std::uint64_t, 6> limbs_of(const kernels::FieldWords& words) {
    std::array<std::uint64_t, 6> limbs{};
    for (std::size_t i = 0; i < 12; ++i) limbs[i / 2] |= std::uint64_t{words.word[i]} << (i % 2 * 32);
    return limbs;
}

}  // namespace

NttInfo ntt_info(Field field) {
    NttInfo info;
    const std::uint32_t generator = kernels::generator_of(field);
    if (generator == 0) return info;
    info.two_adicity = kernels::two_adicity_of(kernels::field_constants(field));
    info.max_log_size = std::min(info.two_adicity, kernels::kNttMostLogSize);
    info.generator[0] = generator;
    return info;
}

std::uint32_t ntt_max_log_size(const DeviceInfo& device, Field field) {
    const std::uint64_t bytes =
        std::min(device.limits.max_storage_buffer_range, device.limits.max_buffer_bytes);
    const std::uint64_t elements = bytes / field_info(field).element_bytes;
    if (elements < 2) return 0;
    return std::min(ntt_info(field).max_log_size, static_cast<std::uint32_t>(std::bit_width(elements) - 1));
}

std::array<std::uint64_t, 6> ntt_root(Field field, std::uint32_t log_size) {
    kernels::require_ntt_field("ntt_root", field);
    const NttInfo info = ntt_info(field);
    if (log_size > info.max_log_size)
        throw Error(Errc::invalid_argument,
                    "ntt_root: no such size (got log_size " + std::to_string(log_size) + ", need at most " +
                        std::to_string(info.max_log_size) + " for " + to_string(field) + ")");
    const kernels::FieldWords one{{1}};
    return limbs_of(kernels::montgomery_on_host(field, kernels::ntt_default_root(field, log_size), one));
}

const char* to_string(NttDirection direction) noexcept {
    return direction == NttDirection::forward   ? "forward"
           : direction == NttDirection::inverse ? "inverse"
                                                : "unknown";
}
const char* to_string(NttOrder order) noexcept {
    return order == NttOrder::nn   ? "nn"
           : order == NttOrder::nr ? "nr"
           : order == NttOrder::rn ? "rn"
                                   : "unknown";
}
const char* to_string(NttLayout layout) noexcept {
    return layout == NttLayout::rows ? "rows" : layout == NttLayout::columns ? "columns" : "unknown";
}

}  // namespace weft
