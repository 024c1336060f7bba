// SPDX-License-Identifier: Apache-2.0
// Writes the files of a report into its folder.
#pragma once

#include <memory>
#include <string>

#include "measure/report_result.hpp"

namespace weft::tool {

struct ReportParts {
    bool results = true;    ///< the figures themselves, as JSON
    bool plot = true;       ///< pictures
    bool combined = false;  ///< a picture of all kernels together
};

/// Writes the files of a report kernel by kernel, so that finished files remain however the command ends. The
/// summary always covers the kernels so far. If a picture cannot be made, the report gets a note.
class ReportWriter {
  public:
    /// Writes nothing yet. `report` must outlive the object.
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
