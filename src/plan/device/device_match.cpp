// SPDX-License-Identifier: Apache-2.0
#include "plan/device/device_match.hpp"

#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include <weft/error.hpp>

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

std::string trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::vector<std::string_view> between_commas(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t comma = text.find(',', begin);
        parts.push_back(text.substr(begin, comma - begin));
        if (comma == std::string_view::npos) return parts;
        begin = comma + 1;
    }
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
    if (wanted.empty() || means_all(wanted)) return matching(devices, [](const DeviceName&) { return true; });
    std::uint32_t index = 0;
    const char* end = wanted.data() + wanted.size();
    const auto [stop, error] = std::from_chars(wanted.data(), end, index, 10);
    const bool number = error == std::errc{} && stop == end;
    if (number && index < devices.size()) return {index};
    // A number that is not an index may still be part of a name ("4090") or of a UUID. One or two digits are
    // part of many names, and a wrong index must not select another device.
    if (number && wanted.size() <= 2) return {};
    if (wanted.find_first_not_of(" \t,") == std::string::npos) return {};  // names may have commas
    if (lower(wanted) == "cpu") return matching(devices, [](const DeviceName& d) { return d.cpu; });
    if (const std::string prefix = uuid_prefix(wanted); !prefix.empty()) {
        Indices by_uuid = matching(devices, [&](const DeviceName& d) { return d.uuid.starts_with(prefix); });
        if (!by_uuid.empty()) return by_uuid;
    }
    return matching(devices, [part = lower(wanted)](const DeviceName& d) {
        return lower(d.name).find(part) != std::string::npos;
    });
}

bool means_all(const std::string& name) {
    return lower(name) == "all";
}

std::vector<NamedDevices> match_setting(const char* function, const std::vector<DeviceName>& devices,
                                        const std::string& setting) {
    if (Indices whole = match_devices(devices, setting); !whole.empty() || setting.empty())
        return {{setting, std::move(whole)}};
    const std::vector<std::string_view> parts = between_commas(setting);
    for (const std::string_view part : parts)
        if (trimmed(part).empty())
            throw Error(Errc::invalid_argument,
                        std::string(function) + ": the device setting has an empty name (got \"" + setting +
                            "\", need one name, or names with one comma between two)");
    std::vector<NamedDevices> found;
    for (std::size_t first = 0; first < parts.size();) {
        // The longest name that a device has, because names may contain commas ("llvmpipe (LLVM 15, 256
        // bits)").
        std::size_t last = parts.size();
        NamedDevices named;
        do {
            --last;
            const char* const end = parts[last].data() + parts[last].size();
            named.name = trimmed({parts[first].data(), static_cast<std::size_t>(end - parts[first].data())});
            named.indices = match_devices(devices, named.name);
        } while (named.indices.empty() && last > first);
        first = last + 1;
        found.push_back(std::move(named));
    }
    return found;
}

}  // namespace weft::core
