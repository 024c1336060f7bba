// SPDX-License-Identifier: Apache-2.0
// Options that take several values with commas between. A value that is given twice counts once, because its
// work would be done twice.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace weft::tool {

/// The values in their order, the second of two equal ones left out.
template <class T>
std::vector<T> without_repeats(const std::vector<T>& values) {
    std::vector<T> once;
    for (const T& value : values)
        if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
    return once;
}

/// "a,b,a" as {value_of("a"), value_of("b")}.
template <class ValueOf>
auto list_of(const std::string& text, const ValueOf& value_of) {
    std::vector<decltype(value_of(text))> values;
    std::istringstream words(text + ",");
    for (std::string word; std::getline(words, word, ',');) values.push_back(value_of(word));
    return without_repeats(values);
}

}  // namespace weft::tool
