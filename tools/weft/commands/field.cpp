// SPDX-License-Identifier: Apache-2.0
// weft field: arithmetic on arrays of field elements.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "arrays/npy.hpp"
#include "cli/cuda_calls.hpp"
#include "cli/device_options.hpp"
#include "cli/device_rows.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"

namespace weft::tool {
namespace {

// The work is cut into jobs of this many elements: few enough for a progress bar, enough for full speed.
constexpr std::size_t kJobElements = std::size_t{1} << 20;

struct Operation {
    FieldOp op;
    const char *summary, *example;
};

constexpr Operation kOperations[] = {
    {FieldOp::add, "a + b mod p", "a.npy b.npy -o sum.npy --checked"},
    {FieldOp::sub, "a - b mod p", "a.npy b.npy -o difference.npy"},
    {FieldOp::neg, "-a mod p", "a.npy -o negated.npy"},
    {FieldOp::mul, "a * b mod p", "a.npy b.npy -o product.npy --field bn254-fr"},
    {FieldOp::square, "a * a mod p", "a.npy -o square.npy"},
    {FieldOp::inverse, "1 / a mod p, 0 for 0", "a.npy -o inverse.npy"},
    {FieldOp::to_montgomery, "a * R mod p", "a.npy -o form.npy"},
    {FieldOp::from_montgomery, "a / R mod p", "form.npy -o a.npy"},
    {FieldOp::axpy, "scalar * a + b mod p", "a.npy b.npy --scalar 5 -o out.npy"},
    {FieldOp::sum, "The sum of all elements, as an array of one", "a.npy -o sum.npy --field babybear"},
    {FieldOp::inner_product, "The sum of all a * b, as an array of one", "a.npy b.npy -o product.npy"},
};

struct FieldArguments {
    FieldOp op = FieldOp::add;
    std::string a, b, out;
    std::string field = "bls12-381-fp";
    std::vector<std::uint64_t> scalar;
    bool checked = false, montgomery = false, json = false;
    DeviceOptions device;

    const FieldInfo& info() const { return field_info(*find_field(field)); }
};

template <class Limb>
std::string hex(std::span<const Limb> limbs) {
    std::string text = "0x";
    for (std::size_t i = limbs.size(); i-- > 0;) {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%0*" PRIx64, static_cast<int>(2 * sizeof(Limb)),
                      std::uint64_t{limbs[i]});
        text += digits;
    }
    return text;
}

std::string hex_modulus(const FieldInfo& field) {
    const auto limbs = std::span(field.modulus).first(field.limbs);
    const std::string text = hex<std::uint64_t>(limbs);
    return field.limb_bytes == 8 ? text : "0x" + text.substr(text.size() - 8);
}

std::string check_field(const std::string& name) {
    if (find_field(name)) return {};
    std::string names;
    for (const FieldInfo& field : fields()) names += (names.empty() ? "" : ", ") + std::string(field.name);
    return "no such field (got " + name + ", need " + names + ")";
}

// The limbs of a decimal number, or of a hexadecimal one after 0x; empty if the text is neither or the number
// has more than 384 bits.
std::vector<std::uint64_t> parse_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    std::array<std::uint32_t, 12> words{};
    for (const char c : text) {
        const bool upper = hexadecimal && c >= 'A' && c <= 'F';
        const std::size_t digit =
            std::string_view("0123456789abcdef").find(upper ? static_cast<char>(c - 'A' + 'a') : c);
        if (digit >= (hexadecimal ? 16u : 10u)) return {};
        std::uint64_t carry = digit;
        for (std::uint32_t& word : words) {
            carry += std::uint64_t{word} * (hexadecimal ? 16 : 10);
            word = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) return {};
    }
    if (text.empty()) return {};
    std::vector<std::uint64_t> limbs;
    for (std::size_t i = 0; i < words.size(); i += 2)
        limbs.push_back(std::uint64_t{words[i + 1]} << 32 | words[i]);
    return limbs;
}

std::string shape_wanted(const FieldInfo& field) {
    return (field.limbs == 1 ? "(n,) or (n, 1)" : "(n, " + std::to_string(field.limbs) + ")") + " for " +
           std::string(field.name) + ", a row an element; --field names another field";
}

/// The change in Python that turns an array of another shape into rows of elements; empty: its numbers do not
/// make whole elements.
std::string change_to_elements(const ArrayInput& input, const FieldInfo& field) {
    const Shape& shape = input.shape();
    const std::string limbs = std::to_string(field.limbs);
    if (shape.size() == 2 && shape[0] == field.limbs) return ".T";
    if (input.source().values() % field.limbs != 0) return "";
    return field.limbs == 1 ? ".reshape(-1)" : ".reshape(-1, " + limbs + ")";
}

template <class Limb>
ArrayInput open_elements(const std::string& path, const FieldInfo& field) {
    static constexpr ElementType kTypes[] = {element_type<Limb>()};
    ArrayInput input(path, kTypes);
    const Shape& shape = input.shape();
    const bool rows = shape.size() == 2 && shape[1] == field.limbs;
    if (rows || (shape.size() == 1 && field.limbs == 1)) return input;
    const std::string text = "wrong shape (got " + to_string(shape) + ", need " + shape_wanted(field) + ")";
    const std::string change = change_to_elements(input, field);
    if (change.empty()) input.refuse(text);
    input.refuse(text, change);
}

// The library checks values too, but it reports jobs, and the user knows the rows of a file.
template <class Limb>
void check_canonical(const ArrayInput& input, std::span<const Limb> rows, const FieldInfo& field) {
    std::vector<Limb> p;
    for (std::size_t i = 0; i < field.limbs; ++i) p.push_back(static_cast<Limb>(field.modulus[i]));
    for (std::size_t i = 0; i < rows.size(); i += p.size()) {
        const auto row = rows.subspan(i, p.size());
        if (std::lexicographical_compare(row.rbegin(), row.rend(), p.rbegin(), p.rend())) continue;
        input.refuse("row " + std::to_string(i / p.size()) + " is not canonical (got " + hex(row) +
                     ", need below p = " + hex_modulus(field) + ")");
    }
}

template <class Array>
Array part_of(const Array& whole, std::uint64_t first, std::uint64_t count) {
    if (whole.empty()) return whole;
    using Byte = std::conditional_t<std::is_same_v<Array, HostArray>, std::byte, const std::byte>;
    return {static_cast<Byte*>(whole.data) + first * whole.type.bytes(), count, whole.type};
}

std::vector<FieldJob> cut(const FieldJob& whole, FieldOp op, const FieldInfo& field) {
    if (is_reduction(op)) return {whole};
    const std::uint64_t most = kJobElements * field.limbs;
    std::vector<FieldJob> jobs;
    for (std::uint64_t first = 0; first < whole.a.size; first += most) {
        const std::uint64_t count = std::min(most, whole.a.size - first);
        jobs.push_back({part_of(whole.a, first, count), part_of(whole.b, first, count), whole.scalar,
                        part_of(whole.out, first, count)});
    }
    return jobs;
}

void print_report(const FieldArguments& arguments, const DeviceInfo& device, const OpReport& report) {
    const char* path = report.path == Path::automatic ? "none"
                       : report.mixed_paths           ? "mixed"
                                                      : to_string(report.path);
    if (!arguments.json) {
        std::printf("%s %s: %" PRIu64 " elements in %.6f s, %s, path %s, %s\n", arguments.field.c_str(),
                    to_string(arguments.op), report.items, report.wall_s,
                    si(report.gb_per_s() * 1e9, "B/s").c_str(), path, device.name.c_str());
        print_rows(report.devices);
        return;
    }
    Json json{{"op", to_string(arguments.op)}, {"field", arguments.field},
              {"elements", report.items},      {"path", path},
              {"overlap", report.overlap()},   {"queues", report.queues}};
    add_run(json, report, device);
    print_json(json);
}

// The scalar of axpy as limbs of the field.
template <class Limb>
std::vector<Limb> scalar_of(const FieldArguments& arguments) {
    std::vector<Limb> scalar;
    for (std::size_t i = 0; i < arguments.info().limbs && !arguments.scalar.empty(); ++i)
        scalar.push_back(static_cast<Limb>(arguments.scalar[i]));
    return scalar;
}

// Checked before the number is cut to the limbs of the field, which would hide that it is too large.
void check_scalar(const FieldArguments& arguments) {
    const auto& p = arguments.info().modulus;
    const auto& s = arguments.scalar;
    if (s.empty() || std::lexicographical_compare(s.rbegin(), s.rend(), p.rbegin(), p.rend())) return;
    throw Failure(Exit::usage, "--scalar: not canonical (got " + hex<std::uint64_t>(s) +
                                   ", need below p = " + hex_modulus(arguments.info()) + ")");
}

template <class Limb>
void run(const FieldArguments& arguments) {
    const Config config = arguments.device.config();
    const FieldInfo& field = arguments.info();
    const FieldOp op = arguments.op;
    check_scalar(arguments);
    ArrayInput a_file = open_elements<Limb>(arguments.a, field);
    const std::span<const Limb> a = a_file.elements<Limb>();
    std::span<const Limb> b;
    std::optional<ArrayInput> b_file;
    std::vector<NamedFile> inputs = a_file.source().files("A");
    if (takes_b(op)) {
        b_file.emplace(open_elements<Limb>(arguments.b, field));
        b = b_file->elements<Limb>();
        if (b.size() != a.size())
            b_file->refuse("as many rows as in " + arguments.a + " are needed (got " +
                           std::to_string(b_file->shape()[0]) + ", need " +
                           std::to_string(a_file.shape()[0]) + ")");
        for (NamedFile& file : b_file->source().files("B")) inputs.push_back(std::move(file));
    }
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}}, inputs);
    if (arguments.checked) {
        check_canonical(a_file, a, field);
        if (b_file) check_canonical(*b_file, b, field);
    }
    const std::vector<Limb> scalar = scalar_of<Limb>(arguments);

    Shape shape = a_file.shape();
    if (is_reduction(op)) shape[0] = 1;
    NpyOutput out(arguments.out, element_type<Limb>(), shape);
    Target target(arguments.device, config);
    OpReport report;
    {
        ProgressBar progress(std::string("field ") + to_string(op));
        FieldHostOptions options;
        options.form = arguments.montgomery ? FieldForm::montgomery : FieldForm::plain;
        options.batch.progress = progress.callback();
        const std::vector<FieldJob> jobs = cut({a, b, scalar, out.elements<Limb>()}, op, field);
        report = target.field_batch(field.field, op, jobs, options);
    }
    a_file.require_unchanged();
    if (b_file) b_file->require_unchanged();
    out.commit();
    print_report(arguments, target.device(), report);
}

void list_fields(bool json) {
    Json all = Json::array();
    for (const FieldInfo& field : fields()) {
        const std::string modulus = hex_modulus(field);
        if (json)
            all.push_back({{"name", field.name},
                           {"bits", field.bits},
                           {"limbs", field.limbs},
                           {"dtype", field.dtype},
                           {"modulus", modulus}});
        else
            std::printf("%-14s %3u bits  %-6s %s  p = %s\n", std::string(field.name).c_str(), field.bits,
                        field.limbs == 1 ? "(n,)" : ("(n, " + std::to_string(field.limbs) + ")").c_str(),
                        field.dtype, modulus.c_str());
    }
    if (json) print_json(all);
}

void add_list(CLI::App& field) {
    CLI::App& list = *field.add_subcommand("list", "The fields of this version: name, size, dtype, modulus");
    const auto json = std::make_shared<bool>(false);
    list.add_flag("--json", *json, "Print JSON");
    list.footer("Example: weft field list");
    list.callback([json] { list_fields(*json); });
}

void add_scalar(CLI::App& command, FieldArguments& arguments) {
    command
        .add_option_function<std::string>(
            "--scalar", [&](const std::string& text) { arguments.scalar = parse_number(text); },
            "The factor of A, decimal or 0x and hexadecimal digits")
        ->required()
        ->type_name("NUMBER")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return parse_number(text).empty()
                           ? "need a number of up to 384 bits, decimal or 0x and hexadecimal digits (got " +
                                 text + ")"
                           : std::string();
            },
            ""));
}

void add_operation(CLI::App& field, const Operation& operation) {
    const FieldOp op = operation.op;
    CLI::App& command = *field.add_subcommand(to_string(op), operation.summary);
    const auto arguments = std::make_shared<FieldArguments>();
    arguments->op = op;
    command
        .add_option("A", arguments->a,
                    "Elements: (n, limbs) uint64, least significant first, of one limb also (n,); 31 bits: "
                    "uint32. .npy, "
                    ".npz, FILE.h5:/PATH, or a table named .csv, .tsv or .txt")
        ->required()
        ->type_name("FILE");
    if (takes_b(op))
        command.add_option("B", arguments->b, "As many elements again")->required()->type_name("FILE");
    command.add_option("-o,--output", arguments->out, "Result; replaced if it is there")
        ->required()
        ->check(CLI::Validator(
            [](const std::string& path) {
                return std::string(path.empty() ? "need the name of a file" : "");
            },
            ""))
        ->type_name("FILE.npy");
    command.add_option("--field", arguments->field, "One of `weft field list`")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::Validator(check_field, ""));
    command.add_flag("--checked", arguments->checked, "Refuse values that are not below p");
    command.add_flag("--montgomery", arguments->montgomery, "Values, scalar too, are in Montgomery form");
    if (op == FieldOp::axpy) add_scalar(command, *arguments);
    command.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(command, true, Several::shared);
    command.footer(std::string("Example: weft field ") + to_string(op) + " " + operation.example);
    command.callback([arguments] {
        if (arguments->info().limb_bytes == 4)
            run<std::uint32_t>(*arguments);
        else
            run<std::uint64_t>(*arguments);
    });
}

}  // namespace

void add_field(CLI::App& command) {
    CLI::App& field = *command.add_subcommand("field", "Arithmetic on arrays of field elements");
    field.require_subcommand(1);
    field.footer("Example: weft field add a.npy b.npy -o sum.npy");
    for (const Operation& operation : kOperations) add_operation(field, operation);
    add_list(field);
}

}  // namespace weft::tool
