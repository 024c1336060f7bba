// SPDX-License-Identifier: Apache-2.0
// weft encode: rows of a file into quantum states.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/array_source.hpp"
#include "arrays/npy.hpp"
#include "arrays/row_reader.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/encode/encode_needs.hpp"
#include "commands/encode/encode_shape.hpp"
#include "commands/fit.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"
#include "device/device_rows.hpp"

namespace weft::tool {
namespace {

struct EncodeArguments {
    std::string method, in, out;
    std::uint32_t qubits = 0;
    std::string dtype = "complex64", dtype_in, shape;
    std::optional<std::uint64_t> samples, features;  ///< of values that do not exist yet
    bool explain = false, json = false;
    DeviceOptions device;

    ElementType states() const { return dtype == "complex64" ? kComplex64 : kComplex128; }
};

/// The values to encode: those of a file, or values that do not exist yet.
struct EncodeData {
    StateShape shape;
    std::uint64_t features = 0;
    ElementType type = kFloat64;
    std::uint64_t row_bytes() const { return features * type.bytes(); }
    std::uint64_t bytes() const { return shape.samples * row_bytes(); }
};

std::string check_method(const std::string& name) try {
    encode_method(name);
    return {};
} catch (const Error&) {
    return "no such method (got " + name + ", need amplitude, angle, basis, phase, iqp or iqp-z)";
}

ElementType value_type(const std::string& name) {
    if (name == "float32") return kFloat32;
    if (name == "int64") return kInt64;
    return kFloat64;
}

RawShape raw_shape(const EncodeArguments& arguments) {
    RawShape shape{.type = value_type(arguments.dtype_in)};
    const std::size_t comma = arguments.shape.find(',');
    if (comma == std::string::npos)
        throw Failure(Exit::usage,
                      "--shape: not a shape (got " + arguments.shape + ", need SAMPLES,FEATURES)");
    try {
        const std::string_view text = arguments.shape;
        shape.samples = parse_number(text.substr(0, comma), Bounds<std::uint64_t>{});
        shape.features = parse_number(text.substr(comma + 1), Bounds<std::uint64_t>{});
    } catch (const std::invalid_argument& error) {
        throw Failure(Exit::usage, std::string("--shape: not SAMPLES,FEATURES: ") + error.what());
    }
    return shape;
}

std::unique_ptr<ArraySource> open_source(const EncodeArguments& arguments, EncodeMethod method) {
    static constexpr ElementType kTypes[] = {kFloat64, kFloat32, kInt64};
    const std::size_t count = method == EncodeMethod::basis ? 3 : 2;  // only basis accepts whole numbers
    if (arguments.shape.empty()) {
        if (!arguments.dtype_in.empty())
            throw Failure(Exit::usage, "--dtype-in: for files without a header, together with --shape");
        if (arguments.in == "-")
            throw Failure(Exit::usage, "-: standard input has no header (need --shape and --dtype-in)");
        return open_array(arguments.in, {kTypes, count});
    }
    if (arguments.dtype_in.empty())
        throw Failure(Exit::usage, "--shape: a file without a header needs --dtype-in too");
    return open_raw(arguments.in, raw_shape(arguments));
}

EncodeData data_of(const EncodeArguments& arguments, const ArraySource& source) {
    return {{source.rows(), arguments.qubits}, source.row_values(), source.type()};
}

/// For --samples, which takes the place of a file.
EncodeData data_to_come(const EncodeArguments& arguments, EncodeMethod method) {
    const auto refuse = [](const std::string& what) { throw Failure(Exit::usage, what); };
    if (!arguments.in.empty() || !arguments.shape.empty())
        refuse("--samples: stands for a file that is not there yet (leave out X and --shape)");
    if (!arguments.explain) refuse("--samples: without values there is only a plan (need --explain)");
    EncodeData data{{*arguments.samples, arguments.qubits},
                    arguments.features.value_or(encode_features(method, arguments.qubits)),
                    arguments.dtype_in.empty() ? kFloat64 : value_type(arguments.dtype_in)};
    if (const std::string wrong = wrong_columns(method, arguments.qubits, data.features); !wrong.empty())
        refuse("--features: " + wrong);
    if (data.shape.samples > std::uint64_t{1} << 58 >> arguments.qubits)
        refuse("--samples: too many (got " + std::to_string(data.shape.samples) +
               ", need at most 2^58 amplitudes)");
    return data;
}

EncodeNeeds needs_of(const EncodeArguments& arguments, Target& target, const EncodeData& data) {
    EncodeNeeds needs;
    needs.output_bytes = data.shape.amplitudes() * arguments.states().bytes();
    needs.reading = plan_reading(data.shape.samples, data.row_bytes(),
                                 needs.output_bytes / data.shape.samples, target.size());
    needs.host_bytes = memory_of_machine();
    if (!arguments.out.empty()) needs.disk_bytes = room_for(arguments.out);
    if (target.backend() == nullptr) return needs;
    const auto estimate_on = [&](const Backend& backend, std::uint64_t samples) {
        return estimate_encode(backend, encode_method(arguments.method), {samples, arguments.qubits},
                               {data.type, arguments.states()}, data.features);
    };
    // Every part that is read is encoded by one call. A plan is that of the first device.
    needs.device = target.first_that_fits(
        [&](const Backend& backend) { return estimate_on(backend, needs.reading.rows_per_chunk); },
        [&](const EncodeEstimate& e) { return e.streamed_fits || arguments.explain; });
    const std::uint64_t most = std::uint64_t{1} << 58 >> arguments.qubits;
    if (!arguments.explain) return needs;
    needs.most_on_device = largest_that_fits(
        most, [&](std::uint64_t n) { return estimate_on(*target.backend(), n).resident_fits; });
    needs.most_on_host =
        std::min(most, needs.host_bytes / (data.row_bytes() + needs.output_bytes / data.shape.samples));
    return needs;
}

std::string rate_text(double rows, double all, std::chrono::steady_clock::time_point begin) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    char text[96];
    std::snprintf(text, sizeof text, " %.3g samples/s, %.0f s left", rows / seconds,
                  rows > 0 ? seconds * (all / rows - 1) : 0.0);
    return text;
}

// A row that cannot be encoded makes the run fail, but only after all such rows have been found.
double encode_rows(Target& target_device, EncodeMethod method, ArraySource& source, NpyOutput& out,
                   const StateShape& shape, ElementType states, const ReadPlan& reading,
                   DeviceRows& of_devices) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t row_bytes = shape.state_size() * states.bytes();
    const auto all = static_cast<double>(source.rows());
    ProgressBar progress(std::string("encode ") + to_string(method));
    const auto show = [&](double rows) {
        progress.show(static_cast<std::size_t>(1000 * rows / all), 1000, rate_text(rows, all, begin));
    };
    RowReader reader(target_device.backend(), source, reading.rows_per_chunk, reading.chunks - 1);
    const auto target = out.elements<std::byte>();
    BadRows bad;
    for (RowChunk chunk = reader.next(); chunk.rows != 0; chunk = reader.next()) {
        const ConstHostArray in(chunk.memory->data(), chunk.rows * source.row_values(), source.type());
        const HostArray to(target.data() + chunk.first * row_bytes, chunk.rows << shape.qubits, states);
        EncodeHostOptions options;
        options.batch.progress = [&](const Progress& p) { show(static_cast<double>(chunk.first + p.done)); };
        try {
            add_rows(of_devices,
                     target_device.encode(method, in, to, {chunk.rows, shape.qubits}, options).devices);
        } catch (const EncodeError& error) {
            bad.add(chunk.first, error.failures());
        }
        reader.give_back(std::move(chunk));
    }
    if (bad.count() != 0) source.refuse(bad.text());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Json plan_json(const EncodeArguments& arguments, const EncodeData& data, const EncodeNeeds& needs) {
    Json json{{"method", arguments.method},
              {"samples", data.shape.samples},
              {"qubits", data.shape.qubits},
              {"features", data.features},
              {"dtype", arguments.dtype},
              {"bytes_in", data.bytes()},
              {"bytes_out", needs.output_bytes},
              {"host_bytes", needs.reading.bytes},
              {"host_memory_bytes", needs.host_bytes},
              {"rows_per_call", needs.reading.rows_per_chunk}};
    if (needs.device) json["device_bytes"] = needs.device->streamed_bytes;
    if (needs.device) json["available_bytes"] = needs.device->available_bytes;
    if (needs.disk_bytes && *needs.disk_bytes != std::numeric_limits<std::uint64_t>::max())
        json["disk_bytes"] = *needs.disk_bytes;
    json["most_samples_on_device"] = needs.most_on_device;
    json["most_samples_in_memory"] = needs.most_on_host;
    return json;
}

void explain(const EncodeArguments& arguments, const DeviceInfo& device, const EncodeData& data,
             const EncodeNeeds& needs) {
    const std::vector<std::string> reasons = shortages(needs);
    if (arguments.json) {
        Json json = plan_json(arguments, data, needs);
        json["device"] = device.name;
        json["fits"] = reasons.empty();
        json["reasons"] = reasons;
        return print_json(json);
    }
    const auto size = [](std::uint64_t bytes) { return si(static_cast<double>(bytes), "B"); };
    std::printf("encode %s: %" PRIu64 " samples of %u qubits, %s of values, %s of states\n",
                arguments.method.c_str(), data.shape.samples, data.shape.qubits, size(data.bytes()).c_str(),
                size(needs.output_bytes).c_str());
    if (needs.device)
        std::printf("device memory: %s of %s, %s, %" PRIu64 " rows a call\n",
                    size(needs.device->streamed_bytes).c_str(), size(needs.device->available_bytes).c_str(),
                    device.name.c_str(), needs.reading.rows_per_chunk);
    std::printf("host memory: %s of %s, %" PRIu64 " parts of %" PRIu64 " rows read ahead\n",
                size(needs.reading.bytes).c_str(), size(needs.host_bytes).c_str(), needs.reading.chunks,
                needs.reading.rows_per_chunk);
    if (needs.disk_bytes && *needs.disk_bytes == std::numeric_limits<std::uint64_t>::max())
        std::printf("disk: %s; the free space is not known\n", size(needs.output_bytes).c_str());
    else if (needs.disk_bytes)
        std::printf("disk: %s of %s\n", size(needs.output_bytes).c_str(), size(*needs.disk_bytes).c_str());
    std::printf("values and states that fit as a whole: %" PRIu64 " samples on the device, %" PRIu64
                " in this machine's memory; a file of any length is encoded in parts\n",
                needs.most_on_device, needs.most_on_host);
    for (const std::string& reason : reasons) std::printf("it does not fit: %s\n", reason.c_str());
}

void print_report(const EncodeArguments& arguments, const DeviceInfo& device, const EncodeData& data,
                  std::uint64_t bytes_out, double seconds, const DeviceRows& rows) {
    const double rate = static_cast<double>(data.shape.samples) / seconds;
    if (!arguments.json) {
        std::printf("encode %s: %" PRIu64 " samples of %u qubits in %.6f s, %s, %s\n",
                    arguments.method.c_str(), data.shape.samples, data.shape.qubits, seconds,
                    si(rate, "samples/s").c_str(), device.name.c_str());
        print_rows(rows);
        return;
    }
    Json json{{"method", arguments.method}, {"samples", data.shape.samples}, {"qubits", data.shape.qubits},
              {"features", data.features},  {"dtype", arguments.dtype},      {"seconds", seconds},
              {"samples_per_s", rate},      {"bytes_in", data.bytes()},      {"bytes_out", bytes_out},
              {"device", device.name},      {"driver", device.driver}};
    if (!rows.empty()) json["devices"] = json_of(rows);
    print_json(json);
}

void run(const EncodeArguments& arguments) {
    const Config config = arguments.device.config();
    const EncodeMethod method = encode_method(arguments.method);
    if (arguments.features && !arguments.samples)
        throw Failure(Exit::usage, "--features: goes with --samples; a file says how many it has");
    if (arguments.out.empty() && !arguments.explain && !arguments.samples)
        throw Failure(Exit::usage, "--output: no file name (need the file that the states go to)");
    if (arguments.in.empty() && !arguments.samples)
        throw Failure(Exit::usage, "X: no input (need a file, or --explain with --samples)");
    if (arguments.dtype_in == "int64" && method != EncodeMethod::basis)
        throw Failure(Exit::usage,
                      std::string("--dtype-in: wrong type (got int64, need float32 or float64; ") +
                          to_string(method) + " takes no whole numbers)");
    if (arguments.explain) arguments.device.require_planned();
    std::unique_ptr<ArraySource> source;
    if (!arguments.samples) source = open_source(arguments, method);
    if (source) require_encodable(*source, method, arguments.qubits);
    const EncodeData data = source ? data_of(arguments, *source) : data_to_come(arguments, method);
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}},
                  source ? source->files("input") : std::vector<NamedFile>{});
    if (arguments.explain) require_writable(arguments.out);
    Target target(arguments.device, config);
    const EncodeNeeds needs = needs_of(arguments, target, data);
    if (arguments.explain) return explain(arguments, target.backend()->device(), data, needs);
    EncodeNeeds memory = needs;
    memory.disk_bytes.reset();  // NpyOutput reports a full disk
    if (const std::vector<std::string> reasons = shortages(memory); !reasons.empty())
        throw Failure(Exit::usage, source->path() + ": too large: " + reasons.front());
    NpyOutput out(arguments.out, arguments.states(), {data.shape.samples, data.shape.state_size()});
    DeviceRows rows;
    const double seconds =
        encode_rows(target, method, *source, out, data.shape, arguments.states(), needs.reading, rows);
    out.commit();
    print_report(arguments, target.device(), data, needs.output_bytes, seconds, rows);
}

void add_inputs(CLI::App& encode, EncodeArguments& arguments) {
    encode
        .add_option(
            "X", arguments.in,
            "Values, (samples, features) float32 or float64, for basis also int64: .npy, .npz, "
            "FILE.h5:/PATH, or a table named .csv, .tsv or .txt; with --shape numbers without a header, "
            "- for those of standard input")
        ->type_name("FILE");
    encode
        .add_option(
            "--shape", arguments.shape,
            "SAMPLES,FEATURES of a file without a header, in C order, little-endian; needs --dtype-in")
        ->type_name("S,F");
    encode
        .add_option("--dtype-in", arguments.dtype_in,
                    "Type of a file without a header, or with --samples: float32, float64 or int64")
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64", "int64"}));
    const Bounds<std::uint64_t> counts{1, std::uint64_t{1} << 58, "1 to 2^58"};
    add_number_or_none(encode, "--samples", arguments.samples,
                       "Instead of X, with --explain: what that many samples would take", counts);
    add_number_or_none(encode, "--features", arguments.features,
                       "Values of each of --samples; left out: what the method takes at most", counts);
}

}  // namespace

void add_encode(CLI::App& command) {
    CLI::App& encode = *command.add_subcommand("encode", "Rows of numbers into quantum states");
    const auto arguments = std::make_shared<EncodeArguments>();
    encode.add_option("METHOD", arguments->method, "amplitude, angle, basis, phase, iqp or iqp-z")
        ->required()
        ->type_name("")
        ->check(CLI::Validator(check_method, ""));
    add_inputs(encode, *arguments);
    encode
        .add_option("-o,--output", arguments->out,
                    "States, (samples, 2^qubits); replaced if it is there; needed without --explain")
        ->type_name("FILE.npy");
    add_number(encode, "--qubits", arguments->qubits, "Qubits, 1 to 30", {1, 30})
        ->required()
        ->default_str("");
    encode.add_option("--dtype", arguments->dtype, "Type of the states: complex64 or complex128")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"complex64", "complex128"}));
    encode.add_flag(
        "--explain", arguments->explain,
        "Print the memory and the disk space that a run on vulkan takes, and how many samples fit; "
        "make nothing");
    encode.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(encode, true, Several::shared);
    encode.footer("Example: weft encode amplitude x.npy -o states.npy --qubits 16");
    encode.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
