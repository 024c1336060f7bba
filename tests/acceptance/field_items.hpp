// SPDX-License-Identifier: Apache-2.0
// The output of validate_field_add: one line for each item, and the number of items that failed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include <weft/weft.hpp>

#include "field_reference.hpp"

/// The counts of the current item.
struct Item {
    std::size_t checks = 0, wrong = 0;
    std::string first_wrong;

    void expect(bool right, const std::string& what) {
        ++checks;
        if (!right && wrong++ == 0) first_wrong = what;
    }
    /// Makes one check for each element.
    void expect_equal(std::span<const std::uint64_t> got, const reference::Limbs& want,
                      const std::string& what);
};

class Validation {
  public:
    template <class Checks>
    void item(const std::string& id, const std::string& what, Checks&& checks) {
        Item item;
        try {
            checks(item);
        } catch (const std::exception& error) {
            item.expect(false, error.what());
        }
        if (item.checks == 0) item.expect(false, "nothing was checked");
        std::printf("%-7s %-46s %7zu checks, %zu wrong: %s\n", id.c_str(), what.c_str(), item.checks,
                    item.wrong, item.wrong == 0 ? "ok" : "WRONG");
        if (item.wrong != 0) std::printf("        first: %s\n", item.first_wrong.c_str());
        items_wrong_ += item.wrong != 0;
    }
    std::size_t items_wrong() const { return items_wrong_; }

  private:
    std::size_t items_wrong_ = 0;
};

/// T19 to T23: what must be refused, and what must not be changed.
void validate_limits(Validation& validation, weft::Backend& backend);
/// T28: results do not depend on earlier or simultaneous work, nor on the mode.
void validate_state(Validation& validation, weft::Backend& backend);
