// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/gram/gram_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/version.hpp>

#include "base/cache_file.hpp"
#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops_vulkan/gram/gram.hpp"

namespace weft::kernels {
namespace {

bool has_shape(const std::vector<MatrixShape>& shapes) {
    return std::find(shapes.begin(), shapes.end(), MatrixShape{16, 16, 16}) != shapes.end();
}

// A few distinct amplitudes that float16 does not hold, in an odd number. What the high parts lose adds up to
// about 1e-4, twenty times the bound, so a product without the low parts, or with sums that were cut short,
// cannot pass.
constexpr std::uint64_t kRows = 40, kAmplitudes = 3001;
constexpr double kBound = 5e-6;

std::vector<c32> probe_states() {
    std::vector<c32> states(kRows * kAmplitudes);
    const double modulus = 1 / std::sqrt(static_cast<double>(kAmplitudes));
    for (std::uint64_t r = 0; r < kRows; ++r)
        for (std::uint64_t k = 0; k < kAmplitudes; ++k)
            states[r * kAmplitudes + k] =
                c32(std::polar(modulus, 0.6 + 1e-3 * static_cast<double>(r) + (k % 3 == 0 ? 0.011 : 0.0)));
    return states;
}

double largest_error(const std::vector<c32>& states, const std::vector<float>& k) {
    double worst = 0;
    for (std::uint64_t i = 0; i < kRows; i += 3)
        for (std::uint64_t j = 0; j < kRows; ++j) {
            std::complex<double> sum = 0;
            for (std::uint64_t a = 0; a < kAmplitudes; ++a)
                sum += std::complex<double>(states[i * kAmplitudes + a]) *
                       std::conj(std::complex<double>(states[j * kAmplitudes + a]));
            const double error = std::abs(static_cast<double>(k[i * kRows + j]) - std::norm(sum));
            worst = error <= worst ? worst : error;  // NaN stays
        }
    return worst;
}

double error_of(Backend& backend, const GramPlan& plan) {
    const std::vector<c32> states = probe_states();
    Stream stream(backend);
    GramProduct product(stream, plan);
    Buffer<c32> resident(backend, states.size(), "gram probe");
    Buffer<std::uint32_t> planes(backend, plan.packed_bytes(kRows) / 4, "gram probe");
    Buffer<float> k(backend, kRows * kRows, "gram probe");
    stream.upload(states, resident);
    product.pack(stream, resident, kRows, planes);
    product.square(stream, {planes, 0, kRows}, {k, {kRows}});
    return largest_error(states, stream.download(k));
}

/// Why matrix units are not used; empty: they passed.
std::string judge(Backend& backend, GramDevice device) {
    device.matrix_exact = true;
    GramProblem problem{kRows, kRows, kAmplitudes, true};
    problem.unit_rows = true;
    try {
        const double error =
            error_of(backend, plan_gram(problem, device, {.method = GramMethod::matrix_split, .split = 1}));
        if (error <= kBound) return {};
        char text[96];
        std::snprintf(text, sizeof text,
                      "failed the accuracy probe (got an error of %.1e, need at most %.1e)", error, kBound);
        return text;
    } catch (const Error& error) {
        if (error.code() == Errc::device_lost || error.code() == Errc::out_of_memory) throw;
        return std::string("cannot be used: ") + error.what();
    }
}

/// Judgements of this process by device and driver: empty, or why matrix units are not used.
class Judgements {
  public:
    static Judgements& all() {
        static Judgements judgements;
        return judgements;
    }
    /// Fills in what is known. true: nothing is left to find out.
    bool known(const DeviceInfo& info, GramDevice& device) {
        if (!device.matrix_khr && !device.matrix_nv) return true;
        const std::lock_guard lock(mutex_);
        const auto found = judged_.find(key(info, device));
        if (found == judged_.end()) return false;
        device.matrix_reason = found->second;
        device.matrix_exact = found->second.empty();
        return true;
    }
    void add(const DeviceInfo& info, const GramDevice& device, const std::string& judgement) {
        const std::lock_guard lock(mutex_);
        judged_.emplace(key(info, device), judgement);
    }

  private:
    static std::string key(const DeviceInfo& info, const GramDevice& device) {
        return info.uuid + info.driver + (device.matrix_khr ? " khr" : " nv");
    }
    std::mutex mutex_;
    std::map<std::string, std::string> judged_;
};

GramTuningIdentity identity_of(const DeviceInfo& device) {
    return {device.uuid, device.driver, device.driver_version, WEFT_VERSION_STRING, gram_programs_digest()};
}

/// Tiles by device and cache folder. A file is read again when it has changed.
class Shelf {
  public:
    static Shelf& all() {
        static Shelf shelf;
        return shelf;
    }
    KeptTiles find(const Owner& owner) {
        const std::lock_guard lock(mutex_);
        return look_up(owner).kept;
    }
    std::filesystem::path keep(const Owner& owner, const std::string& name, const GramTile& tile) {
        const std::lock_guard lock(mutex_);
        Entry& entry = look_up(owner);  // including what another process wrote meanwhile
        entry.kept.tiles.insert_or_assign(name, tile);
        if (entry.kept.file.empty()) return {};
        const std::string text = encode_gram_tuning(identity_of(owner.device), entry.kept.tiles);
        std::string reason;
        if (!core::write_cache_file(entry.kept.file, std::as_bytes(std::span(text)), &reason)) return {};
        entry.stamp = stamp_of(entry.kept.file);
        entry.kept.state = "used";
        return entry.kept.file;
    }
    void forget(const Owner& owner) {
        const std::lock_guard lock(mutex_);
        const std::filesystem::path file = look_up(owner).kept.file;
        entries_.erase(owner.device.uuid + "\n" + file.string());
        std::error_code error;
        if (!file.empty()) std::filesystem::remove(file, error);
        if (error)
            throw Error(Errc::io,
                        "tune::forget_tiles: cannot remove " + file.string() + " (" + error.message() + ")",
                        error.value());
    }

  private:
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t bytes = 0;
        bool there = false;
        bool operator==(const Stamp&) const = default;
    };
    struct Entry {
        KeptTiles kept;
        Stamp stamp;
        bool read = false;
    };
    static Stamp stamp_of(const std::filesystem::path& file) {
        std::error_code error;
        Stamp stamp;
        stamp.time = std::filesystem::last_write_time(file, error);
        if (!error) stamp.bytes = std::filesystem::file_size(file, error);
        stamp.there = !error;
        return stamp.there ? stamp : Stamp{};
    }
    Entry& look_up(const Owner& owner) {
        std::filesystem::path file;
        if (!owner.plan.tuning.file.empty())
            file = owner.plan.tuning.file.parent_path() / gram_tuning_file_name(identity_of(owner.device));
        Entry& entry = entries_[owner.device.uuid + "\n" + file.string()];
        const Stamp now = file.empty() ? Stamp{} : stamp_of(file);
        if (entry.read && entry.stamp == now) return entry;
        entry = {{{}, file.empty() ? "off" : "absent", file}, now, true};
        if (!now.there) return entry;
        const core::FileRead read = core::read_cache_file(file);
        if (!read.refused.empty()) {
            entry.kept.state = read.absent() ? "absent" : read.refused;
            return entry;
        }
        DecodedGramTuning decoded = decode_gram_tuning(identity_of(owner.device), read.bytes);
        entry.kept.state = decoded.refused.empty() ? "used" : decoded.refused;
        entry.kept.tiles = std::move(decoded.tiles);
        return entry;
    }

    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

}  // namespace

GramDevice gram_limits(const Owner& owner) {
    const DeviceInfo& info = owner.device;
    GramDevice device;
    device.limits = info.limits;
    device.software = info.type == DeviceType::cpu;
    device.float64 = info.shader_float64;
    const bool subgroups = info.limits.min_subgroup_size <= 32 && info.limits.max_subgroup_size >= 32;
    device.matrix_khr = subgroups && has_shape(info.matrix_shapes_khr);
    device.matrix_nv = subgroups && has_shape(info.matrix_shapes_nv);
    device.matrix_reason = device.matrix_khr || device.matrix_nv ? "not judged" : "none that fit";
    Judgements::all().known(info, device);
    return device;
}

GramDevice gram_device(const Owner& owner) {
    GramDevice device = gram_limits(owner);
    if (Judgements::all().known(owner.device, device)) return device;
    // The destructor of this backend waits for the device, which happens once in a process.
    Backend backend = detail::Access::make<Backend>(owner.state);
    Judgements::all().add(owner.device, device, judge(backend, device));
    return gram_limits(owner);
}

KeptTiles kept_tiles(const Owner& owner) {
    return Shelf::all().find(owner);
}
std::filesystem::path keep_tile(const Owner& owner, const std::string& name, const GramTile& tile) {
    return Shelf::all().keep(owner, name, tile);
}
void forget_tiles(const Owner& owner) {
    Shelf::all().forget(owner);
}

}  // namespace weft::kernels
