// SPDX-License-Identifier: Apache-2.0
// weft field: arithmetic on arrays of field elements.
#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_input.hpp"
#include "arrays/npy.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/field/field_values.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"
#include "device/device_rows.hpp"

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
    FieldNumber scalar;
    bool checked = false, montgomery = false, json = false;
    DeviceOptions device;

    const FieldInfo& info() const { return field_info(*find_field(field)); }
};

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

template <class Limb>
void run(const FieldArguments& arguments) {
    const Config config = arguments.device.config();
    const FieldInfo& field = arguments.info();
    const FieldOp op = arguments.op;
    require_canonical("--scalar", field, arguments.scalar);
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
        require_canonical(a_file, a, field, 1);
        if (b_file) require_canonical(*b_file, b, field, 1);
    }
    const std::vector<Limb> scalar = field_limbs<Limb>(field, arguments.scalar);

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
        const std::uint32_t two_adicity = ntt_info(field.field).two_adicity;
        if (json)
            all.push_back({{"name", field.name},
                           {"bits", field.bits},
                           {"limbs", field.limbs},
                           {"dtype", field.dtype},
                           {"modulus", modulus},
                           {"two_adicity", two_adicity}});
        else
            std::printf("%-14s %3u bits  %-6s %s  2-adicity %2u  p = %s\n", std::string(field.name).c_str(),
                        field.bits,
                        field.limbs == 1 ? "(n,)" : ("(n, " + std::to_string(field.limbs) + ")").c_str(),
                        field.dtype, two_adicity, modulus.c_str());
    }
    if (json) print_json(all);
}

void add_list(CLI::App& field) {
    CLI::App& list = *field.add_subcommand(
        "list",
        "The fields of this version: name, size, dtype, modulus, and the 2-adicity that bounds `weft ntt`");
    const auto json = std::make_shared<bool>(false);
    list.add_flag("--json", *json, "Print JSON");
    list.footer("Example: weft field list");
    list.callback([json] { list_fields(*json); });
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
    add_field_name(command, arguments->field);
    command.add_flag("--checked", arguments->checked, "Refuse values that are not below p");
    command.add_flag("--montgomery", arguments->montgomery, "Values, scalar too, are in Montgomery form");
    if (op == FieldOp::axpy)
        add_field_number(command, "--scalar", arguments->scalar,
                         "The factor of A, decimal or 0x and hexadecimal digits")
            ->required();
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
