// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/gram_tuning.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>

#include "base/json.hpp"

namespace weft::kernels {
namespace {

constexpr const char* kSchema = "1";

std::string hex(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

/// Text of a driver without characters that read_flat_json has no escapes for.
std::string plain(std::string text) {
    for (char& c : text)
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '?';
    return text;
}

/// Takes the number off the front and returns it; 0: there is none.
std::uint32_t take(std::string_view& text) {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return 0;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return value;
}

bool take_tile(std::string_view text, GramTile& tile) {
    std::uint32_t* const parts[] = {&tile.rows, &tile.columns, &tile.thread_rows, &tile.thread_columns,
                                    &tile.stages};
    constexpr char kBehind[] = {'x', '/', 'x', '/', '\0'};
    for (std::size_t i = 0; i < 5; ++i) {
        *parts[i] = take(text);
        if (*parts[i] == 0 || *parts[i] > 1024) return false;
        if (i == 4) break;
        if (text.empty() || text.front() != kBehind[i]) return false;
        text.remove_prefix(1);
    }
    return text.empty();
}

}  // namespace

std::string gram_tuning_file_name(const GramTuningIdentity& identity) {
    std::string device;
    for (const char c : identity.device)
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) device += c;
    return "gram-" + device + ".json";
}

std::string encode_gram_tuning(const GramTuningIdentity& identity, const GramTiles& tiles) {
    std::string out = std::string("{\n  \"schema\": ") + kSchema;
    const auto text = [&](const std::string& name, const std::string& value) {
        out += ",\n  \"" + name + "\": \"" + value + "\"";
    };
    text("weft", identity.weft);
    text("kernels", hex(identity.kernels));
    text("device", plain(identity.device));
    text("driver", plain(identity.driver));
    out += ",\n  \"driver_version\": " + std::to_string(identity.driver_version);
    for (const auto& [name, tile] : tiles) text(name, to_string(tile));
    return out + "\n}\n";
}

DecodedGramTuning decode_gram_tuning(const GramTuningIdentity& identity, std::string_view text) {
    const auto refuse = [](const char* reason) { return DecodedGramTuning{{}, reason}; };
    if (text.size() > kMaxGramTuningBytes) return refuse("damaged: too long");
    auto members = core::read_flat_json(text);
    if (!members) return refuse("damaged: not what weft writes");
    const auto is = [&](const char* name, const std::string& value) {
        return core::taken(*members, name) == value;
    };
    if (!is("schema", kSchema)) return refuse("of another schema");
    if (!is("weft", '"' + identity.weft)) return refuse("of another version of weft");
    if (!is("kernels", '"' + hex(identity.kernels))) return refuse("of other shaders");
    if (!is("device", '"' + plain(identity.device))) return refuse("belongs to another device");
    if (!is("driver", '"' + plain(identity.driver)) ||
        !is("driver_version", std::to_string(identity.driver_version)))
        return refuse("belongs to another driver");
    DecodedGramTuning decoded;
    for (const auto& [name, value] : *members) {
        GramTile tile;
        if (value.front() != '"' || !take_tile(std::string_view(value).substr(1), tile))
            return refuse("damaged: a member that weft does not write");
        decoded.tiles.emplace(name, tile);
    }
    return decoded;
}

GramProblem gram_trial(const GramPlan& plan, double flops) {
    constexpr std::uint64_t kLeastAmplitudes = 2048, kLeastRows = 256;
    GramProblem trial = plan.problem;
    trial.symmetric = trial.scaled = false;
    trial.rows = std::min(plan.problem.rows, kMostClassRows);
    trial.columns = std::min(plan.problem.columns, kMostClassRows);
    trial.leading = trial.columns;
    trial.amplitudes = std::min(plan.problem.amplitudes, kMostClassAmplitudes);
    const auto work = [&] {
        return 8.0 * static_cast<double>(trial.rows) * static_cast<double>(trial.columns) *
               static_cast<double>(trial.amplitudes);
    };
    while (flops > 0 && work() > flops && trial.amplitudes > kLeastAmplitudes)
        trial.amplitudes = std::max(kLeastAmplitudes, trial.amplitudes / 2);
    while (flops > 0 && work() > flops && std::max(trial.rows, trial.columns) > kLeastRows) {
        trial.rows = std::max(std::min(trial.rows, kLeastRows), trial.rows / 2);
        trial.columns = std::max(std::min(trial.columns, kLeastRows), trial.columns / 2);
        trial.leading = trial.columns;
    }
    return trial;
}

}  // namespace weft::kernels
