// SPDX-License-Identifier: Apache-2.0
#include "commands/profile/profile_run.hpp"

#include <cstdio>
#include <optional>

#include "cli/file_paths.hpp"
#include "cli/number_options.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/profile/profile_report.hpp"
#include "measure/report_measure.hpp"

namespace weft::tool {
namespace {

Json totals(const BatchReport& last, double seconds) {
    return {{"seconds", seconds},
            {"last_run",
             {{"seconds", last.wall_s},
              {"gb_per_s", last.gb_per_s()},
              {"path", to_string(last.path)},
              {"queues", last.queues},
              {"chunks", last.chunks},
              {"bundles", last.bundles},
              {"slots", last.ring_slots}}}};
}

}  // namespace

std::vector<CLI::Option*> ProfileRun::add_to(CLI::App& command) {
    const std::string file = "FILE";
    add_number(command, "--repeats", repeats, "Runs that are measured", {1, 1'000'000});
    add_number(command, "--warmup", warmup, "Runs before those", {0, 1'000'000});
    device.add_to(command, true);  // a report can run on cuda; a single run refuses it
    return {command.add_option("--json", json, "Write the report as JSON")->type_name(file),
            command.add_option("--csv", csv, "Write stages and kernels as CSV")->type_name(file),
            command.add_option("--trace", trace, "Write a trace for ui.perfetto.dev")->type_name(file)};
}

void ProfileRun::require_outputs() const {
    for (const std::string& path : {json, csv, trace}) require_writable(path);
    require_apart(
        {{"--json", json}, {"--csv", csv}, {"--trace", trace}, {"WEFT_TRACE", device.config().trace}});
}

void ProfileRun::run(Backend& backend, const std::string& label, const Json& about, const Work& work,
                     const std::function<void()>& forget, const std::function<void()>& verify) const {
    std::optional<Profile> profile;
    BatchReport last;
    double seconds = 0;
    {
        ProgressBar bar(label);
        std::size_t run = 0;
        const double begin = seconds_now();
        const ProgressCallback show = [&](const Progress& at) {
            const std::size_t done = run * at.total + at.done, total = (warmup + repeats) * at.total;
            const double elapsed = seconds_now() - begin;
            bar.show(
                done, total,
                left_text(
                    done == 0 ? 0 : elapsed * static_cast<double>(total - done) / static_cast<double>(done)));
        };
        for (; run < warmup; ++run) work(show);
        if (warmup != 0) verify();
        forget();
        profile.emplace(backend);
        for (; run < warmup + repeats; ++run) {
            last = work(show);
            seconds += last.wall_s;
        }
    }
    // Read before the check, which is not part of the work.
    const ProfileReport report = profile->report();
    verify();
    if (!trace.empty()) profile->write_trace(trace);
    if (!csv.empty()) write_text_file(csv, report.to_csv());
    if (!json.empty()) {
        Json all = about;
        all["repeats"] = repeats;
        all["warmup"] = warmup;
        all["verified"] = true;
        all.update(totals(last, seconds));
        all["profile"] = Json::parse(report.to_json());
        write_text_file(json, json_text(all));
    }
    std::printf("%s: %zu runs in %.3f ms, results verified\n%s", label.c_str(), repeats, seconds * 1e3,
                report.to_table().c_str());
}

void add_profile(CLI::App& command) {
    CLI::App& profile = *command.add_subcommand(
        "profile", "Reports by size compared with the CPU, and where the time of a run goes");
    profile.require_subcommand(1);
    profile.footer(
        "Example: weft profile field --batch-sizes 1,1000,1000000 --output-dir report\n"
        "Example: weft profile field --elements 65536 --jobs 16 --trace trace.json");
    add_profile_field(profile);
    add_profile_ntt(profile);
    add_profile_encode(profile);
    add_profile_kernel(profile);
    add_profile_lattice(profile);
    add_profile_all(profile);
    add_profile_from(profile);
}

}  // namespace weft::tool
