// SPDX-License-Identifier: Apache-2.0
#include "plan/device/device_match.hpp"

#include <cctype>
#include <charconv>
#include <string_view>

namespace weft::core {
namespace {

using Indices = std::vector<std::uint32_t>;

constexpr std::size_t kShortestUuidPrefix = 4;

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

/// The digits of a UUID prefix without dashes; empty if the text cannot be one.
std::string uuid_prefix(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c == '-') continue;
        if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return {};
        digits += c;
    }
    return digits.size() < kShortestUuidPrefix ? std::string() : lower(digits);
}

template <class Test>
Indices matching(const std::vector<DeviceName>& devices, Test test) {
    Indices indices;
    for (std::uint32_t i = 0; i < devices.size(); ++i)
        if (test(devices[i])) indices.push_back(i);
    return indices;
}

}  // namespace

std::vector<std::uint32_t> match_devices(const std::vector<DeviceName>& devices, const std::string& wanted) {
    if (wanted.empty()) return matching(devices, [](const DeviceName&) { return true; });
    std::uint32_t index = 0;
    const char* end = wanted.data() + wanted.size();
    const auto [stop, error] = std::from_chars(wanted.data(), end, index, 10);
    const bool number = error == std::errc{} && stop == end;
    if (number && index < devices.size()) return {index};
    // A number that is not an index may still be part of a name ("4090") or of a UUID. One or two digits are
    // part of many names, and a wrong index must not select another device.
    if (number && wanted.size() <= 2) return {};
    if (wanted.find_first_not_of(" \t") == std::string::npos) return {};
    if (lower(wanted) == "cpu") return matching(devices, [](const DeviceName& d) { return d.cpu; });
    if (const std::string prefix = uuid_prefix(wanted); !prefix.empty()) {
        Indices by_uuid = matching(devices, [&](const DeviceName& d) { return d.uuid.starts_with(prefix); });
        if (!by_uuid.empty()) return by_uuid;
    }
    return matching(devices, [part = lower(wanted)](const DeviceName& d) {
        return lower(d.name).find(part) != std::string::npos;
    });
}

}  // namespace weft::core
