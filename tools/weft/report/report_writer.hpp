// SPDX-License-Identifier: Apache-2.0
// A report's files in its folder.
#pragma once

#include <memory>
#include <string>

#include "report/report_result.hpp"

namespace weft::tool {

struct ReportParts {
    bool results = true;    ///< the figures themselves, as JSON
    bool plot = true;       ///< pictures
    bool combined = false;  ///< one of all kernels together
};

/// Writes a report's files as its kernels come, so that what is there survives whatever ends the command: the
/// summary is always that of the kernels so far. A picture that cannot be made is a note of the report.
class ReportWriter {
  public:
    /// Writes nothing yet; `report` must outlive it.
    ReportWriter(Report& report, std::string folder, const ReportParts& parts);
    ~ReportWriter();

    /// The files of one of the report's kernels, and the summary. Errors: Failure with Exit::failed - a file
    /// cannot be written.
    void add(const KernelResult& result);
    /// The picture of all kernels and the summary; prints findings, advice and names. Errors: as add().
    void finish();

  private:
    class Stamp;
    void claim();
    void write(const std::string& what, const std::string& extension, const std::string& text);
    template <class Script>
    void draw(const std::string& what, Script&& script);
    void write_summary();
    void print() const;

    Report& report_;
    std::string folder_;
    ReportParts parts_;
    std::unique_ptr<Stamp> stamp_;
};

}  // namespace weft::tool
