// SPDX-License-Identifier: Apache-2.0
// The devices that a setting selects, for any API.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/device/device_match.hpp"

namespace {

using weft::core::DeviceName;
using weft::core::match_devices;
using Indices = std::vector<std::uint32_t>;

std::string uuid_of(const std::string& start) {
    return start + std::string(32 - start.size(), '0');
}

const std::vector<DeviceName> kDevices{{"NVIDIA H100 80GB HBM3", uuid_of("a1b2c3d4")},
                                       {"NVIDIA H100 80GB HBM3", uuid_of("a1b2ffff")},
                                       {"NVIDIA GeForce RTX 4090", uuid_of("12345678")},
                                       {"llvmpipe (LLVM 15)", uuid_of("6d657361"), true}};

TEST_CASE("device match: index, UUID, cpu, part of a name") {
    const struct {
        const char* wanted;
        Indices found;
    } rows[] = {
        {"", {0, 1, 2, 3}},
        {"0", {0}},
        {"03", {3}},
        {"0000000001", {1}},
        // Not an index; numbers of one or two digits match nothing else.
        {"4", {}},
        {"9", {}},
        {"15", {}},
        {"80", {}},
        {"-1", {}},
        {"+1", {}},
        {" 1", {3}},  // in a name
        // Longer numbers may be the start of a UUID, otherwise a part of a name.
        {"1234", {2}},
        {"4090", {2}},
        {"100", {0, 1}},
        {"99999999999", {}},
        {"a1b2", {0, 1}},
        {"A1B2-F", {1}},
        {"a1b2c3d4-0000-0000-0000-000000000000", {0}},
        {"a1b2c3d4-0000-0000-0000-0000000000000", {}},
        {"a1b", {}},
        {"cpu", {3}},
        {"CPU", {3}},
        {"h100", {0, 1}},
        {"GEFORCE rtx", {2}},
        {"LLVM", {3}},
        {"radeon", {}},
        {" ", {}},
        {" \t", {}},
        {"nvidia ", {0, 1, 2}},
        {"all", {0, 1, 2, 3}},
        {"ALL", {0, 1, 2, 3}},
        {"0,1", {}},
    };
    for (const auto& row : rows) {
        CAPTURE(std::string(row.wanted));
        CHECK(match_devices(kDevices, row.wanted) == row.found);
    }
    for (const char* wanted : {"", "0", "cpu", "h100"}) CHECK(match_devices({}, wanted).empty());
}

TEST_CASE("device match: cpu is a kind, not a part of a name; digits of a UUID come before a name") {
    const std::vector<DeviceName> devices{
        {"board with a cpu", uuid_of("dead")}, {"beef card", uuid_of("cafe")}, {"card", uuid_of("beef")}};
    CHECK(match_devices(devices, "cpu").empty());
    CHECK(match_devices(devices, "a cpu") == Indices{0});
    CHECK(match_devices(devices, "beef") == Indices{2});
    CHECK(match_devices(devices, "beef card") == Indices{1});
}

/// "name=0,1;other=2" of a setting, or the text of its error
std::string named(const std::vector<DeviceName>& devices, const std::string& setting) {
    try {
        std::string text;
        for (const weft::core::NamedDevices& n : weft::core::match_setting("call", devices, setting)) {
            text += (text.empty() ? "" : ";") + n.name + "=";
            for (std::size_t i = 0; i < n.indices.size(); ++i)
                text += (i == 0 ? "" : ",") + std::to_string(n.indices[i]);
        }
        return text;
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::invalid_argument);
        return error.what();
    }
}

TEST_CASE("device match: a setting is one name, or names with commas between") {
    const std::vector<DeviceName> devices{{"card A", uuid_of("aaaa")},
                                          {"card B, revision 7", uuid_of("bbbb")},
                                          {"pipe (version 15, 256 bits)", uuid_of("cccc"), true}};
    const std::pair<const char*, const char*> rows[] = {
        {"", "=0,1,2"},
        {"1", "1=1"},
        {"card ", "card =0,1"},  // one name keeps its blanks
        {"all", "all=0,1,2"},
        {"0,2", "0=0;2=2"},
        {"2,0,2", "2=2;0=0;2=2"},
        {" 2 ,\t0 ", "2=2;0=0"},
        {" 2", " 2=2"},
        {" 0", "0=0"},
        {"cpu,CPU", "cpu=2;CPU=2"},
        {"card,cpu", "card=0,1;cpu=2"},
        {"all,aaaa", "all=0,1,2;aaaa=0"},
        {"bbbb-b,radeon", "bbbb-b=;radeon="},
        // Commas within names, of which the longest counts.
        {"card b, revision 7", "card b, revision 7=1"},
        {"card B, revision,0", "card B, revision=1;0=0"},
        {"0, pipe (version 15, 256 bits) ,1", "0=0;pipe (version 15, 256 bits)=2;1=1"},
        {"(version 15, 128 bits", "(version 15=2;128 bits="},
        {", 256 bits", ", 256 bits=2"},
    };
    for (const auto& [setting, found] : rows) {
        CAPTURE(setting);
        CHECK(named(devices, setting) == found);
    }
    for (const char* setting : {"0,,1", ",0", "0,", "0, ,1", ",", " , ", ",,", " ", "\t"}) {
        CAPTURE(setting);
        CHECK(named(devices, setting) == std::string("call: the device setting has an empty name (got \"") +
                                             setting +
                                             "\", need one name, or names with one comma between two)");
    }
    CHECK(named({}, "0,cpu") == "0=;cpu=");
}

}  // namespace
