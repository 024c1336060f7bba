// SPDX-License-Identifier: Apache-2.0
// Lattice codes: vectors a second from ordinary memory, from page-locked memory and on resident buffers, by
// size of the batch, beside what copies and device memory allow in the same run.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Settings {
    std::vector<std::size_t> batches{1, 10, 100, 1000, 10000, 1000000, 100000000};
    weft::LatticeCode code{.beta = 0.5f, .packed = true};
    int repeats = 21;
    bool quick = false;
    std::string json;
};

enum class Op { encode, decode, quantize };
constexpr const char* kNames[] = {"encode", "decode", "quantize"};

struct Bytes {
    std::size_t values, codes, status;

    std::size_t in(Op op) const { return op == Op::decode ? codes + status : values; }
    std::size_t out(Op op) const {
        return op == Op::encode ? codes + status : op == Op::decode ? values : values + status;
    }
};

Bytes bytes_of(const weft::LatticeCode& code, std::size_t n) {
    return {n * dimension(code.lattice) * sizeof(float), weft::code_bytes(code, n), n};
}

/// Numbers that mostly fit the code: up to a third of what it reaches.
void fill(std::span<float> x, const weft::LatticeCode& code) {
    const double reach = code.beta * std::pow(code.q, code.levels) / 2;
    const auto scale = static_cast<float>(reach / 3 / (1 << 23));
    std::uint32_t state = 1;
    for (float& v : x) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<float>(static_cast<std::int32_t>(state) >> 8) * scale;
    }
}

[[noreturn]] void wrong(const std::string& what) {
    throw weft::Error(weft::Errc::driver, "bench_lattice: " + what);
}

/// The arrays of a batch in one kind of host memory.
struct Arrays {
    std::span<float> x, y, z;  // values, decoded, quantized
    std::span<std::uint8_t> codes, status;

    void run(weft::Backend& backend, const weft::LatticeCode& code, Op op) const {
        if (op == Op::encode) weft::lattice_encode(backend, code, x, codes, status);
        if (op == Op::decode) weft::lattice_decode(backend, code, codes, status, y);
        if (op == Op::quantize) weft::lattice_quantize(backend, code, x, z, status);
    }
    /// Decoding the code is quantizing, and without overload no vector moves further than the lattice allows.
    void require_right(const weft::LatticeCode& code) const {
        const std::size_t d = dimension(code.lattice);
        const double radius = code.beta * (code.lattice == weft::Lattice::z2 ? std::sqrt(0.5) : 1.0);
        std::size_t kept = 0;
        for (std::size_t v = 0; v < status.size(); ++v) {
            double squares = 0;
            for (std::size_t i = v * d; i < (v + 1) * d; ++i) {
                if (y[i] != z[i]) wrong("decoded and quantized differ at value " + std::to_string(i));
                squares += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
            }
            if (status[v] != 0) continue;
            ++kept;
            if (squares > radius * radius * 1.00001)
                wrong("too large an error at vector " + std::to_string(v));
        }
        if (kept * 2 < status.size()) wrong("most vectors overload");
    }
};

struct Ordinary {
    std::vector<float> x, y, z;
    std::vector<std::uint8_t> codes, status;
    Ordinary(weft::Backend&, const Bytes& b)
        : x(b.values / 4), y(x.size()), z(x.size()), codes(b.codes), status(b.status) {}
    Arrays arrays() { return {x, y, z, codes, status}; }
};

struct PageLocked {
    weft::HostBuffer<float> x, y, z;
    weft::HostBuffer<std::uint8_t> codes, status;
    PageLocked(weft::Backend& b, const Bytes& n)
        : x(b, n.values / 4), y(b, x.size()), z(b, x.size()), codes(b, n.codes), status(b, n.status) {}
    Arrays arrays() { return {x.span(), y.span(), z.span(), codes.span(), status.span()}; }
};

/// Median seconds of each operation.
using Times = std::map<Op, double>;

template <class Memory>
Times streamed(weft::Backend& backend, const Settings& s, std::size_t n) {
    Memory memory(backend, bytes_of(s.code, n));
    const Arrays arrays = memory.arrays();
    fill(arrays.x, s.code);
    const int repeats = n > 10000000 ? std::min(s.repeats, 5) : s.repeats;
    Times times;
    for (const Op op : {Op::encode, Op::decode, Op::quantize}) {
        std::vector<double> all;
        for (int i = 0; i < repeats + 2; ++i) {
            const auto start = Clock::now();
            arrays.run(backend, s.code, op);
            if (i >= 2) all.push_back(seconds_since(start));
        }
        times[op] = median(std::move(all));
    }
    arrays.require_right(s.code);
    return times;
}

struct ResidentTimes {
    Times times, floors;  // seconds a dispatch; floors: the same bytes at the speed of memory
};

class Resident {
  public:
    Resident(weft::Backend& backend, const Settings& s, std::size_t n)
        : code_(s.code),
          n_(n),
          dispatches_(backend.device().type == weft::DeviceType::cpu ? 1 : 8),
          x_(backend, n * dimension(code_.lattice)),
          y_(backend, x_.size()),
          codes_(backend, weft::code_words(code_, n)),
          status_(backend, weft::status_words(n)),
          stream_(backend) {
        std::vector<float> x(x_.size());
        fill(x, code_);
        stream_.upload(x, x_);
        stream_.wait();
    }
    double seconds(Op op) {
        for (int i = 0; i < dispatches_; ++i) record(op);
        const auto start = Clock::now();
        stream_.wait();
        return seconds_since(start) / dispatches_;
    }
    /// The same bits as from host memory.
    void require_right(weft::Backend& backend) {
        Ordinary host(backend, bytes_of(code_, n_));
        const Arrays arrays = host.arrays();
        fill(arrays.x, code_);
        for (const Op op : {Op::encode, Op::decode}) arrays.run(backend, code_, op);
        record(Op::encode);
        const std::vector<std::uint32_t> codes = stream_.download(codes_);
        if (std::memcmp(codes.data(), host.codes.data(), host.codes.size()) != 0)
            wrong("resident codes differ");
        record(Op::decode);
        if (stream_.download(y_) != host.y) wrong("resident values differ");
        stream_.fill(y_.view(), 0);
        record(Op::quantize);
        if (stream_.download(y_) != host.y) wrong("resident quantized values differ");
    }

  private:
    void record(Op op) {
        if (op == Op::encode) weft::lattice_encode(stream_, code_, x_, codes_, status_);
        if (op == Op::decode) weft::lattice_decode(stream_, code_, codes_, status_.view(), y_);
        if (op == Op::quantize) weft::lattice_quantize(stream_, code_, x_, y_, status_);
    }

    weft::LatticeCode code_;
    std::size_t n_;
    int dispatches_;  // a submission: several where one is too short to time
    weft::Buffer<float> x_, y_;
    weft::Buffer<std::uint32_t> codes_, status_;
    weft::Stream stream_;
};

ResidentTimes resident(weft::Backend& backend, const Settings& s, std::size_t n) {
    Resident work(backend, s, n);
    work.require_right(backend);
    ResidentTimes r;
    for (const Op op : {Op::encode, Op::decode, Op::quantize}) {
        const Bytes b = bytes_of(s.code, n);
        const double bytes = static_cast<double>(b.in(op) + b.out(op));
        weft::MemoryCeiling ceiling(backend, std::max<std::size_t>(b.in(op) + b.out(op), 48));
        std::vector<double> times, floors;
        for (int i = 0; i < s.repeats; ++i) {  // in turns: a slow moment hits both
            floors.push_back(bytes / ceiling.gb_per_s() / 1e9);
            times.push_back(work.seconds(op));
        }
        r.times[op] = median(std::move(times));
        r.floors[op] = median(std::move(floors));
    }
    return r;
}

/// Why a batch does not run here; empty: it does.
std::string too_large(const weft::Backend& backend, const Settings& s, std::size_t n) {
    const Bytes b = bytes_of(s.code, n);
    const double bytes = static_cast<double>(3 * b.values + b.codes + b.status);
    const double host =
        static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    const weft::DeviceInfo& d = backend.device();
    if (b.values > d.limits.max_storage_buffer_range) return "values beyond the largest binding";
    if (3 * bytes > host / 2) return "needs more than half of the free memory";
    if (2 * bytes > static_cast<double>(d.device_memory_bytes))
        return "needs more than half of the device's memory";
    if (d.type == weft::DeviceType::cpu && n > 1000000) return "a software device takes too long";
    return {};
}

nlohmann::json measure(weft::Backend& backend, const Settings& s, std::size_t n) {
    const Times ordinary = streamed<Ordinary>(backend, s, n), locked = streamed<PageLocked>(backend, s, n);
    const ResidentTimes on_device = resident(backend, s, n);
    const Bytes b = bytes_of(s.code, n);
    nlohmann::json rows = nlohmann::json::array();
    for (const Op op : {Op::encode, Op::decode, Op::quantize}) {
        const weft::CopyCeiling copy =
            weft::measure_copy_ceiling(backend, b.in(op), b.out(op), s.quick ? 0.01 : 0.1);
        const auto in = static_cast<double>(b.in(op)), out = static_cast<double>(b.out(op));
        const double floor = std::max({in / copy.upload_gb_per_s, out / copy.download_gb_per_s,
                                       (in + out) / copy.concurrent_gb_per_s}) /
                             1e9;
        const auto rate = [&](double t) { return static_cast<double>(n) / t; };
        const double resident_s = on_device.times.at(op), memory_s = on_device.floors.at(op);
        const char* name = kNames[static_cast<int>(op)];
        std::printf("%9zu %-9s %12.4g %6.3f %12.4g %6.3f %12.4g %6.3f %9s\n", n, name, rate(ordinary.at(op)),
                    floor / ordinary.at(op), rate(locked.at(op)), floor / locked.at(op), rate(resident_s),
                    memory_s / resident_s, "yes");
        rows.push_back({{"batch", n},
                        {"op", name},
                        {"bytes_in", b.in(op)},
                        {"bytes_out", b.out(op)},
                        {"ordinary_per_s", rate(ordinary.at(op))},
                        {"page_locked_per_s", rate(locked.at(op))},
                        {"resident_per_s", rate(resident_s)},
                        {"copy_floor_s", floor},
                        {"memory_floor_s", memory_s},
                        {"page_locked_of_copy_floor", floor / locked.at(op)},
                        {"resident_of_memory_floor", memory_s / resident_s},
                        {"verified", true}});
    }
    return rows;
}

int run(const Settings& s) {
    weft::Backend backend;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf("%s, q %u, %u levels, %s: %zu bytes of values and %g of code a vector, and a status byte\n",
                weft::to_string(s.code.lattice), s.code.q, s.code.levels, s.code.packed ? "packed" : "bytes",
                bytes_of(s.code, 1).values, static_cast<double>(bytes_of(s.code, 8).codes) / 8);
    std::printf("vectors a second; after each rate the share of what copies or device memory allow\n\n");
    std::printf("%9s %-9s %12s %6s %12s %6s %12s %6s %9s\n", "batch", "op", "ordinary", "copy", "page-locked",
                "copy", "resident", "memory", "verified");
    nlohmann::json report{{"device", backend.name()},
                          {"driver", backend.device().driver},
                          {"lattice", weft::to_string(s.code.lattice)},
                          {"q", s.code.q},
                          {"levels", s.code.levels},
                          {"packed", s.code.packed},
                          {"rows", nlohmann::json::array()}};
    for (const std::size_t n : s.batches) {
        const std::string reason = too_large(backend, s, n);
        if (!reason.empty()) {
            std::printf("%9zu skipped: %s\n", n, reason.c_str());
            continue;
        }
        for (nlohmann::json& row : measure(backend, s, n)) report["rows"].push_back(std::move(row));
    }
    if (s.json.empty()) return 0;
    std::ofstream file(s.json);
    file << report.dump(2) << '\n';
    if (file.flush()) return 0;
    std::fprintf(stderr, "bench_lattice: cannot write %s\n", s.json.c_str());
    return 4;
}

}  // namespace

int main(int argc, char** argv) try {
    Settings s;
    CLI::App app{"Lattice codes from ordinary and page-locked memory and on resident buffers."};
    const CLI::Range positive(1, 1 << 30);
    const std::map<std::string, weft::Lattice> names{
        {"Z2", weft::Lattice::z2}, {"D4", weft::Lattice::d4}, {"E8", weft::Lattice::e8}};
    app.add_option("--lattice", s.code.lattice, "Z2, D4 or E8")->transform(CLI::CheckedTransformer(names));
    app.add_option("--q", s.code.q, "Base of the digits")->check(CLI::Range(3, 16));
    app.add_option("--levels", s.code.levels, "Digits a value")->check(CLI::Range(1, 4));
    app.add_flag("--packed,!--bytes", s.code.packed, "Packed digits, or a byte each");
    app.add_option("--batches", s.batches, "Vectors a call, comma-separated")
        ->delimiter(',')
        ->check(positive);
    app.add_option("--repeats", s.repeats, "Timed runs behind each median")->check(positive);
    app.add_option("--json", s.json, "Also write the figures to this file");
    app.add_flag("--quick", s.quick, "Small sizes and few repeats: a smoke test, not a measurement");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (s.quick) {
        if (app.count("--batches") == 0) s.batches = {1, 1000, 100003};
        if (app.count("--repeats") == 0) s.repeats = 3;
    }
    // Found out now rather than after minutes of measuring.
    if (!s.json.empty() && !std::ofstream(s.json, std::ios::app)) {
        std::fprintf(stderr, "bench_lattice: cannot write %s\n", s.json.c_str());
        return 4;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return run(s);
} catch (const weft::Error& error) {
    std::fprintf(stderr, "bench_lattice: %s\n", error.what());
    return error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader ? 3 : 4;
}
