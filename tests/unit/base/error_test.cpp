// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <weft/error.hpp>

using weft::Errc;

TEST_CASE("every error code has its stable name") {
    const std::pair<Errc, const char*> names[] = {
        {Errc::invalid_argument, "invalid_argument"},
        {Errc::invalid_shader, "invalid_shader"},
        {Errc::no_loader, "no_loader"},
        {Errc::no_device, "no_device"},
        {Errc::unsupported, "unsupported"},
        {Errc::out_of_memory, "out_of_memory"},
        {Errc::device_lost, "device_lost"},
        {Errc::cancelled, "cancelled"},
        {Errc::io, "io"},
        {Errc::driver, "driver"},
    };
    for (const auto& [code, name] : names) CHECK(std::string(weft::to_string(code)) == name);
    CHECK(std::string(weft::to_string(static_cast<Errc>(99))) == "unknown");
}

TEST_CASE("an error carries text, code and native code") {
    const weft::Error error(Errc::driver, "submit: failed", -4);
    CHECK(std::string(error.what()) == "submit: failed");
    CHECK(error.code() == Errc::driver);
    CHECK(error.native_code() == -4);
    CHECK(weft::Error(Errc::io, "x").native_code() == 0);
}
