// SPDX-License-Identifier: Apache-2.0
// Completes ops_vulkan/gram/gram_programs.hpp: check_block.
#include <string>

#include <weft/error.hpp>

#include "ops_vulkan/gram/gram_programs.hpp"

namespace weft::kernels {
namespace {

void require(bool good, const std::string& what, std::uint64_t got, const char* relation,
             std::uint64_t need) {
    if (good) return;
    throw Error(Errc::invalid_argument, "GramProduct: " + what + " (got " + std::to_string(got) + ", need " +
                                            relation + " " + std::to_string(need) + ")");
}

void check_factors(const GramPlan& plan, const char* name, const GramRows& rows) {
    const std::uint64_t unit = plan.method == GramMethod::fp64 ? 8 : 4;
    const std::uint64_t got = rows.factors ? rows.factors->range.bytes / unit : 0;
    const std::uint64_t need = plan.problem.scaled ? (rows.factors ? rows.factors->first : 0) + rows.rows : 0;
    require(got >= need, std::string("factors of ") + name + " are too few", got, "at least", need);
}

void check_rows(const GramPlan& plan, const char* name, const GramRows& rows, std::uint64_t most) {
    require(rows.first % 64 == 0, std::string(name) + " begin within 64 packed rows", rows.first,
            "a multiple of", 64);
    require(rows.rows <= most, std::string(name) + " are more than planned", rows.rows, "at most", most);
    const std::uint64_t need = rows.first * plan.row_bytes + plan.packed_bytes(rows.rows);
    require(rows.planes.bytes >= need, std::string("planes of ") + name + " are too small", rows.planes.bytes,
            "bytes", need);
    check_factors(plan, name, rows);
}

}  // namespace

void check_block(const GramPlan& plan, const GramRows& x, const GramRows& y, const GramTarget& target) {
    check_rows(plan, "rows", x, plan.problem.rows);
    check_rows(plan, "columns", y, plan.problem.columns);
    if (x.rows == 0 || y.rows == 0) return;
    require(target.leading <= plan.problem.leading, "leading is larger than planned", target.leading,
            "at most", plan.problem.leading);
    require(target.leading >= y.rows, "leading is too small", target.leading, "at least", y.rows);
    const std::uint64_t element = plan.problem.output == GramReal::float64 ? 8 : 4;
    const std::uint64_t end = target.origin + (x.rows - 1) * target.leading + y.rows;
    require(end <= target.range.bytes / element, "output is too small", target.range.bytes / element,
            "elements", end);
    if (!target.mirror) return;
    require(target.leading >= x.rows, "leading is too small", target.leading, "at least", x.rows);
    const std::uint64_t mirror_end = target.mirror_origin + (y.rows - 1) * target.leading + x.rows;
    require(mirror_end <= target.range.bytes / element, "output is too small", target.range.bytes / element,
            "elements", mirror_end);
}

}  // namespace weft::kernels
