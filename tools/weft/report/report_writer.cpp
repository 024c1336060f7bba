// SPDX-License-Identifier: Apache-2.0
#include "report/report_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/output_file.hpp"
#include "report/report_files.hpp"
#include "report/report_findings.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

std::string summary_name(const std::string& stamp) {
    return "summary_report_" + stamp + ".md";
}

bool has_stamp(const std::string& folder, const std::string& stamp) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().stem().string().ends_with("_" + stamp)) return true;
    return false;
}

/// A stamp that no other set of files in the folder has, not even one that is written at this moment: who
/// creates the summary, which every set has, owns the stamp. Until the summary is written it is empty, and is
/// removed if that does not happen.
class ClaimedStamp {
  public:
    /// `stamp`, or with "_2" and so on behind it. Errors: Failure with Exit::failed.
    ClaimedStamp(const std::string& folder, const std::string& stamp) : stamp_(stamp) {
        for (int i = 2; has_stamp(folder, stamp_) || !claim(folder); ++i)
            stamp_ = stamp + "_" + std::to_string(i);
    }
    ~ClaimedStamp() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    ClaimedStamp(const ClaimedStamp&) = delete;
    ClaimedStamp& operator=(const ClaimedStamp&) = delete;

    const std::string& stamp() const { return stamp_; }
    void written() { path_.clear(); }

  private:
    bool claim(const std::string& folder) {
        const std::string path = (fs::path(folder) / summary_name(stamp_)).string();
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST) return false;
        if (file < 0)
            throw Failure(Exit::failed,
                          path + ": cannot be written (" + std::generic_category().message(errno) + ")");
        ::close(file);
        path_ = path;
        return true;
    }

    std::string stamp_, path_;
};

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
    ClaimedStamp claimed(folder, report.stamp);
    report.stamp = claimed.stamp();
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
    report.files.push_back(summary_name(report.stamp));
    write_text_file((fs::path(folder) / report.files.back()).string(), markdown_text(report));
    claimed.written();
    print_findings(report, folder);
}

}  // namespace weft::tool
