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
#include "report/report_advice.hpp"
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

}  // namespace

/// A stamp that no other set of files in the folder has, not even one that another process writes at this
/// moment. Every set has a summary, and the process that creates the summary owns the stamp. The summary is
/// empty until it is written, and is removed if it never is.
class ReportWriter::Stamp {
  public:
    /// `stamp`, or `stamp` followed by "_2" and so on. Errors: Failure with Exit::failed.
    Stamp(const std::string& folder, const std::string& stamp) : stamp_(stamp) {
        for (int i = 2; has_stamp(folder, stamp_) || !claim(folder); ++i)
            stamp_ = stamp + "_" + std::to_string(i);
    }
    ~Stamp() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    Stamp(const Stamp&) = delete;
    Stamp& operator=(const Stamp&) = delete;

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

ReportWriter::ReportWriter(Report& report, std::string folder, const ReportParts& parts)
    : report_(report), folder_(std::move(folder)), parts_(parts) {}

ReportWriter::~ReportWriter() = default;

void ReportWriter::claim() {
    if (stamp_ != nullptr) return;
    stamp_ = std::make_unique<Stamp>(folder_, report_.stamp);
    report_.stamp = stamp_->stamp();
}

void ReportWriter::write(const std::string& what, const std::string& extension, const std::string& text) {
    const std::string name = what + "_" + report_.stamp + "." + extension;
    write_text_file((fs::path(folder_) / name).string(), text);
    report_.files.push_back(name);
}

/// `script` makes the text of a script from the name of its picture.
template <class Script>
void ReportWriter::draw(const std::string& what, Script&& script) {
    if (!parts_.plot) return;
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
                             (failure.empty() ? "gnuplot wrote none" : failure) + "; its script is there.";
    report_.notes.push_back(note);
    std::printf("%s\n", note.c_str());
}

void ReportWriter::write_summary() {
    const std::string name = summary_name(report_.stamp);
    std::erase(report_.files, name);
    report_.files.push_back(name);  // last
    write_text_file((fs::path(folder_) / name).string(), markdown_text(report_));
    stamp_->written();
}

void ReportWriter::add(const KernelResult& result) {
    claim();
    if (parts_.results) write(result.kernel + "_results", "json", json_text(report_, result));
    write(result.kernel + "_summary", "csv", csv_text(report_, result));
    write_summary();  // before gnuplot, which takes some time
    if (!result.any_ran()) return;
    draw(result.kernel + "_profile",
         [&](const std::string& picture) { return plot_script(report_, result, picture); });
}

void ReportWriter::finish() {
    claim();
    const bool any_ran = std::any_of(report_.kernels.begin(), report_.kernels.end(),
                                     [](const KernelResult& result) { return result.any_ran(); });
    if (parts_.combined && any_ran)
        draw("all_profile", [&](const std::string& picture) { return combined_script(report_, picture); });
    write_summary();
    print();
}

void ReportWriter::print() const {
    std::printf("\n");
    for (const KernelResult& result : report_.kernels)
        for (const std::string& finding : findings(result)) std::printf("%s\n", finding.c_str());
    if (const std::vector<std::string> all = advice(report_); !all.empty()) {
        std::printf("\nadvice:\n");
        for (const std::string& line : all) std::printf("- %s\n", line.c_str());
    }
    std::printf("\nwritten to %s:\n", folder_.c_str());
    for (const std::string& file : report_.files) std::printf("  %s\n", file.c_str());
}

}  // namespace weft::tool
