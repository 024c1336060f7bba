// SPDX-License-Identifier: Apache-2.0
// weft ntt: number-theoretic transforms and low-degree extensions of the arrays of a file.
#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
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

struct NttArguments {
    std::string in, out;
    std::string field = "goldilocks", order = "nn", layout = "rows", blowup;
    FieldNumber coset, root;
    bool inverse = false, checked = false, montgomery = false, explain = false, json = false;
    DeviceOptions device;

    const FieldInfo& info() const { return field_info(*find_field(field)); }
    bool extends() const { return !blowup.empty(); }
    std::uint32_t times() const { return extends() ? static_cast<std::uint32_t>(std::stoul(blowup)) : 1; }
    NttOrder order_of() const {
        return order == "nr" ? NttOrder::nr : order == "rn" ? NttOrder::rn : NttOrder::nn;
    }
    NttLayout layout_of() const { return layout == "rows" ? NttLayout::rows : NttLayout::columns; }
    NttDirection direction() const { return inverse ? NttDirection::inverse : NttDirection::forward; }
    const char* action() const { return extends() ? "extend" : to_string(direction()); }
};

/// A file of transforms.
struct Transforms {
    NttShape shape;
    std::size_t axes = 1;  // of the array that count elements
    std::size_t axis = 0;  // the one along which a transform lies
    std::uint64_t bytes_in = 0, bytes_out = 0;
    Shape out_shape;
};

std::string shapes_wanted(const NttArguments& arguments) {
    const FieldInfo& field = arguments.info();
    const std::string limbs = field.limbs == 1 ? "" : ", " + std::to_string(field.limbs);
    const bool rows = arguments.layout_of() == NttLayout::rows;
    return (field.limbs == 1 ? "(n,)" : "(n" + limbs + ")") + std::string(" or ") +
           (rows ? "(batch, n" : "(n, batch") + limbs + ") for " + arguments.field +
           "; --field names another field";
}

Transforms transforms_of(const NttArguments& arguments, const ArrayInput& input) {
    const FieldInfo& field = arguments.info();
    const Shape& shape = input.shape();
    const std::size_t limb_axes = field.limbs == 1 ? 0 : 1;
    const bool fits = shape.size() == limb_axes + 1 || shape.size() == limb_axes + 2;
    if (!fits || (limb_axes == 1 && shape.back() != field.limbs))
        input.refuse("wrong shape (got " + to_string(shape) + ", need " + shapes_wanted(arguments) + ")");
    Transforms t;
    t.axes = shape.size() - limb_axes;
    t.shape.layout = arguments.layout_of();
    t.axis = t.shape.layout == NttLayout::rows ? t.axes - 1 : 0;
    const std::uint64_t n = shape[t.axis];
    if (n < 2 || !std::has_single_bit(n))
        input.refuse("no size of a transform (got " + std::to_string(n) + " elements along axis " +
                     std::to_string(t.axis) +
                     ", need a power of two from 2 on; pad the array with zeros, or change --layout)");
    t.shape.log_size = static_cast<std::uint32_t>(std::countr_zero(n));
    t.shape.batch = t.axes == 1 ? 1 : shape[1 - t.axis];
    t.out_shape = shape;
    t.out_shape[t.axis] *= arguments.times();
    t.bytes_in = t.shape.elements() * field.element_bytes;
    t.bytes_out = t.bytes_in * arguments.times();
    return t;
}

void check_arguments(const NttArguments& arguments) {
    if (arguments.out.empty() && !arguments.explain)
        throw Failure(Exit::usage, "--output: no file name (need the file that the results go to)");
    if (arguments.extends() && arguments.inverse)
        throw Failure(Exit::usage,
                      "--lde: extends values to more values (got --inverse too, need one of the two)");
    if (arguments.explain) arguments.device.require_planned();
    require_canonical("--coset", arguments.info(), arguments.coset);
    require_canonical("--root", arguments.info(), arguments.root);
}

std::string root_of(const NttArguments& arguments, std::uint32_t log_size) {
    const FieldInfo& field = arguments.info();
    FieldNumber root = arguments.root;
    if (root.empty()) {
        const auto limbs = ntt_root(field.field, log_size);
        root.assign(limbs.begin(), limbs.end());
    }
    if (field.limb_bytes == 4) return hex(field_limbs<std::uint32_t>(field, root));
    return hex(field_limbs<std::uint64_t>(field, root));
}

void explain(const NttArguments& arguments, const DeviceInfo& device, const Transforms& t) {
    const Field field = arguments.info().field;
    const std::uint32_t log_size =
        t.shape.log_size + static_cast<std::uint32_t>(std::countr_zero(arguments.times()));
    const std::uint32_t most = ntt_max_log_size(device, field);
    const std::string root = root_of(arguments, log_size);
    // A root of the caller is shown as it was given, and that of the library as it is.
    const char* const form = !arguments.root.empty() && arguments.montgomery ? "Montgomery" : "plain";
    if (arguments.json)
        return print_json({{"action", arguments.action()},
                           {"field", arguments.field},
                           {"order", arguments.order},
                           {"layout", arguments.layout},
                           {"log_size", t.shape.log_size},
                           {"transforms", t.shape.batch},
                           {"blowup", arguments.times()},
                           {"root", root},
                           {"root_form", form},
                           {"root_log_order", log_size},
                           {"bytes_in", t.bytes_in},
                           {"bytes_out", t.bytes_out},
                           {"device", device.name},
                           {"max_log_size", most},
                           {"fits", log_size <= most}});
    const auto size = [](std::uint64_t bytes) { return si(static_cast<double>(bytes), "B"); };
    std::printf("ntt %s %s: %" PRIu64 " transforms of 2^%u elements, order %s, %s, %s to %s\n",
                arguments.field.c_str(), arguments.action(), t.shape.batch, t.shape.log_size,
                arguments.order.c_str(), arguments.layout.c_str(), size(t.bytes_in).c_str(),
                size(t.bytes_out).c_str());
    std::printf("root of order 2^%u, in %s form: %s\n", log_size, form, root.c_str());
    std::printf("most elements of a transform: 2^%u in the field, 2^%u on %s\n", ntt_info(field).max_log_size,
                most, device.name.c_str());
    if (log_size > most) std::printf("it does not fit: transforms of 2^%u elements\n", log_size);
}

void print_report(const NttArguments& arguments, const DeviceInfo& device, const Transforms& t,
                  const OpReport& report) {
    const char* path = report.path == Path::automatic ? "none"
                       : report.mixed_paths           ? "mixed"
                                                      : to_string(report.path);
    if (!arguments.json) {
        std::printf("ntt %s %s: %" PRIu64
                    " transforms of 2^%u elements in %.6f s, %s, passes of %s bits, path %s, %s\n",
                    arguments.field.c_str(), arguments.action(), t.shape.batch, t.shape.log_size,
                    report.wall_s, si(report.gb_per_s() * 1e9, "B/s").c_str(),
                    report.method.empty() ? "none" : report.method.c_str(), path, device.name.c_str());
        print_rows(report.devices);
        return;
    }
    Json json{{"action", arguments.action()}, {"field", arguments.field},     {"order", arguments.order},
              {"layout", arguments.layout},   {"log_size", t.shape.log_size}, {"transforms", t.shape.batch},
              {"blowup", arguments.times()},  {"passes", report.method},      {"path", path},
              {"overlap", report.overlap()},  {"queues", report.queues}};
    add_run(json, report, device);
    print_json(json);
}

template <class Limb>
OpReport transform(const NttArguments& arguments, Target& target, const Transforms& t,
                   std::span<const Limb> in, std::span<Limb> out) {
    const FieldInfo& field = arguments.info();
    const std::vector<Limb> coset = field_limbs<Limb>(field, arguments.coset);
    const std::vector<Limb> root = field_limbs<Limb>(field, arguments.root);
    ProgressBar progress(std::string("ntt ") + arguments.action());
    NttHostOptions options;
    options.order = arguments.order_of();
    options.form = arguments.montgomery ? FieldForm::montgomery : FieldForm::plain;
    options.coset = coset;
    options.root = root;
    options.batch.progress = progress.callback();
    if (arguments.extends())
        return target.ntt_extend(field.field, in, out, t.shape, arguments.times(), options);
    return target.ntt(field.field, arguments.direction(), in, out, t.shape, options);
}

template <class Limb>
void run(const NttArguments& arguments) {
    static constexpr ElementType kTypes[] = {element_type<Limb>()};
    const Config config = arguments.device.config();
    check_arguments(arguments);
    ArrayInput input(arguments.in, kTypes);
    const Transforms transforms = transforms_of(arguments, input);
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}}, input.source().files("input"));
    if (arguments.explain) {
        require_writable(arguments.out);
        Target target(arguments.device, config);
        // A call without transforms checks the coset and the root.
        Transforms none = transforms;
        none.shape.batch = 0;
        transform<Limb>(arguments, target, none, {}, {});
        return explain(arguments, target.backend()->device(), transforms);
    }
    const std::span<const Limb> in = input.elements<Limb>();
    if (arguments.checked) require_canonical(input, in, arguments.info(), transforms.axes);
    NpyOutput out(arguments.out, element_type<Limb>(), transforms.out_shape);
    Target target(arguments.device, config);
    const OpReport report = transform<Limb>(arguments, target, transforms, in, out.elements<Limb>());
    input.require_unchanged();
    out.commit();
    print_report(arguments, target.device(), transforms, report);
}

void add_transform(CLI::App& ntt, NttArguments& arguments) {
    ntt.add_flag("--inverse", arguments.inverse, "From values to coefficients");
    ntt.add_option("--lde", arguments.blowup,
                   "Low-degree extension: values on n points to values on 2, 4, 8 or 16 times as many")
        ->type_name("TIMES")
        ->check(CLI::IsMember({"2", "4", "8", "16"}));
    ntt.add_option("--order", arguments.order,
                   "nn, nr or rn: natural or bit-reversed order of the input and of the output")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"nn", "nr", "rn"}));
    ntt.add_option("--layout", arguments.layout,
                   "rows: (batch, n), each transform is contiguous; columns: (n, batch), as a trace")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"rows", "columns"}));
    add_field_number(ntt, "--coset", arguments.coset,
                     "Values on the powers of the root times this, decimal or 0x and hexadecimal digits; 1 "
                     "without it");
    add_field_number(
        ntt, "--root", arguments.root,
        "The root of unity, of the order of the transform, with --lde of the larger one; left out: "
        "the library's, which --explain prints");
}

}  // namespace

void add_ntt(CLI::App& command) {
    CLI::App& ntt = *command.add_subcommand("ntt", "Number-theoretic transforms and low-degree extensions");
    const auto arguments = std::make_shared<NttArguments>();
    ntt.add_option("X", arguments->in,
                   "Elements as for weft field, (n, limbs) or (batch, n, limbs), of one limb (n,) or (batch, "
                   "n); n is a power of two. .npy, .npz, FILE.h5:/PATH, or a table named .csv, .tsv or .txt")
        ->required()
        ->type_name("FILE");
    ntt.add_option("-o,--output", arguments->out,
                   "Result, as X; replaced if it is there; needed without --explain")
        ->type_name("FILE.npy");
    add_field_name(ntt, arguments->field);
    add_transform(ntt, *arguments);
    ntt.add_flag("--checked", arguments->checked, "Refuse values that are not below p");
    ntt.add_flag("--montgomery", arguments->montgomery, "Values, coset and root are in Montgomery form");
    ntt.add_flag("--explain", arguments->explain,
                 "Print the transforms, the root and how large they may be; make nothing");
    ntt.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(ntt, true, Several::shared);
    ntt.footer(
        "Example: weft ntt trace.npy -o values.npy --field babybear --layout columns --lde 4 --coset 31");
    ntt.callback([arguments] {
        if (arguments->info().limb_bytes == 4)
            run<std::uint32_t>(*arguments);
        else
            run<std::uint64_t>(*arguments);
    });
}

}  // namespace weft::tool
