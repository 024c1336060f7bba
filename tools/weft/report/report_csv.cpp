// SPDX-License-Identifier: Apache-2.0
#include "cli/figures.hpp"
#include "report/report_files.hpp"

namespace weft::tool {
namespace {

/// Quotes a cell, because names of devices and settings may contain commas.
std::string csv_quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

/// Empty if the figure has no meaning.
std::string known(double value) {
    return value > 0 ? nine_digits(value) : "";
}

}  // namespace

std::string csv_text(const Report& report, const KernelResult& result) {
    std::string settings;
    for (const auto& [name, value] : result.configuration)
        settings += (settings.empty() ? "" : "; ") + name + " " + value;
    std::string out =
        "kernel,process,batch_size,path,device,configuration,median_ms,std_ms,min_ms,max_ms,per_s,gb_per_s,"
        "speedup,over_vulkan,of_ceiling,of_floor,of_resident,compression_ratio,verified,verified_items,"
        "extrapolated,failure\n";
    for (const SizeResult& size : result.sizes)
        for (const PathResult& path : size.paths) {
            const Statistics& s = path.timing.seconds;
            const bool cpu = path.path == ReportPath::cpu;
            const ProcessResult& process = result.processes[size.process];
            out += result.kernel + "," + process.name + "," + std::to_string(size.batch) + "," +
                   to_string(path.path) + "," + csv_quoted(cpu ? report.machine.cpu : report.machine.device) +
                   "," + csv_quoted(settings) + ",";
            if (path.ran())
                out += nine_digits(s.median * 1e3) + "," +
                       (path.extrapolated() ? ",,"
                                            : nine_digits(s.std * 1e3) + "," + nine_digits(s.min * 1e3) +
                                                  "," + nine_digits(s.max * 1e3)) +
                       "," + nine_digits(size.per_s(path)) + "," + nine_digits(size.gb_per_s(path)) + "," +
                       (cpu ? "" : known(path.speedup)) + "," + known(path.over_vulkan) + "," +
                       known(path.of_ceiling()) + "," + known(path.arithmetic_s > 0 ? path.of_floor() : 0) +
                       "," + known(path.of_resident);
            else
                out += ",,,,,,,,,,";
            out += "," + known(size.compression) + "," + (path.verified ? "yes" : "no") + "," +
                   (path.verified_items > 0 ? std::to_string(path.verified_items) : "") + "," +
                   (path.extrapolated()      ? "time"
                    : path.over_extrapolated ? "speedup"
                                             : "") +
                   "," + (path.ran() ? "" : csv_quoted(path.failure)) + "\n";
        }
    return out;
}

}  // namespace weft::tool
