// SPDX-License-Identifier: Apache-2.0
// weft lattice: nested-lattice codes of arrays of floats.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "arrays/lattice_files.hpp"
#include "arrays/npy.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/lattice/lattice_options.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"
#include "device/device_rows.hpp"

namespace weft::tool {
namespace {

constexpr ElementType kValues[] = {kFloat32}, kCodes[] = {kUint8};

// If the library refuses values or digits, the error must name the file.
template <class Call>
auto blame(const ArrayInput& in, const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == Errc::invalid_argument) in.refuse(error.what());
        throw;
    }
}

void print_report(const LatticeArguments& a, const char* operation, const DeviceInfo& device,
                  const OpReport& r) {
    if (!a.json) {
        std::printf("lattice %s %s q %u levels %u: %" PRIu64 " vectors in %.6f s, %s, %" PRIu64
                    " retried, %" PRIu64 " unresolved, %s\n",
                    operation, to_string(a.code.lattice), a.code.q, a.code.levels, r.items, r.wall_s,
                    si(r.gb_per_s() * 1e9, "B/s").c_str(), r.retried, r.unresolved, device.name.c_str());
        print_rows(r.devices);
        return;
    }
    Json json{{"op", operation},
              {"lattice", to_string(a.code.lattice)},
              {"q", a.code.q},
              {"levels", a.code.levels},
              {"beta", a.code.beta},
              {"bits_per_vector", a.vector_bits()},
              {"vectors", r.items},
              {"retried", r.retried},
              {"unresolved", r.unresolved}};
    add_run(json, r, device);
    print_json(json);
}

// Codes that could not be decoded later are refused before they are made.
void require_decodable(const LatticeArguments& a) {
    if (a.code.max_retries != 0 && a.scales.empty())
        throw Failure(Exit::usage,
                      std::string("--max-retries needs --scales: codes of vectors that were retried ") +
                          "are decoded with the number of their retries");
}

// A code that stands for a wrong value is not a failure, but the user should learn of it without inspecting
// the values.
void warn_of_overload(const OpReport& r) {
    if (r.unresolved == 0) return;
    std::fprintf(
        stderr,
        "weft: %" PRIu64 " of %" PRIu64
        " vectors overload and stand for wrong values (a larger --beta, more --levels, or --max-retries "
        "with --scales help; weft lattice beta finds a beta)\n",
        r.unresolved, r.items);
}

// Checks this before the work rather than after it. Only one output file can be open at a time.
void require_writable_scales(const LatticeArguments& a, const Table& t) {
    if (a.scales.empty()) return;
    NpyOutput(a.scales, kInt32, scales_shape(a, t));
}

void run_forward(const LatticeArguments& a, bool encode) {
    const char* operation = encode ? "encode" : "quantize";
    const Config config = a.device.config();
    if (encode) require_decodable(a);
    ArrayInput in(a.in, kValues);
    require_apart({{"output", a.out}, {"--scales", a.scales}, {"WEFT_TRACE", config.trace}},
                  in.source().files("input"));
    const Table t = values_of(a, in);
    const std::span<const float> x = in.elements<float>();
    require_writable_scales(a, t);
    NpyOutput out(a.out, encode ? kUint8 : kFloat32, encode ? codes_shape(a, t) : in.shape());
    Target target(a.device, config);
    std::vector<std::uint8_t> status(t.vectors());
    OpReport report;
    {
        ProgressBar progress(std::string("lattice ") + operation);
        LatticeHostOptions options{.width = t.width, .check_values = true};
        options.batch.progress = progress.callback();
        report = blame(in, [&] {
            return encode ? target.lattice_encode(a.full_code(), x, out.elements<std::uint8_t>(), status,
                                                  options)
                          : target.lattice_quantize(a.full_code(), x, out.elements<float>(), status, options);
        });
    }
    in.require_unchanged();
    out.commit();
    if (!a.scales.empty()) write_scales(a, t, status);
    print_report(a, operation, target.device(), report);
    warn_of_overload(report);
}

void run_decode(LatticeArguments a) {
    const Config config = a.device.config();
    require_decodable(a);
    ArrayInput in(a.in, kCodes);
    std::vector<NamedFile> others = in.source().files("input");
    others.push_back({"--scales", array_name(a.scales).file});
    require_apart({{"output", a.out}, {"WEFT_TRACE", config.trace}}, others);
    const Table t = coded_in(a, in);
    const std::span<const std::uint8_t> codes = in.elements<std::uint8_t>();
    std::vector<std::uint8_t> status;
    if (!a.scales.empty()) status = read_scales(a, t);
    if (t.rows != 0 && t.width > SIZE_MAX / 4 / t.rows) in.refuse("the result is larger than any memory");
    NpyOutput out(a.out, kFloat32, {t.rows, t.width});
    Target target(a.device, config);
    OpReport report;
    {
        ProgressBar progress("lattice decode");
        LatticeDecodeHostOptions options{.width = t.width, .depth = a.depth, .check_values = true};
        options.batch.progress = progress.callback();
        report = blame(in, [&] {
            return target.lattice_decode(a.full_code(), codes, status, out.elements<float>(), options);
        });
    }
    in.require_unchanged();
    out.commit();
    print_report(a, "decode", target.device(), report);
    warn_of_overload(report);
}

constexpr std::uint32_t kFewSteps = 16;  // each beta in a range of 64 is then a third larger

void run_beta(const LatticeArguments& a) {
    const Config config = a.device.config();
    ArrayInput in(a.in, kValues);
    const Table t = values_of(a, in);
    const std::span<const float> x = in.elements<float>();
    Target target(a.device, config);
    if (a.steps < kFewSteps)
        std::fprintf(stderr,
                     "weft: --steps %u is too few to be sure of the best beta (got %u, need %u or more)\n",
                     a.steps, a.steps, kFewSteps);
    const LatticeSearch search = blame(in, [&] {
        ProgressBar progress("lattice beta");
        LatticeSearchOptions options{.width = t.width, .steps = a.steps};
        options.batch.progress = progress.callback();
        return target.lattice_search_beta(a.full_code(), x, options);
    });
    in.require_unchanged();
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
    print_json(json);
}

void add_code_options(CLI::App& command, LatticeArguments& a) {
    add_code(command, a.code);
    add_retries(command, a.code);
    CLI::Option* dither = command.add_flag("--dither", a.dither, "Subtractive dither, undone by decode");
    add_number(command, "--seed", a.seed, "Of the dither", {})->needs(dither);
    command.add_flag("--json", a.json, "Print the report as JSON");
    a.device.add_to(command, true, Several::shared);
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
    command.add_option("IN", a->in, std::string(input) + ". " + kTableFiles)->required()->type_name("FILE");
    add_code_options(command, *a);
    if (scales == nullptr) return command;
    add_file(command, "-o,--output", a->out, "Result; replaced if it is there")->required();
    add_file(command, "--scales", a->scales, scales);
    add_beta(command, a->code);
    return command;
}

void add_forward(CLI::App& lattice, bool encode) {
    const auto a = std::make_shared<LatticeArguments>();
    CLI::App& command =
        add_operation(lattice, encode ? "encode" : "quantize",
                      encode ? "Codes of the rows of an array" : "What decoding the codes gives, in one pass",
                      "(n, width) float32; rows are cut into vectors, the last padded with zeros", a,
                      "Also write the retries of each vector, int32; -1 - T if it still overloads after T");
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
    command.get_option("--scales")->type_name("FILE");
    command.add_flag("--packed", a->code.packed, "As in encode");
    const Bounds<std::size_t> counts{0, std::size_t{1} << 48, "0 to 2^48"};
    add_number_or_none(command, "--width", a->width, "Values of a row, if its last vector was padded",
                       {1, counts.most, "1 to 2^48"});
    add_number_or_none(command, "--rows", a->rows, "Rows, if packed rows are not whole bytes", counts);
    add_number(command, "--depth", a->depth, "Levels to decode, coarse ones first; 0: all", {0, 4});
    command.footer("Example: weft lattice decode codes.npy -o y.npy --lattice E8 --q 4 --beta 0.3");
    command.callback([a] { run_decode(*a); });
}

void add_search(CLI::App& lattice) {
    const auto a = std::make_shared<LatticeArguments>();
    CLI::App& command = add_operation(lattice, "beta", "The beta with the least error for a sample",
                                      "(n, width) float32", a, nullptr);
    add_number(command, "--steps", a->steps,
               "Betas to try over the range, 2 to 1000; half as many again in each of up to three valleys",
               {2, 1000});
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
    add_search(lattice);
}

}  // namespace weft::tool
