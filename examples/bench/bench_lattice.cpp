// SPDX-License-Identifier: Apache-2.0
// Lattice codes: vectors a second from ordinary memory, from page-locked memory and on resident buffers, by
// size of the batch. Beside each rate the share of what copies or device memory allow, measured in turns with
// it: some devices change their pace within seconds.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "lattice_work.hpp"

namespace {

using bench::Arrays;
using bench::Bytes;
using bench::Clock;
using bench::kOps;
using bench::median;
using bench::Op;

struct Settings {
    std::vector<weft::Lattice> lattices{weft::Lattice::d4, weft::Lattice::e8};
    std::vector<std::size_t> batches{1, 10, 100, 1000, 10000, 1000000, 16000000, 100000000};
    weft::LatticeCode code{.beta = 0.5f, .packed = true};
    int repeats = 21;
    double stream_at_least = 0, patience_s = 20;  // GB/s
    bool quick = false, resident_only = false;
    std::string json;
};

/// Rates are vectors a second, shares are of the floor that limits them. 0: not measured.
struct Row {
    double ordinary = 0, ordinary_of_copy = 0;
    double locked = 0, locked_of_copy = 0, locked_of_bus = 0;  // bus: the larger direction alone
    double resident = 0, resident_of_memory = 0, stream_gb_per_s = 0;
};

/// Seconds that copies in this proportion take at least, a byte of both directions.
struct CopyFloor {
    double together = 0, larger = 0;  // a byte

    CopyFloor() = default;
    CopyFloor(weft::Backend& backend, std::size_t in, std::size_t out, double window_s) {
        const weft::tune::CopyCeiling c = weft::tune::measure_copy_ceiling(backend, in, out, window_s);
        const auto all = static_cast<double>(in + out) * 1e9;
        const double up = static_cast<double>(in) / all, down = static_cast<double>(out) / all;
        larger = std::max(up / c.upload_gb_per_s, down / c.download_gb_per_s);
        together = std::max(larger, (up + down) / c.concurrent_gb_per_s);
    }
};

/// Small batches take the floor of the first of them, in proportion.
using SmallFloors = std::map<std::pair<weft::Lattice, Op>, CopyFloor>;

void measure_streamed(weft::Backend& backend, const Settings& s, const weft::LatticeCode& code,
                      SmallFloors& small, const Arrays& ordinary, const Arrays& locked,
                      std::map<Op, Row>& rows) {
    const std::size_t n = locked.status.size();
    const Bytes bytes(code, n);
    const int rounds = n < 1000000 ? 1 : 3;
    const int repeats = std::max(1, (n > 50000000 ? std::min(s.repeats, 6) : s.repeats) / rounds);
    for (const Op op : kOps) {
        for (int i = 0; i < 2; ++i) {
            ordinary.run(backend, code, op);
            locked.run(backend, code, op);
        }
        std::vector<double> times[2], shares[2], of_bus;
        const auto all = static_cast<double>(bytes.in(op) + bytes.out(op));
        for (int round = 0; round < rounds; ++round) {
            CopyFloor& kept = small[{code.lattice, op}];
            const bool measure = n >= 1000000 || kept.larger == 0;
            const CopyFloor floor =
                measure ? CopyFloor(backend, bytes.in(op), bytes.out(op), s.quick ? 0.002 : 0.01) : kept;
            kept = floor;
            for (const int kind : {0, 1}) {
                std::vector<double> some;
                for (int i = 0; i < repeats; ++i)
                    some.push_back((kind == 0 ? ordinary : locked).seconds(backend, code, op));
                times[kind].push_back(median(std::move(some)));
                shares[kind].push_back(all * floor.together / times[kind].back());
            }
            of_bus.push_back(all * floor.larger / times[1].back());
        }
        Row& row = rows[op];
        row.ordinary = static_cast<double>(n) / median(std::move(times[0]));
        row.locked = static_cast<double>(n) / median(std::move(times[1]));
        row.ordinary_of_copy = median(std::move(shares[0]));
        row.locked_of_copy = median(std::move(shares[1]));
        row.locked_of_bus = median(std::move(of_bus));
    }
}

void measure_resident(weft::Backend& backend, const Settings& s, const weft::LatticeCode& code,
                      bench::Resident& work, std::size_t n, std::map<Op, Row>& rows, double& patience_s) {
    for (const Op op : kOps) {
        const Bytes b(code, n);
        const auto bytes = static_cast<double>(b.in(op) + b.out(op));
        weft::tune::MemoryCeiling ceiling(backend, std::max<std::size_t>(b.in(op) + b.out(op), 48));
        // Left alone, a device slows down.
        const double busy_s = s.quick ? 0 : n < 1000000 ? 0.05 : 0.3;
        for (const auto start = Clock::now(); bench::seconds_since(start) < busy_s;) work.seconds(op);
        std::vector<double> times, shares, streams;
        while (std::ssize(times) < s.repeats) {
            const auto start = Clock::now();
            const double before = ceiling.gb_per_s(), time = work.seconds(op), after = ceiling.gb_per_s();
            if (std::min(before, after) < s.stream_at_least && patience_s > 0) {
                patience_s -= bench::seconds_since(start);
                continue;
            }
            times.push_back(time);
            streams.push_back((before + after) / 2);
            shares.push_back(bytes / time / 1e9 / streams.back());
        }
        Row& row = rows[op];
        row.resident = static_cast<double>(n) / median(std::move(times));
        row.resident_of_memory = median(std::move(shares));
        row.stream_gb_per_s = median(std::move(streams));
    }
}

/// Why a batch does not run here; empty: it does.
std::string too_large(const weft::Backend& backend, const weft::LatticeCode& code, std::size_t n) {
    const Bytes b(code, n);
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

/// Throws where results are wrong.
std::map<Op, Row> measure(weft::Backend& backend, const Settings& s, const weft::LatticeCode& code,
                          std::size_t n, SmallFloors& small, double& patience_s) {
    std::map<Op, Row> rows;
    bench::Ordinary ordinary(backend, Bytes(code, n));
    const Arrays arrays = ordinary.arrays();
    bench::fill(arrays.x, code);
    if (s.resident_only) {
        for (const Op op : kOps) arrays.run(backend, code, op);
    } else {
        bench::PageLocked locked(backend, Bytes(code, n));
        bench::fill(locked.x.span(), code);
        measure_streamed(backend, s, code, small, arrays, locked.arrays(), rows);
        locked.arrays().require_right(code);
    }
    arrays.require_right(code);
    bench::Resident work(backend, code, arrays.x);
    work.require_right(arrays);
    measure_resident(backend, s, code, work, n, rows, patience_s);
    return rows;
}

nlohmann::json print(const Settings& s, const weft::LatticeCode& code, std::size_t n, Op op, const Row& row) {
    const char* name = bench::kNames[static_cast<int>(op)];
    std::printf("%9zu %-9s", n, name);
    if (s.resident_only)
        std::printf(" %12s %6s %12s %6s %6s", "-", "-", "-", "-", "-");
    else
        std::printf(" %12.4g %6.3f %12.4g %6.3f %6.3f", row.ordinary, row.ordinary_of_copy, row.locked,
                    row.locked_of_copy, row.locked_of_bus);
    std::printf(" %12.4g %6.3f %8.0f %9s\n", row.resident, row.resident_of_memory, row.stream_gb_per_s,
                "yes");
    const Bytes b(code, n);
    return {{"lattice", weft::to_string(code.lattice)},
            {"batch", n},
            {"op", name},
            {"bytes_in", b.in(op)},
            {"bytes_out", b.out(op)},
            {"ordinary_per_s", row.ordinary},
            {"ordinary_of_copy_floor", row.ordinary_of_copy},
            {"page_locked_per_s", row.locked},
            {"page_locked_of_copy_floor", row.locked_of_copy},
            {"page_locked_of_larger_direction", row.locked_of_bus},
            {"resident_per_s", row.resident},
            {"resident_of_memory_floor", row.resident_of_memory},
            {"stream_gb_per_s", row.stream_gb_per_s},
            {"verified", true}};
}

void print_head(const weft::LatticeCode& code) {
    const Bytes eight(code, 8);
    std::printf("\n%s, q %u, %u levels, %s: %zu bytes of values, %g of code and 1 of status a vector\n",
                weft::to_string(code.lattice), code.q, code.levels, code.packed ? "packed" : "bytes",
                eight.values / 8, static_cast<double>(eight.codes) / 8);
    std::printf("%9s %-9s %12s %6s %12s %6s %6s %12s %6s %8s %9s\n", "batch", "op", "ordinary", "copy",
                "page-locked", "copy", "bus", "resident", "memory", "stream", "verified");
}

int run(const Settings& s) {
    weft::Backend backend;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf(
        "Vectors a second; after each rate its share of what limits it: copies both ways at once, the\n"
        "larger of both directions alone (bus), a stream in device memory (memory; stream: its GB/s).\n");
    nlohmann::json report{
        {"device", backend.name()}, {"driver", backend.device().driver}, {"q", s.code.q},
        {"levels", s.code.levels},  {"packed", s.code.packed},           {"rows", nlohmann::json::array()}};
    double patience_s = s.patience_s;
    SmallFloors small;
    for (const weft::Lattice lattice : s.lattices) {
        weft::LatticeCode code = s.code;
        code.lattice = lattice;
        print_head(code);
        for (const std::size_t n : s.batches) {
            const std::string reason = too_large(backend, code, n);
            if (!reason.empty()) {
                std::printf("%9zu skipped: %s\n", n, reason.c_str());
                continue;
            }
            for (const auto& [op, row] : measure(backend, s, code, n, small, patience_s))
                report["rows"].push_back(print(s, code, n, op, row));
        }
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
    app.add_option("--lattice", s.lattices, "Z2, D4, E8, comma-separated")
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(names));
    app.add_option("--q", s.code.q, "Base of the digits")->check(CLI::Range(3, 16));
    app.add_option("--levels", s.code.levels, "Digits a value")->check(CLI::Range(1, 4));
    app.add_flag("--packed,!--bytes", s.code.packed, "Packed digits, or a byte each");
    app.add_option("--batches", s.batches, "Vectors a call, comma-separated")
        ->delimiter(',')
        ->check(positive);
    app.add_option("--repeats", s.repeats, "Timed runs behind each median")->check(positive);
    app.add_flag("--resident-only", s.resident_only, "Nothing from host memory");
    app.add_option("--stream-at-least", s.stream_at_least,
                   "GB/s: measure again while the stream is slower, for devices that change their pace")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--patience", s.patience_s, "Seconds for that in all")->check(CLI::NonNegativeNumber);
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
