// SPDX-License-Identifier: Apache-2.0
// JSON as the caches of measured settings have it: one object of strings without escapes and whole numbers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::core {

/// Members by name. Numbers keep their digits, strings their opening quote, so that one is never taken for
/// the other.
using FlatMembers = std::map<std::string, std::string>;

/// Nothing: not such an object, or a name comes twice.
std::optional<FlatMembers> read_flat_json(std::string_view text);

/// Takes a member out; empty: it is not there.
std::string taken(FlatMembers& members, const std::string& name);

}  // namespace weft::core
