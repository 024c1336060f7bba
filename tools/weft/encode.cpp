// SPDX-License-Identifier: Apache-2.0
// weft encode: rows of a file into quantum states.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "commands.hpp"
#include "cuda_calls.hpp"
#include "device_options.hpp"
#include "figures.hpp"
#include "npy.hpp"
#include "number_options.hpp"
#include "progress.hpp"
#include "row_reader.hpp"
#include "row_source.hpp"

namespace weft::tool {
namespace {

struct EncodeArguments {
    std::string method, in, out;
    std::uint32_t qubits = 0;
    std::string dtype = "complex64", dtype_in, shape;
    bool json = false;
    DeviceOptions device;
};

std::string check_method(const std::string& name) try {
    encode_method(name);
    return {};
} catch (const Error&) {
    return "no such method (got " + name + ", need amplitude, angle, basis, phase, iqp or iqp-z)";
}

ValueType value_type(const std::string& name) {
    if (name == "float32") return ValueType::float32;
    if (name == "int64") return ValueType::int64;
    return ValueType::float64;
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

// The library knows the samples of a call where the user knows the rows of a file.
[[noreturn]] void refuse_rows(const RowSource& source, std::uint64_t first, const EncodeError& error) {
    const EncodeFailure& failure = error.failures().front();
    std::string text = source.path() + ": row " + std::to_string(first + failure.sample);
    text += failure.fault == EncodeFault::zero_norm
                ? std::string(" has zero norm")
                : " value " + std::to_string(failure.position) + " is " + to_string(failure.fault);
    if (error.failures().size() > 1)
        text += " (and " + std::to_string(error.failures().size() - 1) + " more of the rows read by then)";
    throw Failure(Exit::usage, text);
}

void require_room(const Backend& backend, EncodeMethod method, const StateShape& shape, EncodeTypes types,
                  std::uint64_t features) {
    const EncodeEstimate estimate = estimate_encode(backend, method, shape, types, features);
    if (!estimate.streamed_fits) throw Failure(Exit::usage, "--qubits: " + estimate.reason);
}

// A chunk is large enough for the device's copies and small enough to read ahead.
std::uint64_t rows_per_chunk(const RowSource& source, std::uint64_t row_bytes_out) {
    constexpr std::uint64_t kChunkBytes = std::uint64_t{128} << 20;
    return std::clamp<std::uint64_t>(kChunkBytes / std::max(source.row_bytes(), row_bytes_out), 1,
                                     source.samples());
}

double encode_rows(Target& target_device, EncodeMethod method, RowSource& source, NpyOutput& out,
                   const StateShape& shape, StateType states) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t row_bytes = shape.state_size() * (states == StateType::complex64 ? 8 : 16);
    Progress progress(std::string("encode ") + to_string(method));
    RowReader reader(target_device.backend(), source, rows_per_chunk(source, row_bytes));
    const auto target = out.elements<std::byte>();
    for (RowChunk chunk = reader.next(); chunk.rows != 0; chunk = reader.next()) {
        const EncodeSource in(chunk.memory->data(), chunk.rows * source.features(), source.type());
        const EncodeTarget to(target.data() + chunk.first * row_bytes, chunk.rows << shape.qubits, states);
        try {
            target_device.encode(method, in, to, {chunk.rows, shape.qubits});
        } catch (const EncodeError& error) {
            refuse_rows(source, chunk.first, error);
        }
        progress.show(chunk.first + chunk.rows, source.samples());
        reader.give_back(std::move(chunk));
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_report(const EncodeArguments& arguments, const DeviceInfo& device, const RowSource& source,
                  const StateShape& shape, double seconds) {
    const std::uint64_t bytes_in = source.samples() * source.row_bytes();
    const std::uint64_t bytes_out = shape.amplitudes() * (arguments.dtype == "complex64" ? 8 : 16);
    const double rate = static_cast<double>(shape.samples) / seconds;
    if (!arguments.json) {
        std::printf("encode %s: %" PRIu64 " samples of %u qubits in %.6f s, %s, %s\n",
                    arguments.method.c_str(), shape.samples, shape.qubits, seconds,
                    si(rate, "samples/s").c_str(), device.name.c_str());
        return;
    }
    using Json = nlohmann::ordered_json;
    const Json json{{"method", arguments.method},    {"samples", shape.samples}, {"qubits", shape.qubits},
                    {"features", source.features()}, {"dtype", arguments.dtype}, {"seconds", seconds},
                    {"samples_per_s", rate},         {"bytes_in", bytes_in},     {"bytes_out", bytes_out},
                    {"device", device.name},         {"driver", device.driver}};
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void run(const EncodeArguments& arguments) {
    const Config config = arguments.device.config();
    const EncodeMethod method = encode_method(arguments.method);
    const std::unique_ptr<RowSource> source = open_source(arguments);
    const StateShape shape{source->samples(), arguments.qubits};
    const StateType states = arguments.dtype == "complex64" ? StateType::complex64 : StateType::complex128;
    const std::uint64_t most = encode_features(method, arguments.qubits);
    const bool any_length = method == EncodeMethod::amplitude;
    if (any_length ? source->features() > most : source->features() != most)
        throw Failure(Exit::usage, source->path() + ": wrong number of columns (got " +
                                       std::to_string(source->features()) + ", need " +
                                       (any_length ? "1 to " : "") + std::to_string(most) + " for " +
                                       std::to_string(arguments.qubits) + " qubits)");
    Target target(arguments.device, config);
    if (target.backend() != nullptr)
        require_room(*target.backend(), method, shape, {source->type(), states}, source->features());
    NpyOutput out(arguments.out, states == StateType::complex64 ? "<c8" : "<c16",
                  {shape.samples, shape.state_size()},
                  shape.amplitudes() * (states == StateType::complex64 ? 8 : 16));
    const double seconds = encode_rows(target, method, *source, out, shape, states);
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
        .add_option(
            "X", arguments->in,
            "Values, (samples, features) float32 or float64, for basis also int64: a .npy file, a data set "
            "FILE.h5:/PATH, or with --shape numbers without a header")
        ->required()
        ->type_name("FILE");
    encode.add_option("-o,--output", arguments->out, "States, (samples, 2^qubits); replaced if it is there")
        ->required()
        ->type_name("FILE.npy");
    add_number(encode, "--qubits", arguments->qubits, "Qubits, 1 to 30", {1, 30})
        ->required()
        ->default_str("");
    encode.add_option("--dtype", arguments->dtype, "Of the states: complex64 or complex128")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"complex64", "complex128"}));
    encode
        .add_option("--shape", arguments->shape,
                    "SAMPLES,FEATURES of a file without a header, C order, little-endian")
        ->type_name("S,F");
    encode.add_option("--dtype-in", arguments->dtype_in, "Its type: float32, float64 or int64")
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64", "int64"}));
    encode.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(encode, true);
    encode.footer("Example: weft encode amplitude x.npy -o states.npy --qubits 16");
    encode.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
