// SPDX-License-Identifier: Apache-2.0
// weft lattice: nested-lattice codes of arrays of floats.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "commands.hpp"
#include "device_options.hpp"
#include "npy.hpp"
#include "progress.hpp"

namespace weft::tool {
namespace {

using Json = nlohmann::ordered_json;

struct LatticeArguments {
    LatticeCode code;
    std::string in, out, scales;
    std::size_t width = 0, rows = 0;
    std::uint32_t depth = 0, steps = 40;
    std::uint64_t seed = 0;
    bool dither = false, json = false;
    DeviceOptions device;

    LatticeCode full_code() const {
        LatticeCode c = code;
        if (dither) c.dither_seed = seed;
        return c;
    }
    std::size_t vector_bits() const {
        return std::size_t{digit_bits(code)} * code.levels * dimension(code.lattice);
    }
};

/// Rows and values a row of an array.
struct Table {
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t vectors() const { return rows * tiles; }
};

Table table_of(const LatticeArguments& a, std::size_t rows, std::size_t width) {
    return {rows, width, lattice_tiles(a.code.lattice, width)};
}

Table values_of(const LatticeArguments& a, NpyInput& in) {
    if (in.shape().size() != 2 || in.shape()[1] == 0)
        in.refuse("wrong shape (got " + to_string(in.shape()) + ", need (n, width), " +
                  std::to_string(dimension(a.code.lattice)) + " values a vector)");
    return table_of(a, in.shape()[0], in.shape()[1]);
}

Shape codes_shape(const LatticeArguments& a, const Table& t) {
    const std::size_t d = dimension(a.code.lattice);
    if (a.code.packed) {
        const std::size_t row_bits = t.tiles * a.vector_bits();
        if (row_bits % 8 == 0) return {t.rows, row_bits / 8};
        return {code_bytes(a.code, t.vectors())};
    }
    if (t.width == d) return {t.rows, a.code.levels, d};
    return {t.rows, t.tiles, a.code.levels, d};
}

[[noreturn]] void refuse_codes(const LatticeArguments& a, const NpyInput& in, const std::string& need) {
    in.refuse("wrong shape (got " + to_string(in.shape()) + ", need " + need + " with these options" +
              (a.code.packed ? ")" : "; packed codes need --packed)"));
}

// The rows that an array of codes holds. Those whose packed rows are no whole bytes must be told.
Table coded_in(const LatticeArguments& a, const NpyInput& in) {
    const std::size_t d = dimension(a.code.lattice);
    const Shape& s = in.shape();
    std::size_t rows = 0, tiles = 1;
    if (a.code.packed && s.size() == 1) {
        if (a.rows == 0) in.refuse("packed rows are no whole bytes here (got one axis, need --rows)");
        const std::size_t width = a.width == 0 ? d : a.width;
        rows = a.rows;
        tiles = lattice_tiles(a.code.lattice, width);
        if (rows > s[0] * 8 || code_bytes(a.code, rows * tiles) != s[0])
            in.refuse("rows do not fit (got " + to_string(s) + " bytes, need " +
                      std::to_string(code_bytes(a.code, rows * tiles)) + " for --rows " +
                      std::to_string(rows) + ")");
    } else if (a.code.packed) {
        if (s.size() != 2 || s[1] == 0 || s[1] * 8 % a.vector_bits() != 0)
            refuse_codes(a, in,
                         "(n, bytes of whole vectors of " + std::to_string(a.vector_bits()) + " bits)");
        rows = s[0];
        tiles = s[1] * 8 / a.vector_bits();
    } else {
        if ((s.size() != 3 && s.size() != 4) || s[s.size() - 2] != a.code.levels || s.back() != d ||
            (s.size() == 4 && s[1] == 0))
            refuse_codes(a, in,
                         "(n, " + std::to_string(a.code.levels) + ", " + std::to_string(d) +
                             ") or (n, tiles, " + std::to_string(a.code.levels) + ", " + std::to_string(d) +
                             ")");
        rows = s[0];
        tiles = s.size() == 4 ? s[1] : 1;
    }
    const std::size_t width = a.width == 0 ? tiles * d : a.width;
    if (lattice_tiles(a.code.lattice, width) != tiles)
        in.refuse("--width does not fit (got " + std::to_string(width) + ", need " +
                  std::to_string((tiles - 1) * d + 1) + " to " + std::to_string(tiles * d) + ")");
    return table_of(a, rows, width);
}

Shape scales_shape(const LatticeArguments& a, const Table& t) {
    if (t.width == dimension(a.code.lattice)) return {t.rows};
    return {t.rows, t.tiles};
}

// The file of retry counts: -1 - T where the vector overloads after T retries nevertheless.
void write_scales(const LatticeArguments& a, const Table& t, std::span<const std::uint8_t> status) {
    NpyOutput out(a.scales, kDescr<std::int32_t>, scales_shape(a, t), status.size() * sizeof(std::int32_t));
    const std::span<std::int32_t> values = out.elements<std::int32_t>();
    for (std::size_t i = 0; i < status.size(); ++i) {
        const std::int32_t retries = status[i] & kLatticeRetries;
        values[i] = (status[i] & kLatticeUnresolved) != 0 ? -1 - retries : retries;
    }
    out.commit();
}

std::vector<std::uint8_t> read_scales(const LatticeArguments& a, const Table& t) {
    NpyInput in(a.scales);
    const std::span<const std::int32_t> values = in.elements<std::int32_t>();
    if (in.shape() != scales_shape(a, t))
        in.refuse("wrong shape (got " + to_string(in.shape()) + ", need " + to_string(scales_shape(a, t)) +
                  ")");
    std::vector<std::uint8_t> status(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int32_t v = values[i], retries = v < 0 ? -1 - v : v;
        if (retries > static_cast<std::int32_t>(a.code.max_retries))
            in.refuse("vector " + std::to_string(i) + " has too many retries (got " + std::to_string(v) +
                      ", need at most --max-retries " + std::to_string(a.code.max_retries) + ")");
        status[i] = static_cast<std::uint8_t>(retries | (v < 0 ? kLatticeUnresolved : 0));
    }
    return status;
}

// What the library says about values or digits concerns the file.
template <class Call>
auto blame(const NpyInput& in, const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == Errc::invalid_argument) in.refuse(error.what());
        throw;
    }
}

void print_report(const LatticeArguments& a, const char* operation, const DeviceInfo& device,
                  const LatticeReport& r) {
    if (!a.json) {
        std::printf("lattice %s %s q %u levels %u: %" PRIu64 " vectors in %.6f s, %.2f GB/s, %" PRIu64
                    " retried, %" PRIu64 " unresolved, %s\n",
                    operation, to_string(a.code.lattice), a.code.q, a.code.levels, r.vectors, r.batch.wall_s,
                    r.batch.gb_per_s(), r.retried, r.unresolved, device.name.c_str());
        return;
    }
    const Json json{{"op", operation},
                    {"lattice", to_string(a.code.lattice)},
                    {"q", a.code.q},
                    {"levels", a.code.levels},
                    {"beta", a.code.beta},
                    {"bits_per_vector", a.vector_bits()},
                    {"vectors", r.vectors},
                    {"retried", r.retried},
                    {"unresolved", r.unresolved},
                    {"seconds", r.batch.wall_s},
                    {"gb_per_s", r.batch.gb_per_s()},
                    {"bytes_in", r.batch.bytes_in},
                    {"bytes_out", r.batch.bytes_out},
                    {"device", device.name},
                    {"driver", device.driver}};
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// Found out before the work rather than after it; one output can be under way at a time.
void require_writable_scales(const LatticeArguments& a, const Table& t) {
    if (a.scales.empty()) return;
    if (std::filesystem::weakly_canonical(a.scales) == std::filesystem::weakly_canonical(a.out))
        throw Failure(Exit::usage, a.scales + ": output and --scales are the same file");
    NpyOutput(a.scales, kDescr<std::int32_t>, scales_shape(a, t), t.vectors() * sizeof(std::int32_t));
}

void run_forward(const LatticeArguments& a, bool encode) {
    const char* operation = encode ? "encode" : "quantize";
    const Config config = a.device.config();
    NpyInput in(a.in);
    const std::span<const float> x = in.elements<float>();
    const Table t = values_of(a, in);
    require_writable_scales(a, t);
    const std::size_t bytes = encode ? code_bytes(a.code, t.vectors()) : x.size_bytes();
    NpyOutput out(a.out, encode ? kDescr<std::uint8_t> : kDescr<float>,
                  encode ? codes_shape(a, t) : in.shape(), bytes);
    Backend backend = open_backend(config);
    std::vector<std::uint8_t> status(t.vectors());
    LatticeReport report;
    {
        Progress progress(std::string("lattice ") + operation);
        LatticeEncodeOptions options{.width = t.width, .checked = true};
        options.batch.progress = [&](std::size_t done, std::size_t jobs) { progress.show(done, jobs); };
        report = blame(in, [&] {
            return encode
                       ? lattice_encode(backend, a.full_code(), x, out.elements<std::uint8_t>(), status,
                                        options)
                       : lattice_quantize(backend, a.full_code(), x, out.elements<float>(), status, options);
        });
    }
    out.commit();
    if (!a.scales.empty()) write_scales(a, t, status);
    print_report(a, operation, backend.device(), report);
}

void run_decode(const LatticeArguments& a) {
    const Config config = a.device.config();
    NpyInput in(a.in);
    const std::span<const std::uint8_t> codes = in.elements<std::uint8_t>();
    const Table t = coded_in(a, in);
    std::vector<std::uint8_t> status;
    if (!a.scales.empty()) status = read_scales(a, t);
    if (t.rows != 0 && t.width > SIZE_MAX / 4 / t.rows) in.refuse("the result is larger than any memory");
    NpyOutput out(a.out, kDescr<float>, {t.rows, t.width}, t.rows * t.width * sizeof(float));
    Backend backend = open_backend(config);
    LatticeReport report;
    {
        Progress progress("lattice decode");
        LatticeDecodeOptions options{.width = t.width, .depth = a.depth};
        options.batch.progress = [&](std::size_t done, std::size_t jobs) { progress.show(done, jobs); };
        report = blame(in, [&] {
            return lattice_decode(backend, a.full_code(), codes, status, out.elements<float>(), options);
        });
    }
    out.commit();
    print_report(a, "decode", backend.device(), report);
}

void run_beta(const LatticeArguments& a) {
    const Config config = a.device.config();
    NpyInput in(a.in);
    const std::span<const float> x = in.elements<float>();
    const Table t = values_of(a, in);
    Backend backend = open_backend(config);
    const LatticeSearch search = blame(in, [&] {
        Progress progress("lattice beta");
        return lattice_search_beta(
            backend, a.full_code(), x,
            {.width = t.width, .steps = a.steps, .progress = [&](std::size_t done, std::size_t betas) {
                 progress.show(done, betas);
             }});
    });
    const auto json_of = [](const LatticeTrial& trial) {
        return Json{{"beta", trial.beta},
                    {"mean_squared_error", trial.mean_squared_error},
                    {"retried", trial.retried},
                    {"unresolved", trial.unresolved}};
    };
    if (!a.json) {
        std::printf("beta %.9g: mean squared error %.6g, %.4g %% of the vectors unresolved\n",
                    static_cast<double>(search.best.beta), search.best.mean_squared_error,
                    100 * search.best.unresolved);
        return;
    }
    Json json{{"best", json_of(search.best)}, {"trials", Json::array()}};
    for (const LatticeTrial& trial : search.trials) json["trials"].push_back(json_of(trial));
    std::printf("%s\n", json.dump(2).c_str());
}

// Ranges are the library's; asked here, the answer names the option.
void add_code_options(CLI::App& command, LatticeArguments& a) {
    static const std::map<std::string, Lattice> names{
        {"Z2", Lattice::z2}, {"D4", Lattice::d4}, {"E8", Lattice::e8}};
    command.add_option("--lattice", a.code.lattice, "Z2, D4 or E8: vectors of 2, 4 or 8 values")
        ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
        ->default_str("D4")
        ->type_name("NAME");
    command.add_option("--q", a.code.q, "Base of the digits, 3 to 16")
        ->capture_default_str()
        ->check(CLI::Validator(
            [](const std::string& text) {
                return std::string(text == "2" ? "2 has no code for positive values (need 3 to 16)" : "");
            },
            ""))
        ->check(CLI::Range(3, 16).description(""));
    command.add_option("--levels", a.code.levels, "Digits a value, 1 to 4")
        ->capture_default_str()
        ->check(CLI::Range(1, 4).description(""));
    command.add_option("--alpha", a.code.alpha, "A retry divides by 2^alpha; above 0, at most 4")
        ->capture_default_str()
        ->check(CLI::Range(1e-6, 4.0).description(""));
    command.add_option("--max-retries", a.code.max_retries, "Retries of vectors that overload")
        ->capture_default_str()
        ->check(CLI::Range(0, 100).description(""));
    CLI::Option* dither = command.add_flag("--dither", a.dither, "Subtractive dither, undone by decode");
    command.add_option("--seed", a.seed, "Of the dither")->capture_default_str()->needs(dither);
    command.add_flag("--json", a.json, "Print the report as JSON");
    a.device.add_to(command);
}

CLI::Option* add_file(CLI::App& command, const char* name, std::string& path, const char* text) {
    return command.add_option(name, path, text)
        ->type_name("FILE.npy")
        ->check(CLI::Validator(
            [](const std::string& p) { return std::string(p.empty() ? "need the name of a file" : ""); },
            ""));
}

CLI::App& add_operation(CLI::App& lattice, const char* name, const char* summary, const char* input,
                        const std::shared_ptr<LatticeArguments>& a, const char* scales) {
    CLI::App& command = *lattice.add_subcommand(name, summary);
    command.add_option("IN", a->in, input)->required()->type_name("FILE.npy");
    add_code_options(command, *a);
    if (scales == nullptr) return command;
    add_file(command, "-o,--output", a->out, "Result; replaced if it is there")->required();
    add_file(command, "--scales", a->scales, scales);
    command.add_option("--beta", a->code.beta, "Size of a step")
        ->capture_default_str()
        ->check(CLI::Range(0x1p-40, 0x1p40).description(""));
    return command;
}

void add_forward(CLI::App& lattice, bool encode) {
    const auto a = std::make_shared<LatticeArguments>();
    CLI::App& command =
        add_operation(lattice, encode ? "encode" : "quantize",
                      encode ? "Codes of the rows of an array" : "What decoding the codes gives, in one pass",
                      "(n, width) '<f4'; rows are cut into vectors, the last padded with zeros", a,
                      "Also write the retries of each vector, '<i4'; -1 - T where it overloads after T");
    if (encode)
        command.add_flag("--packed", a->code.packed, "Digits of as few bits as q needs, not a byte each");
    command.footer(encode ? "Example: weft lattice encode x.npy -o codes.npy --lattice E8 --q 4 --beta 0.3"
                          : "Example: weft lattice quantize x.npy -o y.npy --lattice D4 --q 4 --beta 0.35");
    command.callback([a, encode] { run_forward(*a, encode); });
}

void add_decode(CLI::App& lattice) {
    const auto a = std::make_shared<LatticeArguments>();
    CLI::App& command = add_operation(lattice, "decode", "The values that codes stand for",
                                      "Codes as encode writes them, with the same options", a,
                                      "The retries that encode wrote");
    command.add_flag("--packed", a->code.packed, "As in encode");
    command.add_option("--width", a->width, "Values of a row, where its last vector was padded");
    command.add_option("--rows", a->rows, "Rows, where packed rows are no whole bytes");
    command.add_option("--depth", a->depth, "Levels to decode, coarse ones first; 0: all")
        ->capture_default_str();
    command.footer("Example: weft lattice decode codes.npy -o y.npy --lattice E8 --q 4 --beta 0.3");
    command.callback([a] { run_decode(*a); });
}

void add_beta(CLI::App& lattice) {
    const auto a = std::make_shared<LatticeArguments>();
    CLI::App& command = add_operation(lattice, "beta", "The beta with the least error for a sample",
                                      "(n, width) '<f4'", a, nullptr);
    command.add_option("--steps", a->steps, "Betas to try, 2 to 1000")->capture_default_str();
    command.footer("Example: weft lattice beta sample.npy --lattice E8 --q 4");
    command.callback([a] { run_beta(*a); });
}

}  // namespace

void add_lattice(CLI::App& command) {
    CLI::App& lattice = *command.add_subcommand("lattice", "Nested-lattice codes of arrays of floats");
    lattice.require_subcommand(1);
    lattice.footer("Example: weft lattice encode x.npy -o codes.npy --lattice D4 --q 4 --beta 0.35");
    add_forward(lattice, true);
    add_decode(lattice);
    add_forward(lattice, false);
    add_beta(lattice);
}

}  // namespace weft::tool
