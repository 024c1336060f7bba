// SPDX-License-Identifier: Apache-2.0
// weft field: arithmetic on arrays of field elements.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "commands.hpp"
#include "device_options.hpp"
#include "npy.hpp"
#include "progress.hpp"

namespace weft::tool {
namespace {

using Limbs = std::span<const std::uint64_t>;
using Json = nlohmann::ordered_json;

struct Field {
    std::string_view name;
    unsigned bits;
    std::array<std::uint64_t, kBls12381FpLimbs> modulus;  // least significant first
};

constexpr std::array kFields{Field{"bls12-381-fp",
                                   381,
                                   {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                    0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a}}};

// Names that other versions of weft know, so that asking for one is told apart from a slip of the pen.
constexpr std::array<std::string_view, 10> kOtherFields{
    "bls12-381-fr", "bn254-fp",   "bn254-fr", "bls12-377-fp", "bls12-377-fr",
    "stark252",     "goldilocks", "babybear", "koalabear",    "mersenne31"};

// Work is cut into jobs of this many elements: small enough for a progress bar, large enough to cost nothing.
constexpr std::size_t kJobElements = std::size_t{1} << 20;

struct FieldArguments {
    FieldOp op = FieldOp::add;
    std::string a, b, out;
    std::string field = "bls12-381-fp";
    bool checked = false, montgomery = false, json = false;
    DeviceOptions device;
};

std::string hex(Limbs limbs) {
    std::string text = "0x";
    for (std::size_t i = limbs.size(); i-- > 0;) {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016" PRIx64, limbs[i]);
        text += digits;
    }
    return text;
}

std::string available() {
    std::string names;
    for (const Field& field : kFields) names += (names.empty() ? "" : ", ") + std::string(field.name);
    return names;
}

std::string check_field(const std::string& name) {
    const auto same = [&](const Field& field) { return field.name == name; };
    if (std::any_of(kFields.begin(), kFields.end(), same)) return {};
    const bool other = std::find(kOtherFields.begin(), kOtherFields.end(), name) != kOtherFields.end();
    return (other ? "this field is not in this version yet (got " : "no such field (got ") + name +
           ", need " + available() + ")";
}

const Field& field_named(const std::string& name) {
    return *std::find_if(kFields.begin(), kFields.end(),
                         [&](const Field& field) { return field.name == name; });
}

Limbs rows_of(NpyInput& input) {
    const Limbs limbs = input.elements<std::uint64_t>();
    if (input.shape().size() != 2 || input.shape()[1] != kBls12381FpLimbs)
        input.refuse("wrong shape (got " + to_string(input.shape()) + ", need (n, 6): a row an element)");
    return limbs;
}

// The library checks too, but knows jobs where the user knows the rows of a file.
void check_canonical(const NpyInput& input, Limbs rows, const Field& field) {
    const auto& p = field.modulus;
    for (std::size_t i = 0; i < rows.size(); i += p.size()) {
        const Limbs row = rows.subspan(i, p.size());
        if (std::lexicographical_compare(row.rbegin(), row.rend(), p.rbegin(), p.rend())) continue;
        input.refuse("row " + std::to_string(i / p.size()) + " is not canonical (got " + hex(row) +
                     ", need below p = " + hex(p) + ")");
    }
}

std::vector<FieldJob> cut(Limbs a, Limbs b, std::span<std::uint64_t> out) {
    constexpr std::size_t kJobLimbs = kJobElements * kBls12381FpLimbs;
    std::vector<FieldJob> jobs;
    for (std::size_t first = 0; first < a.size(); first += kJobLimbs) {
        const std::size_t count = std::min(kJobLimbs, a.size() - first);
        jobs.push_back(
            {a.subspan(first, count), b.empty() ? b : b.subspan(first, count), out.subspan(first, count)});
    }
    return jobs;
}

void print_report(const FieldArguments& arguments, const DeviceInfo& device, const BatchReport& report) {
    const char* path = report.path == Path::automatic ? "none"
                       : report.mixed_paths           ? "mixed"
                                                      : to_string(report.path);
    if (!arguments.json) {
        std::printf("%s %s: %" PRIu64 " elements in %.6f s, %.2f GB/s, path %s, %s\n",
                    arguments.field.c_str(), to_string(arguments.op), report.elements, report.wall_s,
                    report.gb_per_s(), path, device.name.c_str());
        return;
    }
    const Json json{{"op", to_string(arguments.op)}, {"field", arguments.field},
                    {"elements", report.elements},   {"seconds", report.wall_s},
                    {"gb_per_s", report.gb_per_s()}, {"bytes_in", report.bytes_in},
                    {"bytes_out", report.bytes_out}, {"path", path},
                    {"overlap", report.overlap()},   {"queues", report.queues},
                    {"device", device.name},         {"driver", device.driver}};
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void run(const FieldArguments& arguments) {
    const Config config = arguments.device.config();
    NpyInput a_file(arguments.a);
    const Limbs a = rows_of(a_file);
    std::optional<NpyInput> b_file;
    Limbs b;
    if (arguments.op != FieldOp::neg) {
        b_file.emplace(arguments.b);
        b = rows_of(*b_file);
        if (b.size() != a.size())
            b_file->refuse("as many rows as in " + arguments.a + " are needed (got " +
                           std::to_string(b_file->shape()[0]) + ", need " +
                           std::to_string(a_file.shape()[0]) + ")");
    }
    if (arguments.checked) {
        check_canonical(a_file, a, field_named(arguments.field));
        if (b_file) check_canonical(*b_file, b, field_named(arguments.field));
    }

    NpyOutput out(arguments.out, kDescr<std::uint64_t>, a_file.shape(), a.size_bytes());
    Backend backend = open_backend(config);
    BatchReport report;
    {
        Progress progress(std::string("field ") + to_string(arguments.op));
        FieldOptions options;
        options.batch.progress = [&](std::size_t done, std::size_t jobs) { progress.show(done, jobs); };
        report = field_batch(backend, arguments.op, cut(a, b, out.elements<std::uint64_t>()), options);
    }
    out.commit();
    print_report(arguments, backend.device(), report);
}

void list_fields(bool json) {
    Json all = Json::array();
    for (const Field& field : kFields) {
        const std::string modulus = hex(field.modulus);
        if (json)
            all.push_back({{"name", field.name},
                           {"bits", field.bits},
                           {"limbs", field.modulus.size()},
                           {"dtype", kDescr<std::uint64_t>},
                           {"modulus", modulus}});
        else
            std::printf("%-14s %3u bits  (n, %zu) %s  p = %s\n", std::string(field.name).c_str(), field.bits,
                        field.modulus.size(), kDescr<std::uint64_t>, modulus.c_str());
    }
    if (json) std::printf("%s\n", all.dump(2).c_str());
}

void add_list(CLI::App& field) {
    CLI::App& list = *field.add_subcommand("list", "The fields of this version: name, size, dtype, modulus");
    const auto json = std::make_shared<bool>(false);
    list.add_flag("--json", *json, "Print JSON");
    list.footer("Example: weft field list");
    list.callback([json] { list_fields(*json); });
}

void add_operation(CLI::App& field, FieldOp op, const char* summary, const char* example) {
    CLI::App& command = *field.add_subcommand(to_string(op), summary);
    const auto arguments = std::make_shared<FieldArguments>();
    arguments->op = op;
    const std::string file = "FILE.npy";
    command.add_option("A", arguments->a, "Elements: (n, 6) '<u8', least significant limb first")
        ->required()
        ->type_name(file);
    if (op != FieldOp::neg)
        command.add_option("B", arguments->b, "As many elements again")->required()->type_name(file);
    command
        .add_option("-o,--output", arguments->out, "Result; replaced if it is there, may be an input file")
        ->required()
        ->check(CLI::Validator(
            [](const std::string& path) {
                return std::string(path.empty() ? "need the name of a file" : "");
            },
            ""))
        ->type_name(file);
    command.add_option("--field", arguments->field, "One of `weft field list`")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::Validator(check_field, ""));
    command.add_flag("--checked", arguments->checked, "Refuse values that are not below p");
    command.add_flag("--montgomery", arguments->montgomery,
                     "Values are in Montgomery form; add, sub and neg are the same in either form");
    command.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(command);
    command.footer(std::string("Example: ") + example);
    command.callback([arguments] { run(*arguments); });
}

}  // namespace

void add_field(CLI::App& command) {
    CLI::App& field = *command.add_subcommand("field", "Arithmetic on arrays of field elements");
    field.require_subcommand(1);
    field.footer("Example: weft field add a.npy b.npy -o sum.npy");
    add_operation(field, FieldOp::add, "a + b mod p", "weft field add a.npy b.npy -o sum.npy --checked");
    add_operation(field, FieldOp::sub, "a - b mod p", "weft field sub a.npy b.npy -o difference.npy");
    add_operation(field, FieldOp::neg, "-a mod p", "weft field neg a.npy -o negated.npy");
    add_list(field);
}

}  // namespace weft::tool
