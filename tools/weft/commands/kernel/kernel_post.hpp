// SPDX-License-Identifier: Apache-2.0
// What `weft kernel` does on the host with a finished K: options for the functions of
// weft/ops/kernel_post.hpp. The order is --center, --clip, then --alignment and --polarity of the K that is
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <weft/array.hpp>

#include "cli/file_paths.hpp"
#include "cli/print_json.hpp"

namespace weft::tool {

struct KernelPost {
    bool center = false, clip = false;
    std::string alignment, polarity;  ///< files of labels

    void add_to(CLI::App& kernel);
    bool wanted() const { return center || clip || !alignment.empty() || !polarity.empty(); }
};

/// Labels in memory, already checked.
class KernelLabels {
  public:
    /// Errors: Failure with Exit::usage - a file that cannot be read, a number of labels other than the rows
    /// of K, a label that is neither 1 nor -1.
    KernelLabels(const KernelPost& post, std::uint64_t rows);
    const std::vector<NamedFile>& files() const noexcept { return files_; }
    const std::vector<double>& alignment() const noexcept { return alignment_; }
    const std::vector<double>& polarity() const noexcept { return polarity_; }

  private:
    std::vector<double> read(const char* role, const std::string& path, std::uint64_t rows);

    std::vector<NamedFile> files_;
    std::vector<double> alignment_, polarity_;
};

/// Results of the options that were given.
struct KernelPostResult {
    std::optional<std::uint64_t> negative;  ///< eigenvalues that --clip set to 0
    std::optional<double> alignment, polarity;

    std::string text() const;  ///< "alignment 0.512, polarity 12.3"
    void add_to(Json& json) const;
};

/// `k` is [rows, rows] float32 or float64; changed in place.
KernelPostResult apply(const KernelPost& post, const KernelLabels& labels, const HostArray& k,
                       std::uint64_t rows);

}  // namespace weft::tool
