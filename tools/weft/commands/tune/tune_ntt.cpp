// SPDX-License-Identifier: Apache-2.0
// weft tune ntt: measures the size of the tiles that transforms hold in shared memory, and keeps the fastest.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/tune/tune_plan.hpp"
#include "cpu/cpu_field.hpp"
#include "device/device_options.hpp"
#include "measure/report_measure.hpp"

namespace weft::tool {
namespace {

struct TuneNttArguments {
    std::uint32_t log_size = 0;  // 0: chosen by device
    std::size_t repeats = 9;
    bool dry_run = false, reset = false, json = false;
    DeviceOptions device;
};

/// Transforms of one field that fill a device, by any tile.
class NttTrial {
  public:
    virtual ~NttTrial() = default;
    /// Errors: Failure with Exit::failed - a value differs from those of the planned tile.
    virtual double seconds(std::size_t tile) = 0;
    /// Tiles that the device has for this field, of tile_bytes; the first is the planned one.
    virtual bool has(std::size_t tile) const = 0;
};

template <class Limb>
class FieldTrial : public NttTrial {
  public:
    FieldTrial(Backend& backend, Field field, std::uint32_t log_size, std::uint64_t bytes,
               const std::vector<std::uint64_t>& tiles)
        : field_(field_info(field)),
          shape_{.log_size = log_size,
                 .batch = std::max<std::uint64_t>(1, bytes / field_.element_bytes >> log_size)},
          stream_(backend),
          in_(backend, shape_.elements() * field_.limbs, "tune ntt"),
          out_(backend, in_.size(), "tune ntt") {
        std::vector<Limb> values(in_.size());
        fill_field(field_, 1, std::span<Limb>(values));
        stream_.upload(values, in_);
        for (const std::uint64_t tile : tiles) steps_.push_back(steps_of(tile));
        run(steps_[0]);
        wanted_ = stream_.download(out_);
    }
    double seconds(std::size_t tile) override {
        const double begin = seconds_now();
        run(steps_[tile]);
        const double took = seconds_now() - begin;
        if (!checked_[tile] && stream_.download(out_) != wanted_)
            throw Failure(Exit::failed,
                          std::string("tune ntt: a value of ") + to_string(field_.field) + " is wrong");
        checked_[tile] = true;
        stream_.fill(out_.view(), ~0u);
        stream_.wait();
        return took;
    }
    bool has(std::size_t tile) const override { return steps_[tile].dispatches() != 0; }

  private:
    /// Empty: the device has no such tile.
    Sequence steps_of(std::uint64_t tile_bytes) {
        NttOptions options{.order = NttOrder::nr};
        for (std::uint64_t elements = tile_bytes / field_.element_bytes; elements > 1; elements /= 2)
            ++options.tile_bits;
        checked_.push_back(false);
        try {
            return stream_.record([&](Stream& steps) {
                ntt(steps, field_.field, NttDirection::forward, in_, out_, shape_, options);
            });
        } catch (const Error& error) {
            if (error.code() != Errc::invalid_argument) throw;
            return stream_.record([](Stream&) {});
        }
    }
    void run(const Sequence& steps) {
        stream_.replay(steps);
        stream_.wait();
    }

    const FieldInfo& field_;
    const NttShape shape_;
    Stream stream_;
    Buffer<Limb> in_, out_;
    std::vector<Sequence> steps_;
    std::vector<bool> checked_;
    std::vector<Limb> wanted_;
};

/// A tile beside the planned ones, which are tile 0.
struct TileTrial {
    std::uint64_t bytes = 0;
    TuneComparison comparison;
};

class NttTuner {
  public:
    NttTuner(Backend& backend, const TuneNttArguments& arguments) : repeats_(arguments.repeats) {
        const bool software = backend.device().type == DeviceType::cpu;
        const std::uint32_t log_size = arguments.log_size != 0 ? arguments.log_size : software ? 12 : 20;
        const std::uint64_t bytes = software ? std::uint64_t{1} << 20 : std::uint64_t{1} << 27;
        std::uint32_t most = 0;
        for (const Field field : {Field::babybear, Field::goldilocks, Field::bn254_fr}) {
            const std::uint32_t largest = ntt_max_log_size(backend.device(), field);
            most = std::max(most, largest);
            if (log_size > largest) continue;
            if (field_info(field).limb_bytes == 4)
                fields_.push_back(
                    std::make_unique<FieldTrial<std::uint32_t>>(backend, field, log_size, bytes, tiles_));
            else
                fields_.push_back(
                    std::make_unique<FieldTrial<std::uint64_t>>(backend, field, log_size, bytes, tiles_));
        }
        if (fields_.empty())
            throw Failure(Exit::usage, "tune ntt: --log-size is too large for this device (got " +
                                           std::to_string(log_size) + ", need at most " +
                                           std::to_string(most) + ")");
    }
    /// The comparison of each tile with the planned ones, in the order of tiles().
    std::vector<TileTrial> measure() {
        std::vector<TileTrial> trials;
        for (std::size_t tile = 1; tile < tiles_.size(); ++tile)
            if (std::all_of(fields_.begin(), fields_.end(), [&](const auto& f) { return f->has(tile); }))
                trials.push_back({tiles_[tile], {}});
        ProgressBar bar("tune ntt");
        const double begin = seconds_now();
        for (std::size_t i = 0; i < trials.size(); ++i) {
            const auto at = std::find(tiles_.begin(), tiles_.end(), trials[i].bytes);
            trials[i].comparison = against_planned(static_cast<std::size_t>(at - tiles_.begin()));
            const double share = static_cast<double>(i + 1) / static_cast<double>(trials.size());
            bar.show(i + 1, trials.size(), left_text((seconds_now() - begin) * (1 - share) / share));
        }
        return trials;
    }

  private:
    /// All fields count alike: each time is in units of the planned one.
    TuneComparison against_planned(std::size_t tile) {
        std::vector<double> planned(repeats_, 0), tried(repeats_, 0);
        for (const auto& field : fields_) {
            std::vector<double> first, second;
            field->seconds(0), field->seconds(tile);  // the first runs warm up
            for (std::size_t i = 0; i < repeats_; ++i) {
                first.push_back(field->seconds(0));
                second.push_back(field->seconds(tile));
            }
            const double unit = statistics(first).median;
            for (std::size_t i = 0; i < repeats_; ++i)
                planned[i] += first[i] / unit, tried[i] += second[i] / unit;
        }
        return compare(statistics(std::move(planned)), statistics(std::move(tried)));
    }

    const std::vector<std::uint64_t> tiles_{0, 4096, 8192, 16384, 32768};
    std::size_t repeats_;
    std::vector<std::unique_ptr<NttTrial>> fields_;
};

const TileTrial* best_of(const std::vector<TileTrial>& trials) {
    const TileTrial* best = nullptr;
    for (const TileTrial& trial : trials)
        if (trial.comparison.believable() &&
            (best == nullptr || trial.comparison.gain > best->comparison.gain))
            best = &trial;
    return best;
}

void print(const TuneNttArguments& arguments, const Backend& backend, const std::vector<TileTrial>& trials,
           const TileTrial* best, const std::string& outcome) {
    if (arguments.json) {
        Json json{{"device", backend.name()},
                  {"repeats", arguments.repeats},
                  {"trials", Json::array()},
                  {"outcome", outcome}};
        for (const TileTrial& trial : trials)
            json["trials"].push_back({{"tile_bytes", trial.bytes},
                                      {"gain", trial.comparison.gain},
                                      {"noise", trial.comparison.noise},
                                      {"best", &trial == best}});
        return print_json(json);
    }
    std::printf("%s: tiles of transforms against the planned ones, %zu runs in turns\n",
                backend.name().c_str(), arguments.repeats);
    for (const TileTrial& trial : trials)
        std::printf("%6llu bytes %+7.1f%% %7.1f%% noise%s\n", static_cast<unsigned long long>(trial.bytes),
                    100 * trial.comparison.gain, 100 * trial.comparison.noise,
                    &trial == best ? "  best" : "");
    std::printf("%s\n", outcome.c_str());
}

/// Keeps the tile beside the settings of `weft tune`; null: the planned ones.
std::string store(const Backend& backend, const TileTrial* best) {
    tune::Engine kept = backend.plan().tuning.values;
    const bool before = kept.ntt_tile_bytes.has_value();
    kept.ntt_tile_bytes.reset();
    if (best != nullptr) kept.ntt_tile_bytes = best->bytes;
    if (before || best != nullptr) tune::store_engine(backend, kept);
    return best != nullptr ? "stored in " + backend.plan().tuning.file.string()
           : before        ? "the planned tiles are as good: the stored one is removed"
                           : "nothing stored: the planned tiles stay";
}

void run(const TuneNttArguments& arguments) {
    const Config keep = arguments.device.config();
    if (!keep.cache && !arguments.dry_run)
        throw Failure(Exit::usage,
                      "tune ntt: WEFT_CACHE=0 leaves nowhere to keep it (need a cache, or --dry-run)");
    static_cast<void>(open_devices(arguments.device, keep));
    Backend stored = open_backend(keep);
    if (arguments.reset) {
        store(stored, nullptr);
        if (arguments.json)
            print_json({{"device", stored.name()}, {"outcome", "planned tiles again"}});
        else
            std::printf("%s: planned tiles again\n", stored.name().c_str());
        return;
    }
    if (!arguments.dry_run) require_tuning_folder("tune ntt", stored);
    // Tiles are compared with the planned ones, whatever was stored earlier.
    Config plain = keep;
    plain.cache = false;
    Backend backend = open_backend(plain);
    const std::vector<TileTrial> trials = NttTuner(backend, arguments).measure();
    const TileTrial* const best = best_of(trials);
    const std::string outcome = arguments.dry_run ? "not stored (--dry-run)" : store(stored, best);
    print(arguments, backend, trials, best, outcome);
}

}  // namespace

void add_tune_ntt(CLI::App& tune) {
    CLI::App& command =
        *tune.add_subcommand("ntt", "Measure how large the tiles of transforms are best; keep what gains");
    const auto arguments = std::make_shared<TuneNttArguments>();
    add_number(command, "--log-size", arguments->log_size,
               "Transforms of 2^this elements, 4 to 27; without it 20, on a software device 12",
               {.least = 4, .most = 27, .text = "4 to 27"});
    add_number(command, "--repeats", arguments->repeats, "Runs of each tile", {3, 1000});
    CLI::Option* dry = command.add_flag("--dry-run", arguments->dry_run, "Measure and print, store nothing");
    command.add_flag("--reset", arguments->reset, "Forget the tile that is stored for the device")
        ->excludes(dry);
    command.add_flag("--json", arguments->json, "Print JSON");
    arguments->device.add_to(command, false, Several::refused);
    command.footer("Example: weft tune ntt --log-size 24");
    command.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
