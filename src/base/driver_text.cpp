// SPDX-License-Identifier: Apache-2.0
#include "base/driver_text.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft::core {
namespace {

// The first few are enough: a faulty kernel may fault in every invocation.
constexpr std::size_t kMostEntries = 4;
constexpr std::size_t kMostDescription = 256;

std::string clean(const std::string& text) {
    std::string result = text.substr(0, std::min(text.find('\0'), kMostDescription));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return result;
}

std::string hex(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string shortened(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    text.resize(most - 3);
    return text + "...";
}

const char* type_text(std::uint32_t type) {
    constexpr const char* kTypes[] = {"no address",
                                      "invalid read",
                                      "invalid write",
                                      "invalid execution",
                                      "instruction pointer (unknown)",
                                      "instruction pointer (invalid)",
                                      "instruction pointer (fault)"};
    return type < std::size(kTypes) ? kTypes[type] : "unknown access";
}

std::string address_text(const DeviceFault::Address& address) {
    // The specification's own rounding: the fault lies in [low, high].
    const std::uint64_t mask = address.precision == 0 ? 0 : address.precision - 1;
    const std::uint64_t low = address.reported & ~mask, high = address.reported | mask;
    return std::string(type_text(address.type)) + " at " +
           (low == high ? hex(low) : hex(low) + ".." + hex(high));
}

std::string vendor_text(const DeviceFault::Vendor& vendor) {
    return clean(vendor.description) + " (code " + hex(vendor.code) + ", data " + hex(vendor.data) + ")";
}

template <class Entry, class Text>
void append(std::string& line, const std::vector<Entry>& entries, Text text) {
    for (std::size_t i = 0; i < std::min(entries.size(), kMostEntries); ++i)
        line += (line.empty() ? "" : "; ") + text(entries[i]);
    if (entries.size() > kMostEntries)
        line += "; and " + std::to_string(entries.size() - kMostEntries) + " more";
}

}  // namespace

std::string fault_text(const DeviceFault& fault) {
    std::string line = clean(fault.description);
    append(line, fault.addresses, address_text);
    append(line, fault.vendor, vendor_text);
    return shortened(std::move(line), kMostFaultBytes);
}

std::string message_text(std::string_view text, std::span<const MessageObject> objects) {
    std::string names;
    for (const MessageObject& object : objects) {
        // Most layers name the objects themselves.
        if (object.name.empty() || text.find(object.name) != std::string_view::npos) continue;
        names +=
            (names.empty() ? " [" : ", ") + hex(object.handle) + " is \"" + std::string(object.name) + "\"";
    }
    return shortened(std::string(text) + names + (names.empty() ? "" : "]"), kMostMessageBytes);
}

}  // namespace weft::core
