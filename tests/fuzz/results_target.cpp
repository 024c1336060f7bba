// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as results of weft profile. What is accepted becomes tables and scripts, and its JSON is
// read again.
#include <stdexcept>
#include <string>

#include "fuzz/target.hpp"
#include "report/report_advice.hpp"
#include "report/report_files.hpp"
#include "report/report_read.hpp"

using namespace weft_fuzz;
using namespace weft::tool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Report report;
    try {
        add_results(report, "r.json", text_of(data, size));
    } catch (const std::invalid_argument&) {
        require(report.kernels.empty(), "a refused file adds nothing");
        return 0;
    }
    require(report.kernels.size() == 1, "an accepted file adds a kernel");
    const KernelResult& kernel = report.kernels[0];
    csv_text(report, kernel);
    markdown_text(report);
    plot_script(report, kernel, "p.png");
    combined_script(report, "c.png");
    Report again;
    add_results(again, "r.json", json_text(report, kernel));
    return 0;
}
