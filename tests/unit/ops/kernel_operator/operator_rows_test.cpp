// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace weft;
using namespace weft::kernels;

namespace {

/// Fills each part with the numbers of its rows, as a device would with rows of K. Returns the parts.
std::size_t fill(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows, std::vector<float>& out) {
    const RowParts parts(plan, rows);
    std::vector<std::byte> kept(parts.kept_bytes());
    const std::size_t columns = plan.shape.columns();
    for (std::size_t part = 0; part < parts.count(); ++part) {
        const std::vector<std::uint32_t> some = parts.rows(part);
        if (plan.states) CHECK(std::is_sorted(some.begin(), some.end()));
        const HostArray to = parts.target(part, out, kept);
        REQUIRE(to.size == some.size() * columns);
        CHECK(to.bytes() <= std::uint64_t{16} << 20);
        auto* const values = static_cast<float*>(to.data);
        for (std::size_t i = 0; i < some.size(); ++i)
            std::fill_n(values + i * columns, columns, static_cast<float>(some[i]));
        parts.put(part, out, kept);
    }
    return parts.count();
}

}  // namespace

TEST_CASE("rows go to host memory part by part, and each to its place") {
    constexpr std::size_t kColumns = std::size_t{1} << 20;  // four rows are 16 MiB
    OperatorPlan closed;
    closed.shape = {1000, kColumns, 3};
    OperatorPlan of_states = closed;
    of_states.states.emplace();
    for (const OperatorPlan& plan : {closed, of_states})
        for (const std::vector<std::uint32_t>& rows :
             {std::vector<std::uint32_t>{7}, {1, 2, 3, 4, 900}, {5, 999, 0, 5, 998, 1}}) {
            std::vector<float> out(rows.size() * kColumns, -1.0f);
            CHECK(fill(plan, rows, out) == (rows.size() + 3) / 4);
            for (std::size_t i = 0; i < rows.size(); ++i)
                CHECK(std::count(out.begin() + static_cast<std::ptrdiff_t>(i * kColumns),
                                 out.begin() + static_cast<std::ptrdiff_t>((i + 1) * kColumns),
                                 static_cast<float>(rows[i])) == static_cast<std::ptrdiff_t>(kColumns));
        }
}
