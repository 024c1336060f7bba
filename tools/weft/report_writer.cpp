// SPDX-License-Identifier: Apache-2.0
#include "report_writer.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "report_files.hpp"
#include "report_findings.hpp"
#include "text_file.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

/// Writes the files of a report, and keeps their names in it.
class Writer {
  public:
    Writer(Report& report, std::string folder, bool plot)
        : report_(report), folder_(std::move(folder)), plot_(plot) {}

    void write(const std::string& what, const std::string& extension, const std::string& text) {
        const std::string name = what + "_" + report_.stamp + "." + extension;
        write_text_file((fs::path(folder_) / name).string(), text);
        report_.files.push_back(name);
    }
    /// `script` makes the text for the name of a picture.
    template <class Script>
    void draw(const std::string& what, Script&& script) {
        if (!plot_) return;
        const std::string picture = what + "_" + report_.stamp + ".png";
        write(what, "gp", script(picture));
        const fs::path file = fs::absolute(fs::path(folder_) / report_.files.back());
        const std::string failure = run_gnuplot(folder_, file.string());
        std::error_code error;
        if (failure.empty() && fs::exists(fs::path(folder_) / picture, error)) {
            report_.files.push_back(picture);
            return;
        }
        fs::remove(fs::path(folder_) / picture, error);
        const std::string note = "No picture " + picture + ": " +
                                 (failure.empty() ? "gnuplot wrote none" : failure) +
                                 "; its script is there.";
        report_.notes.push_back(note);
        std::printf("%s\n", note.c_str());
    }

  private:
    Report& report_;
    std::string folder_;
    bool plot_;
};

void print_findings(const Report& report, const std::string& folder) {
    std::printf("\n");
    for (const KernelResult& result : report.kernels)
        for (const std::string& finding : findings(result)) std::printf("%s\n", finding.c_str());
    std::printf("\nwritten to %s:\n", folder.c_str());
    for (const std::string& file : report.files) std::printf("  %s\n", file.c_str());
}

}  // namespace

void write_report(Report& report, const std::string& folder, const ReportParts& parts) {
    Writer writer(report, folder, parts.plot);
    bool any_ran = false;
    for (const KernelResult& result : report.kernels) {
        if (parts.results) writer.write(result.kernel + "_results", "json", json_text(report, result));
        writer.write(result.kernel + "_summary", "csv", csv_text(report, result));
        any_ran = any_ran || result.any_ran();
        if (result.any_ran())
            writer.draw(result.kernel + "_profile",
                        [&](const std::string& picture) { return plot_script(report, result, picture); });
    }
    if (parts.combined && any_ran)
        writer.draw("all_profile",
                    [&](const std::string& picture) { return combined_script(report, picture); });
    report.files.push_back("summary_report_" + report.stamp + ".md");
    write_text_file((fs::path(folder) / report.files.back()).string(), markdown_text(report));
    print_findings(report, folder);
}

}  // namespace weft::tool
