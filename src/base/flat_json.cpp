// SPDX-License-Identifier: Apache-2.0
#include "base/flat_json.hpp"

#include <algorithm>

namespace weft::core {
namespace {

class FlatReader {
  public:
    explicit FlatReader(std::string_view text) : text_(text) {}

    std::optional<FlatMembers> read() {
        FlatMembers members;
        if (!take('{')) return std::nullopt;
        do {
            const std::string name = string(), value = take(':') ? (peek() == '"' ? string() : digits()) : "";
            if (name.empty() || value.empty() || !members.emplace(name.substr(1), value).second)
                return std::nullopt;
        } while (take(','));
        if (!take('}')) return std::nullopt;
        skip();
        return text_.empty() ? std::optional(members) : std::nullopt;
    }

  private:
    void skip() {
        while (!text_.empty() && std::string_view(" \t\r\n").find(text_.front()) != std::string_view::npos)
            text_.remove_prefix(1);
    }
    char peek() {
        skip();
        return text_.empty() ? '\0' : text_.front();
    }
    bool take(char c) {
        if (peek() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    std::string string() {
        if (!take('"')) return {};
        const std::size_t end = text_.find_first_of("\"\\\n");
        if (end == std::string_view::npos || text_[end] != '"') return {};
        const std::string value = '"' + std::string(text_.substr(0, end));
        text_.remove_prefix(end + 1);
        return value;
    }
    std::string digits() {
        const std::size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
        const std::string value(text_.substr(0, end));
        text_.remove_prefix(end);
        return value;
    }

    std::string_view text_;
};

}  // namespace

std::optional<FlatMembers> read_flat_json(std::string_view text) {
    return FlatReader(text).read();
}

std::string taken(FlatMembers& members, const std::string& name) {
    const auto it = members.find(name);
    if (it == members.end()) return {};
    std::string value = it->second;
    members.erase(it);
    return value;
}

}  // namespace weft::core
