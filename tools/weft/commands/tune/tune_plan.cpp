// SPDX-License-Identifier: Apache-2.0
#include "commands/tune/tune_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/output_file.hpp"

namespace weft::tool {
namespace {

std::vector<Path> paths_but(const TuneFacts& facts, Path by_default) {
    std::vector<Path> paths;
    // Copies within one memory should gain nothing, but a driver may differ, so all paths are tried.
    for (const Path path : {Path::staged, Path::direct, Path::host, Path::imported}) {
        if (path == by_default || (path == Path::direct && !facts.can_direct) ||
            (path == Path::imported && !facts.can_import))
            continue;
        // Without a bus, direct and host are the same: the kernel reads host memory.
        if (facts.unified && path == Path::host) continue;
        paths.push_back(path);
    }
    return paths;
}

}  // namespace

TuneCandidates tune_candidates(const TuneFacts& facts) {
    TuneCandidates c;
    c.ordinary_paths = paths_but(facts, facts.plan.ordinary_path);
    c.page_locked_paths = paths_but(facts, facts.plan.large_path);
    std::erase(c.page_locked_paths, Path::imported);  // page-locked memory needs no import
    const unsigned most = std::clamp(facts.cores, 1u, 256u);
    for (unsigned threads = 1; threads < most; threads *= 2) c.copy_threads.push_back(threads);
    c.copy_threads.push_back(most);
    std::erase(c.copy_threads, facts.plan.copy_threads);
    for (const std::uint32_t slots : {2u, 3u, 4u, 6u, 8u})
        if (slots != facts.plan.ring_slots) c.slots.push_back(slots);
    for (std::uint64_t mib = 1; mib <= 128; mib *= 2)
        // With fewer than two chunks, nothing can overlap.
        if (mib << 20 <= facts.batch_bytes / 2) c.chunk_bytes.push_back(mib << 20);
    return c;
}

std::string tune_outcome(const tune::Engine& tuning, bool stored_before, const std::string& file) {
    if (!tuning.empty()) return "stored in " + file;
    // A setting that an earlier run stored is not faster either; otherwise this run would have found it.
    return stored_before
               ? "the defaults measured as good as any setting: the tuning stored earlier is removed"
               : "nothing stored: the defaults stay";
}

void require_tuning_folder(const std::string& command, const Backend& backend) {
    const std::filesystem::path& file = backend.plan().tuning.file;
    if (file.empty()) throw Failure(Exit::failed, command + ": there is no cache folder to keep it in");
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
        throw Failure(Exit::failed, command + ": " + file.parent_path().string() + " cannot be written (" +
                                        error.message() + ")");
    require_writable(file.string());
}

TuneSteps::TuneSteps(const TuneCandidates& candidates, std::size_t repeats) {
    std::size_t end = 0;
    for (const std::size_t values :
         {candidates.copy_threads.size(), candidates.ordinary_paths.size(),
          candidates.page_locked_paths.size(), candidates.slots.size(), candidates.chunk_bytes.size()}) {
        const std::size_t among_all = values + 1, beside_the_default = 2;
        if (values != 0) end += (among_all + beside_the_default) * (repeats + 1);
        ends_.push_back(end);
    }
}

void TuneSteps::run() {
    // A setting may have more values than it seemed, since the ones before it change the plan.
    if (setting_ < ends_.size() && done_ < ends_[setting_]) ++done_;
}

void TuneSteps::end_setting() {
    if (setting_ < ends_.size()) done_ = ends_[setting_++];
}

double TuneSteps::left_s(double elapsed_s) const {
    if (done_ == 0 || done_ >= total()) return 0;
    return elapsed_s * static_cast<double>(total() - done_) / static_cast<double>(done_);
}

double interquartile_range(std::vector<double> values) {
    if (values.size() < 2) return 0;
    std::sort(values.begin(), values.end());
    const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
    const double low = statistics({values.begin(), values.begin() + half}).median;
    const double high = statistics({values.end() - half, values.end()}).median;
    return high - low;
}

TuneComparison compare(const Statistics& by_default, const Statistics& candidate) {
    if (by_default.median <= 0) return {};
    TuneComparison c;
    c.gain = 1 - candidate.median / by_default.median;
    c.noise =
        (interquartile_range(by_default.all) + interquartile_range(candidate.all)) / 2 / by_default.median;
    return c;
}

}  // namespace weft::tool
