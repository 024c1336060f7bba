// SPDX-License-Identifier: Apache-2.0
#include "commands/field/field_values.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "cli/failure.hpp"

namespace weft::tool {
namespace {

std::string check_field(const std::string& name) {
    if (find_field(name)) return {};
    std::string names;
    for (const FieldInfo& field : fields()) names += (names.empty() ? "" : ", ") + std::string(field.name);
    return "no such field (got " + name + ", need " + names + ")";
}

template <class Limb>
std::string hex_of(std::span<const Limb> limbs) {
    std::string text = "0x";
    for (std::size_t i = limbs.size(); i-- > 0;) {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%0*" PRIx64, static_cast<int>(2 * sizeof(Limb)),
                      std::uint64_t{limbs[i]});
        text += digits;
    }
    return text;
}

// Empty if the text is no number or the number has more than 384 bits.
FieldNumber parse_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    std::array<std::uint32_t, 12> words{};
    for (const char c : text) {
        const bool upper = hexadecimal && c >= 'A' && c <= 'F';
        const std::size_t digit =
            std::string_view("0123456789abcdef").find(upper ? static_cast<char>(c - 'A' + 'a') : c);
        if (digit >= (hexadecimal ? 16u : 10u)) return {};
        std::uint64_t carry = digit;
        for (std::uint32_t& word : words) {
            carry += std::uint64_t{word} * (hexadecimal ? 16 : 10);
            word = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) return {};
    }
    if (text.empty()) return {};
    FieldNumber limbs;
    for (std::size_t i = 0; i < words.size(); i += 2)
        limbs.push_back(std::uint64_t{words[i + 1]} << 32 | words[i]);
    return limbs;
}

template <class Limb>
bool below(std::span<const Limb> a, std::span<const Limb> b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

std::string place(const Shape& shape, std::size_t axes, std::uint64_t element) {
    if (axes < 2) return "row " + std::to_string(element);
    Shape index(axes);
    for (std::size_t axis = axes; axis-- > 0; element /= shape[axis]) index[axis] = element % shape[axis];
    return "element " + to_string(index);
}

}  // namespace

std::string hex(std::span<const std::uint64_t> limbs) {
    return hex_of(limbs);
}
std::string hex(std::span<const std::uint32_t> limbs) {
    return hex_of(limbs);
}

std::string hex_modulus(const FieldInfo& field) {
    const std::string text = hex(std::span(field.modulus).first(field.limbs));
    return field.limb_bytes == 8 ? text : "0x" + text.substr(text.size() - 8);
}

CLI::Option* add_field_name(CLI::App& command, std::string& name) {
    return command.add_option("--field", name, "One of `weft field list`")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::Validator(check_field, ""));
}

CLI::Option* add_field_number(CLI::App& command, const std::string& name, FieldNumber& number,
                              const std::string& text) {
    return command
        .add_option_function<std::string>(
            name, [&number](const std::string& word) { number = parse_number(word); }, text)
        ->type_name("NUMBER")
        ->check(CLI::Validator(
            [](const std::string& word) {
                return parse_number(word).empty()
                           ? "need a number of up to 384 bits, decimal or 0x and hexadecimal digits (got " +
                                 word + ")"
                           : std::string();
            },
            ""));
}

void require_canonical(const char* option, const FieldInfo& field, const FieldNumber& number) {
    if (number.empty() || below<std::uint64_t>(number, field.modulus)) return;
    throw Failure(Exit::usage, std::string(option) + ": not canonical (got " + hex(number) +
                                   ", need below p = " + hex_modulus(field) + ")");
}

template <class Limb>
void require_canonical(const ArrayInput& input, std::span<const Limb> values, const FieldInfo& field,
                       std::size_t axes) {
    std::vector<Limb> p;
    for (std::size_t i = 0; i < field.limbs; ++i) p.push_back(static_cast<Limb>(field.modulus[i]));
    for (std::size_t i = 0; i < values.size(); i += p.size()) {
        const auto element = values.subspan(i, p.size());
        if (below<Limb>(element, p)) continue;
        input.refuse(place(input.shape(), axes, i / p.size()) + " is not canonical (got " + hex(element) +
                     ", need below p = " + hex_modulus(field) + ")");
    }
}
template void require_canonical(const ArrayInput&, std::span<const std::uint64_t>, const FieldInfo&,
                                std::size_t);
template void require_canonical(const ArrayInput&, std::span<const std::uint32_t>, const FieldInfo&,
                                std::size_t);

}  // namespace weft::tool
