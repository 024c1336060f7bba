// SPDX-License-Identifier: Apache-2.0
// Numbers for people to read: three digits and a prefix, so that small and large numbers are equally legible.
#pragma once

#include <cstdint>
#include <string>

namespace weft::tool {

std::string grouped(std::uint64_t value);  ///< "10,000"
std::string three_digits(double value);    ///< "7.16", without an exponent
std::string si(double value);              ///< "7.16 M"
std::string duration(double seconds);      ///< "12.3 us"
std::string percent(double share);         ///< "83 %"
std::string factor(double value);          ///< "12.3x"
std::string nine_digits(double value);     ///< "7.15827883", or "1e-05": for programs
/// With the unit after the prefix: "45.0 KB/s", "12.3 pairs/s".
std::string si(double value, const std::string& unit);

}  // namespace weft::tool
