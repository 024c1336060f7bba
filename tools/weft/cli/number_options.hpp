// SPDX-License-Identifier: Apache-2.0
// Options that take numbers. Every subcommand uses these for all of its numbers, because CLI11's own
// conversions accept NaN, clamp numbers that are too large and read 010 as eight.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/lists.hpp"
#include "cli/number_text.hpp"

namespace weft::tool {

template <class T>
CLI::Option* check_number(CLI::Option* option, const Bounds<T>& bounds) {
    const char* type = std::is_floating_point_v<T> ? "NUMBER" : "N";
    return option->type_name(type)->check(CLI::Validator(
        [bounds](const std::string& word) {
            try {
                parse_number(word, bounds);
                return std::string();
            } catch (const std::invalid_argument& error) {
                return std::string(error.what());
            }
        },
        ""));
}

/// `value` holds the default, which the help shows, until the option is given.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& value, const std::string& text,
                        const Bounds<T>& bounds) {
    CLI::Option* option = command.add_option_function<std::string>(
        name, [&value, bounds](const std::string& word) { value = parse_number(word, bounds); }, text);
    return check_number(option, bounds)->default_str(plain_text(value));
}

/// The same for an option whose absence has a meaning.
template <class T>
CLI::Option* add_number_or_none(CLI::App& command, const std::string& name, std::optional<T>& value,
                                const std::string& text, const Bounds<T>& bounds) {
    CLI::Option* option = command.add_option_function<std::string>(
        name, [&value, bounds](const std::string& word) { value = parse_number(word, bounds); }, text);
    return check_number(option, bounds);
}

/// The same for several numbers, separated by commas.
template <class T>
CLI::Option* add_numbers(CLI::App& command, const std::string& name, std::vector<T>& values,
                         const std::string& text, const Bounds<T>& bounds) {
    CLI::Option* option = command.add_option_function<std::vector<std::string>>(
        name,
        [&values, bounds](const std::vector<std::string>& words) {
            values.clear();
            for (const std::string& word : words) values.push_back(parse_number(word, bounds));
            values = without_repeats(values);
        },
        text);
    std::string shown;
    for (const T value : values) shown += (shown.empty() ? "" : ",") + plain_text(value);
    return check_number(option, bounds)->delimiter(',')->default_str(shown);
}

}  // namespace weft::tool
