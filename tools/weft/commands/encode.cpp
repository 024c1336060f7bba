// SPDX-License-Identifier: Apache-2.0
// weft encode: rows of a file into quantum states.
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "arrays/npy.hpp"
#include "arrays/row_reader.hpp"
#include "arrays/row_source.hpp"
#include "cli/cuda_calls.hpp"
#include "cli/device_options.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/encode_needs.hpp"

namespace weft::tool {
namespace {

struct EncodeArguments {
    std::string method, in, out;
    std::uint32_t qubits = 0;
    std::string dtype = "complex64", dtype_in, shape;
    bool explain = false, json = false;
    DeviceOptions device;
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

std::unique_ptr<RowSource> open_source(const EncodeArguments& arguments) {
    if (!arguments.shape.empty()) {
        if (arguments.dtype_in.empty())
            throw Failure(Exit::usage, "--shape: a file without a header needs --dtype-in too");
        return open_raw(arguments.in, raw_shape(arguments));
    }
    if (!arguments.dtype_in.empty())
        throw Failure(Exit::usage, "--dtype-in: for files without a header, together with --shape");
    return names_hdf5(arguments.in) ? open_hdf5(arguments.in) : open_npy(arguments.in);
}

/// The file itself, of one that holds a data set too.
std::string file_of(const EncodeArguments& arguments) {
    return arguments.shape.empty() && names_hdf5(arguments.in) ? hdf5_file(arguments.in) : arguments.in;
}

std::uint64_t state_bytes(const EncodeArguments& arguments, const StateShape& shape) {
    return shape.amplitudes() * (arguments.dtype == "complex64" ? sizeof(c32) : sizeof(c64));
}

std::uint64_t memory_of_machine() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

EncodeNeeds needs_of(const EncodeArguments& arguments, const Backend* backend, const RowSource& source,
                     const StateShape& shape, EncodeTypes types) {
    EncodeNeeds needs;
    needs.output_bytes = state_bytes(arguments, shape);
    needs.reading = plan_reading(source.samples(), source.row_bytes(), needs.output_bytes / shape.samples);
    needs.host_bytes = memory_of_machine();
    if (!arguments.out.empty()) needs.disk_bytes = room_for(arguments.out);
    // Every part that is read is a call.
    if (backend != nullptr)
        needs.device =
            estimate_encode(*backend, encode_method(arguments.method),
                            {needs.reading.rows_per_chunk, shape.qubits}, types, source.features());
    return needs;
}

std::string rate_text(double rows, double all, std::chrono::steady_clock::time_point begin) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    char text[96];
    std::snprintf(text, sizeof text, " %.3g samples/s, %.0f s left", rows / seconds,
                  rows > 0 ? seconds * (all / rows - 1) : 0.0);
    return text;
}

// A row that cannot be encoded fails the run, but not before all such rows are known.
double encode_rows(Target& target_device, EncodeMethod method, RowSource& source, NpyOutput& out,
                   const StateShape& shape, ElementType states, const ReadPlan& reading) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t row_bytes = shape.state_size() * states.bytes();
    const auto all = static_cast<double>(source.samples());
    ProgressBar progress(std::string("encode ") + to_string(method));
    const auto show = [&](double rows) {
        progress.show(static_cast<std::size_t>(1000 * rows / all), 1000, rate_text(rows, all, begin));
    };
    RowReader reader(target_device.backend(), source, reading.rows_per_chunk, reading.chunks - 1);
    const auto target = out.elements<std::byte>();
    BadRows bad;
    for (RowChunk chunk = reader.next(); chunk.rows != 0; chunk = reader.next()) {
        const ConstHostArray in(chunk.memory->data(), chunk.rows * source.features(), source.type());
        const HostArray to(target.data() + chunk.first * row_bytes, chunk.rows << shape.qubits, states);
        EncodeHostOptions options;
        options.batch.progress = [&](const Progress& p) { show(static_cast<double>(chunk.first + p.done)); };
        try {
            target_device.encode(method, in, to, {chunk.rows, shape.qubits}, options);
        } catch (const EncodeError& error) {
            bad.add(chunk.first, error.failures());
        }
        reader.give_back(std::move(chunk));
    }
    if (bad.count() != 0) source.refuse(bad.text());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void explain(const EncodeArguments& arguments, const DeviceInfo& device, const RowSource& source,
             const StateShape& shape, const EncodeNeeds& needs) {
    const std::vector<std::string> reasons = shortages(needs);
    const std::uint64_t bytes_in = source.samples() * source.row_bytes();
    if (arguments.json) {
        Json json{{"method", arguments.method},
                  {"samples", shape.samples},
                  {"qubits", shape.qubits},
                  {"features", source.features()},
                  {"dtype", arguments.dtype},
                  {"bytes_in", bytes_in},
                  {"bytes_out", needs.output_bytes},
                  {"host_bytes", needs.reading.bytes},
                  {"host_memory_bytes", needs.host_bytes}};
        json["rows_per_call"] = needs.reading.rows_per_chunk;
        if (needs.device) json["device_bytes"] = needs.device->streamed_bytes;
        if (needs.device) json["available_bytes"] = needs.device->available_bytes;
        if (needs.disk_bytes && *needs.disk_bytes != std::numeric_limits<std::uint64_t>::max())
            json["disk_bytes"] = *needs.disk_bytes;
        json["device"] = device.name;
        json["fits"] = reasons.empty();
        json["reasons"] = reasons;
        return print_json(json);
    }
    const auto gb = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-9; };
    std::printf("encode %s: %" PRIu64 " samples of %u qubits, %.3f GB of values, %.3f GB of states\n",
                arguments.method.c_str(), shape.samples, shape.qubits, gb(bytes_in), gb(needs.output_bytes));
    if (needs.device)
        std::printf("device memory: %.3f GB of %.3f GB, %s, %" PRIu64 " rows a call\n",
                    gb(needs.device->streamed_bytes), gb(needs.device->available_bytes), device.name.c_str(),
                    needs.reading.rows_per_chunk);
    std::printf("host memory: %.3f GB of %.3f GB, %" PRIu64 " parts of %" PRIu64 " rows read ahead\n",
                gb(needs.reading.bytes), gb(needs.host_bytes), needs.reading.chunks,
                needs.reading.rows_per_chunk);
    if (needs.disk_bytes && *needs.disk_bytes == std::numeric_limits<std::uint64_t>::max())
        std::printf("disk: %.3f GB of a disk that does not tell its room\n", gb(needs.output_bytes));
    else if (needs.disk_bytes)
        std::printf("disk: %.3f GB of %.3f GB\n", gb(needs.output_bytes), gb(*needs.disk_bytes));
    for (const std::string& reason : reasons) std::printf("it does not fit: %s\n", reason.c_str());
}

void print_report(const EncodeArguments& arguments, const DeviceInfo& device, const RowSource& source,
                  const StateShape& shape, double seconds) {
    const std::uint64_t bytes_in = source.samples() * source.row_bytes();
    const std::uint64_t bytes_out = state_bytes(arguments, shape);
    const double rate = static_cast<double>(shape.samples) / seconds;
    if (!arguments.json) {
        std::printf("encode %s: %" PRIu64 " samples of %u qubits in %.6f s, %s, %s\n",
                    arguments.method.c_str(), shape.samples, shape.qubits, seconds,
                    si(rate, "samples/s").c_str(), device.name.c_str());
        return;
    }
    print_json({{"method", arguments.method},
                {"samples", shape.samples},
                {"qubits", shape.qubits},
                {"features", source.features()},
                {"dtype", arguments.dtype},
                {"seconds", seconds},
                {"samples_per_s", rate},
                {"bytes_in", bytes_in},
                {"bytes_out", bytes_out},
                {"device", device.name},
                {"driver", device.driver}});
}

// The bytes of all states are a product of these two.
void require_countable(const RowSource& source, std::uint32_t qubits) {
    if (source.samples() > std::uint64_t{1} << 58 >> qubits)
        source.refuse("too many rows (got " + std::to_string(source.samples()) + " for " +
                      std::to_string(qubits) + " qubits, need at most 2^58 amplitudes)");
}

// What does not depend on the device.
void require_columns(const RowSource& source, EncodeMethod method, std::uint32_t qubits) {
    const std::uint64_t most = encode_features(method, qubits);
    const bool any_length = method == EncodeMethod::amplitude;
    if (any_length ? source.features() > most : source.features() != most)
        source.refuse("wrong number of columns (got " + std::to_string(source.features()) + ", need " +
                      (any_length ? "1 to " : "") + std::to_string(most) + " for " + std::to_string(qubits) +
                      " qubits)");
    if (source.type() == kInt64 && method != EncodeMethod::basis)
        source.refuse("wrong type (got " + source.type_name() + ", need float32 or float64; " +
                      to_string(method) + " takes no whole numbers)");
}

void run(const EncodeArguments& arguments) {
    const Config config = arguments.device.config();
    if (arguments.out.empty() && !arguments.explain)
        throw Failure(Exit::usage, "--output: no file name (need the file that the states go to)");
    if (arguments.explain) arguments.device.require_planned();
    const EncodeMethod method = encode_method(arguments.method);
    const std::unique_ptr<RowSource> source = open_source(arguments);
    const StateShape shape{source->samples(), arguments.qubits};
    const ElementType states = arguments.dtype == "complex64" ? kComplex64 : kComplex128;
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}},
                  {{"input", file_of(arguments)}, {"input", source->file()}});
    require_columns(*source, method, arguments.qubits);
    require_countable(*source, arguments.qubits);
    if (arguments.explain) require_writable(arguments.out);
    Target target(arguments.device, config);
    const EncodeNeeds needs = needs_of(arguments, target.backend(), *source, shape, {source->type(), states});
    if (arguments.explain) return explain(arguments, target.device(), *source, shape, needs);
    EncodeNeeds memory = needs;
    memory.disk_bytes.reset();  // NpyOutput's to refuse
    if (const std::vector<std::string> reasons = shortages(memory); !reasons.empty())
        throw Failure(Exit::usage, source->path() + ": too large: " + reasons.front());
    NpyOutput out(arguments.out, states == kComplex64 ? "<c8" : "<c16", {shape.samples, shape.state_size()},
                  needs.output_bytes);
    const double seconds = encode_rows(target, method, *source, out, shape, states, needs.reading);
    out.commit();
    print_report(arguments, target.device(), *source, shape, seconds);
}

}  // namespace

void add_encode(CLI::App& command) {
    CLI::App& encode = *command.add_subcommand("encode", "Rows of numbers into quantum states");
    const auto arguments = std::make_shared<EncodeArguments>();
    encode.add_option("METHOD", arguments->method, "amplitude, angle, basis, phase, iqp or iqp-z")
        ->required()
        ->type_name("")
        ->check(CLI::Validator(check_method, ""));
    encode
        .add_option("X", arguments->in,
                    "Values, (samples, features) float32 or float64, for basis also int64: a .npy file in C "
                    "or Fortran "
                    "order, a data set FILE.h5:/PATH, or with --shape numbers without a header")
        ->required()
        ->type_name("FILE");
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
    encode
        .add_option(
            "--shape", arguments->shape,
            "SAMPLES,FEATURES of a file without a header, in C order, little-endian; needs --dtype-in")
        ->type_name("S,F");
    encode
        .add_option("--dtype-in", arguments->dtype_in,
                    "Type of a file without a header: float32, float64 or int64; needs --shape")
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64", "int64"}));
    encode.add_flag("--explain", arguments->explain,
                    "Print the memory and the disk space that a run on vulkan takes; make nothing");
    encode.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(encode, true);
    encode.footer("Example: weft encode amplitude x.npy -o states.npy --qubits 16");
    encode.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
