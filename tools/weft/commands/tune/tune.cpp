// SPDX-License-Identifier: Apache-2.0
// weft tune: measures the engine's settings on this device with streams of field additions, and keeps those
// that are faster.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include <weft/weft.hpp>

#include "cli/figures.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/tune/tune_plan.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_threads.hpp"
#include "device/device_options.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

struct TuneArguments {
    std::uint64_t elements = std::uint64_t{1} << 20;
    std::size_t repeats = 9;
    bool dry_run = false, reset = false, json = false;
    DeviceOptions device;
};

/// One field addition over all elements, from ordinary or page-locked memory.
class TuneWork {
  public:
    TuneWork(Backend& backend, std::uint64_t elements, ReportPath memory) {
        const FieldInfo& field = field_info(Field::bls12_381_fp);
        const std::size_t limbs = elements * field.limbs;
        for (PathArray<std::uint64_t>* array : {&a_, &b_, &out_}) array->make(&backend, limbs, memory);
        fill_field(field, 1, a_.span());
        fill_field(field, 2, b_.span());
        wanted_.resize(limbs);
        cpu_field<std::uint64_t>(field, FieldOp::add, {.a = a_.span(), .b = b_.span(), .out = wanted_},
                                 cpu_threads());
        jobs_ = {{.a = a_.span(), .b = b_.span(), .out = out_.span()}};
    }
    /// Errors: Failure with Exit::failed - a sum is wrong.
    double seconds(Backend& backend, const BatchOptions& options) {
        FieldHostOptions all;
        all.batch = options;
        const double took = field_batch(backend, Field::bls12_381_fp, FieldOp::add, jobs_, all).wall_s;
        verify();
        return took;
    }

  private:
    void verify() {
        if (!std::equal(wanted_.begin(), wanted_.end(), out_.span().begin()))
            throw Failure(Exit::failed, "tune: a sum is wrong");
        std::fill(out_.span().begin(), out_.span().end(), ~std::uint64_t{0});
    }

    PathArray<std::uint64_t> a_, b_, out_;
    std::vector<std::uint64_t> wanted_;
    std::vector<FieldJob> jobs_;
};

/// A setting that was tried.
struct Trial {
    std::string knob, by_default, best;
    TuneComparison comparison;
    bool kept = false;
};

/// Runs one setting a single time and returns the seconds.
using Run = std::function<double()>;

class Tuner {
  public:
    explicit Tuner(const TuneArguments& arguments)
        : arguments_(arguments), config_(arguments.device.config()) {
        // Candidates are compared with the defaults, whatever the environment or an earlier tuning sets.
        config_.cache = false;
        config_.path = Path::automatic;
        config_.chunk_elements.reset();
        config_.ring_slots.reset();
        config_.copy_threads.reset();
        config_.device_local.reset();
        backend_.emplace(open_backend(config_));
        facts_.can_import = backend_->device().import_host_memory;
        facts_.unified = backend_->device().unified_memory;
        const DeviceInfo& device = backend_->device();
        facts_.can_direct =
            facts_.unified || device.host_visible_device_bytes >= device.device_memory_bytes / 2;
        facts_.cores = cpu_threads();
        facts_.batch_bytes = arguments.elements * kBytes;
        facts_.plan = backend_->plan();
        candidates_ = tune_candidates(facts_);
        steps_.emplace(candidates_, arguments.repeats);
        ordinary_.emplace(*backend_, arguments.elements, ReportPath::ordinary);
        page_locked_.emplace(*backend_, arguments.elements, ReportPath::page_locked);
    }

    tune::Engine find() {
        begin_s_ = seconds_now();
        tune_threads();
        steps_->end_setting();
        tune_path("ordinary path", *ordinary_, facts_.plan.ordinary_path, candidates_.ordinary_paths,
                  tuning_.ordinary_path);
        steps_->end_setting();
        tune_path("page-locked path", *page_locked_, facts_.plan.large_path, candidates_.page_locked_paths,
                  tuning_.page_locked_path);
        steps_->end_setting();
        tune_slots();
        steps_->end_setting();
        tune_chunk();
        bar_.hide();
        return tuning_;
    }
    const std::vector<Trial>& trials() const { return trials_; }
    const Backend& backend() const { return *backend_; }

  private:
    static constexpr std::uint64_t kBytes = 3 * 48;  // of an element: two read, one written

    BatchOptions options(const TuneWork& work) const {
        BatchOptions o;
        o.path = &work == &*ordinary_ ? tuning_.ordinary_path : tuning_.page_locked_path;
        o.ring_slots = tuning_.ring_slots.value_or(0);
        if (tuning_.chunk_bytes) o.chunk_elements = std::max<std::uint64_t>(1, *tuning_.chunk_bytes / kBytes);
        return o;
    }
    /// Sum of the seconds for both kinds of memory.
    double both(Backend& backend, const std::function<void(BatchOptions&)>& change) {
        double sum = 0;
        for (TuneWork* work : {&*ordinary_, &*page_locked_}) {
            BatchOptions o = options(*work);
            change(o);
            sum += work->seconds(backend, o);
        }
        return sum;
    }
    /// Measures all of `runs` in turns; the first one is the default.
    std::vector<Statistics> in_turns(const std::vector<Run>& runs) {
        std::vector<std::vector<double>> times(runs.size());
        const auto step = [&](const Run& run) {
            const double seconds = run();
            steps_->run();
            bar_.show(steps_->done(), steps_->total(), left_text(steps_->left_s(seconds_now() - begin_s_)));
            return seconds;
        };
        for (const Run& run : runs) step(run);
        for (std::size_t i = 0; i < arguments_.repeats; ++i)
            for (std::size_t r = 0; r < runs.size(); ++r) times[r].push_back(step(runs[r]));
        std::vector<Statistics> all;
        for (std::vector<double>& t : times) all.push_back(statistics(std::move(t)));
        return all;
    }
    /// The candidate to keep: the fastest, if a second measurement together with the default alone confirms
    /// it.
    std::optional<std::size_t> pick(const std::string& knob, const std::string& by_default, const Run& base,
                                    const std::vector<std::string>& names, const std::vector<Run>& runs) {
        if (runs.empty()) return std::nullopt;
        std::vector<Run> all{base};
        all.insert(all.end(), runs.begin(), runs.end());
        const std::vector<Statistics> first = in_turns(all);
        std::size_t best = 1;
        for (std::size_t i = 2; i < first.size(); ++i)
            if (first[i].median < first[best].median) best = i;
        Trial trial{knob, by_default, names[best - 1], compare(first[0], first[best]), false};
        if (trial.comparison.believable()) {
            const std::vector<Statistics> again = in_turns({base, all[best]});
            trial.comparison = compare(again[0], again[1]);
            trial.kept = trial.comparison.believable();
        }
        trials_.push_back(trial);
        return trial.kept ? std::optional(best - 1) : std::nullopt;
    }
    void tune_threads();
    void tune_path(const char* knob, TuneWork& work, Path by_default, const std::vector<Path>& paths,
                   Path& to);
    void tune_slots();
    void tune_chunk();

    TuneArguments arguments_;
    Config config_;
    TuneFacts facts_;
    TuneCandidates candidates_;
    std::optional<Backend> backend_;
    std::optional<TuneWork> ordinary_, page_locked_;
    tune::Engine tuning_;
    std::vector<Trial> trials_;
    ProgressBar bar_{"tune"};
    std::optional<TuneSteps> steps_;
    double begin_s_ = 0;
};

void Tuner::tune_threads() {
    // The number of threads belongs to a backend, so each number needs its own. The page-locked arrays belong
    // to the first backend, so these runs do not use them.
    std::vector<std::unique_ptr<Backend>> backends;
    std::vector<std::string> names;
    std::vector<Run> runs;
    for (const std::uint32_t threads : candidates_.copy_threads) {
        Config config = config_;
        config.copy_threads = threads;
        backends.push_back(std::make_unique<Backend>(open_backend(config)));
        names.push_back(std::to_string(threads));
        runs.push_back([this, backend = backends.back().get()] { return ordinary_->seconds(*backend, {}); });
    }
    const auto picked = pick(
        "copy threads", std::to_string(facts_.plan.copy_threads),
        [this] { return ordinary_->seconds(*backend_, {}); }, names, runs);
    if (!picked) return;
    tuning_.copy_threads = candidates_.copy_threads[*picked];
    // The later settings are measured with these threads. The plan may also have changed the path for them,
    // and the measurement included that path.
    config_.copy_threads = tuning_.copy_threads;
    const Path path = backends[*picked]->plan().ordinary_path;
    if (path != facts_.plan.ordinary_path) tuning_.ordinary_path = path;
    facts_.plan.ordinary_path = path;
    candidates_.ordinary_paths = tune_candidates(facts_).ordinary_paths;
    page_locked_.reset();
    backend_.emplace(std::move(*backends[*picked]));
    page_locked_.emplace(*backend_, arguments_.elements, ReportPath::page_locked);
}

void Tuner::tune_path(const char* knob, TuneWork& work, Path by_default, const std::vector<Path>& paths,
                      Path& to) {
    std::vector<std::string> names;
    std::vector<Run> runs;
    for (const Path path : paths) {
        names.emplace_back(to_string(path));
        runs.push_back([this, &work, path] {
            BatchOptions o = options(work);
            o.path = path;
            return work.seconds(*backend_, o);
        });
    }
    const auto picked = pick(
        knob, to_string(by_default), [this, &work] { return work.seconds(*backend_, options(work)); }, names,
        runs);
    if (picked) to = paths[*picked];
}

void Tuner::tune_slots() {
    std::vector<std::string> names;
    std::vector<Run> runs;
    for (const std::uint32_t slots : candidates_.slots) {
        names.push_back(std::to_string(slots));
        runs.push_back(
            [this, slots] { return both(*backend_, [=](BatchOptions& o) { o.ring_slots = slots; }); });
    }
    const auto picked = pick(
        "slots", std::to_string(facts_.plan.ring_slots),
        [this] { return both(*backend_, [](BatchOptions&) {}); }, names, runs);
    if (picked) tuning_.ring_slots = candidates_.slots[*picked];
}

void Tuner::tune_chunk() {
    std::vector<std::string> names;
    std::vector<Run> runs;
    for (const std::uint64_t bytes : candidates_.chunk_bytes) {
        names.push_back(std::to_string(bytes >> 20) + " MiB");
        runs.push_back([this, bytes] {
            return both(*backend_, [=](BatchOptions& o) { o.chunk_elements = bytes / kBytes; });
        });
    }
    const auto picked = pick(
        "chunk", "planned", [this] { return both(*backend_, [](BatchOptions&) {}); }, names, runs);
    if (picked) tuning_.chunk_bytes = candidates_.chunk_bytes[*picked];
}

Json json_of(const tune::Engine& tuning) {
    Json json = Json::object();
    if (tuning.chunk_bytes) json["chunk_bytes"] = *tuning.chunk_bytes;
    if (tuning.ring_slots) json["slots"] = *tuning.ring_slots;
    if (tuning.copy_threads) json["copy_threads"] = *tuning.copy_threads;
    if (tuning.page_locked_path != Path::automatic)
        json["page_locked_path"] = to_string(tuning.page_locked_path);
    if (tuning.ordinary_path != Path::automatic) json["ordinary_path"] = to_string(tuning.ordinary_path);
    return json;
}

void print(const TuneArguments& arguments, const Tuner& tuner, const tune::Engine& tuning,
           const std::string& outcome) {
    if (arguments.json) {
        Json json{{"device", tuner.backend().name()},
                  {"driver", tuner.backend().device().driver},
                  {"elements", arguments.elements},
                  {"repeats", arguments.repeats},
                  {"trials", Json::array()},
                  {"tuning", json_of(tuning)},
                  {"outcome", outcome}};
        for (const Trial& t : tuner.trials())
            json["trials"].push_back({{"setting", t.knob},
                                      {"default", t.by_default},
                                      {"best", t.best},
                                      {"gain", t.comparison.gain},
                                      {"noise", t.comparison.noise},
                                      {"kept", t.kept}});
        print_json(json);
        return;
    }
    std::printf("%s: streams of %s field additions, medians of %zu runs in turns\n",
                tuner.backend().name().c_str(), grouped(arguments.elements).c_str(), arguments.repeats);
    std::printf("%-17s %-10s %-10s %8s %8s\n", "setting", "default", "best other", "gain", "noise");
    for (const Trial& t : tuner.trials())
        std::printf("%-17s %-10s %-10s %+7.1f%% %7.1f%%  %s\n", t.knob.c_str(), t.by_default.c_str(),
                    t.best.c_str(), 100 * t.comparison.gain, 100 * t.comparison.noise,
                    t.kept                   ? "kept"
                    : t.comparison.gain <= 0 ? "the default is best"
                                             : "within noise, not kept");
    std::printf("%s\n", outcome.c_str());
}

void run(const TuneArguments& arguments) {
    Config keep = arguments.device.config();
    if (!keep.cache && !arguments.dry_run)
        throw Failure(Exit::usage,
                      "tune: WEFT_CACHE=0 leaves nowhere to keep it (need a cache, or --dry-run)");
    static_cast<void>(open_devices(arguments.device, keep));
    if (arguments.reset) {
        Backend backend = open_backend(keep);
        tune::store_engine(backend, {.ntt_tile_bytes = backend.plan().tuning.values.ntt_tile_bytes});
        if (arguments.json)
            print_json({{"device", backend.name()}, {"outcome", "defaults again"}});
        else
            std::printf("%s: defaults again\n", backend.name().c_str());
        return;
    }
    if (!arguments.dry_run) require_tuning_folder("tune", open_backend(keep));
    Tuner tuner(arguments);
    const tune::Engine tuning = tuner.find();
    std::string outcome = "not stored (--dry-run)";
    if (!arguments.dry_run) {
        Backend backend = open_backend(keep);
        tune::Engine before = backend.plan().tuning.values, kept = tuning;
        kept.ntt_tile_bytes = before.ntt_tile_bytes;  // which weft tune ntt measures
        before.ntt_tile_bytes.reset();
        const bool stored_before = !before.empty();
        tune::store_engine(backend, kept);
        outcome = tune_outcome(tuning, stored_before, backend.plan().tuning.file.string());
    }
    print(arguments, tuner, tuning, outcome);
}

}  // namespace

void add_tune(CLI::App& command) {
    CLI::App& tune = *command.add_subcommand(
        "tune", "Measure copy threads, paths, slots and chunks on this device; keep what gains");
    const auto arguments = std::make_shared<TuneArguments>();
    add_number(tune, "--elements", arguments->elements, "Field elements of a stream, 144 bytes each",
               {1024, std::uint64_t{1} << 26});
    add_number(tune, "--repeats", arguments->repeats, "Runs of each setting", {3, 1000});
    CLI::Option* dry = tune.add_flag("--dry-run", arguments->dry_run, "Measure and print, store nothing");
    tune.add_flag("--reset", arguments->reset, "Forget what is stored for the device")->excludes(dry);
    tune.add_flag("--json", arguments->json, "Print JSON");
    arguments->device.add_to(tune, false, Several::refused);
    tune.footer("Example: weft tune --device 0");
    add_tune_kernel(tune);
    add_tune_ntt(tune);
    tune.callback([arguments, &tune] {
        if (tune.get_subcommands().empty()) run(*arguments);  // otherwise the subcommand runs
    });
}

}  // namespace weft::tool
