// SPDX-License-Identifier: Apache-2.0
#include "cli/figures.hpp"

#include <cstdio>
#include <iterator>

namespace weft::tool {
namespace {

std::string text_of(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

std::string three_digits(double value) {
    int places = value < 10 ? 2 : value < 100 ? 1 : 0;
    if (value > 0 && value < 0.0995) places = 3;  // zeros after the point are not significant digits
    for (double least = 0.0995; value > 0 && value < least && places < 15; least /= 10) ++places;
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", places, value);
    return text;
}

std::string grouped(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

std::string si(double value) {
    constexpr const char* kPrefixes[] = {"", " K", " M", " G", " T", " P"};
    std::size_t prefix = 0;
    // A number that would round to 1000 takes the next prefix.
    for (; value >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) value /= 1000;
    return three_digits(value) + kPrefixes[prefix];
}

std::string si(double value, const std::string& unit) {
    const std::string text = si(value);
    return text + (text.find(' ') == std::string::npos ? " " : "") + unit;
}

std::string duration(double seconds) {
    constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
    double value = seconds * 1e9;
    std::size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
    return three_digits(value) + " " + kUnits[unit];
}

std::string percent(double share) {
    if (share > 0 && share < 0.0005) return "<0.1 %";
    return text_of(share < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * share);
}

std::string factor(double value) {
    return text_of(value >= 99.95 ? "%.0fx" : value >= 0.0995 ? "%.3gx" : "%.2gx", value);
}

std::string nine_digits(double value) {
    return text_of("%.9g", value);
}

}  // namespace weft::tool
