// SPDX-License-Identifier: Apache-2.0
// Measures what several devices of this machine gain over the first of them: streamed field additions,
// encodes, kernel matrices and products with a kernel operator on 1, 2, ... of the devices, and in the same
// run the ceilings of copies by the host and by the devices.
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <weft/tune/bandwidth.hpp>

#include "bench.hpp"
#include "bench_devices_work.hpp"
#include "cpu/cpu_threads.hpp"

namespace {

using bench::Json;
using bench::Memory;
using bench::Sizes;
using bench::Work;
using weft::tune::CopyCeiling;

constexpr Sizes kUsual{std::uint64_t{1} << 21, 1024, 1000, 4000, 15, 6};
constexpr Sizes kQuick{std::uint64_t{1} << 17, 2048, 200, 1500, 8, 4};
constexpr Sizes kFull{std::uint64_t{3} << 24, 8192, 20000, 1000000, 16, 16};

struct Settings {
    std::string device;
    Sizes sizes;
    bool full = false;
    bench::Options common{.repeats = 5};
};

/// One op on a number of devices.
struct Row {
    std::string work, unit, plan;
    std::size_t devices = 0;
    double seconds = 0, items = 0, bytes = 0;
    double speedup = 0, efficiency = 0;  // compared with device 0 alone
    bool verified = true;
    weft::OpReport report;  // of the run behind `seconds`

    /// Of what all devices did.
    double share(const weft::DeviceReport& device) const {
        std::uint64_t all = 0;
        for (const weft::DeviceReport& each : report.devices) all += each.items;
        return all != 0 ? static_cast<double>(device.items) / static_cast<double>(all) : 0;
    }
};

using Works = std::vector<std::pair<std::string, std::function<std::unique_ptr<Work>(weft::Devices&)>>>;
using References = std::map<std::string, bench::Reference>;

Works works_of(const Sizes& sizes, References& references) {
    const auto field = [&sizes](Memory memory) {
        return [&sizes, memory](weft::Devices& devices) { return field_work(devices, sizes, memory); };
    };
    const auto kernel = [&](bool reupload, bench::Reference& reference) {
        return [&sizes, reupload, &reference](weft::Devices& devices) {
            return kernel_work(devices, sizes, reupload, reference);
        };
    };
    return {{"field_add, ordinary memory", field(Memory::ordinary)},
            {"field_add, HostBuffer of all", field(Memory::page_locked)},
            {"field_add, registered with all", field(Memory::registered)},
            {"encode angle", [&sizes, &reference = references["encode"]](
                                 weft::Devices& devices) { return encode_work(devices, sizes, reference); }},
            {"kernel_matrix, closed form", kernel(false, references["closed form"])},
            {"kernel_matrix, re-upload", kernel(true, references["re-upload"])},
            {"kernel_apply, 8 qubits", [&sizes, &reference = references["operator"]](weft::Devices& devices) {
                 return operator_work(devices, sizes, reference);
             }}};
}

Row measure(const std::string& name, Work& work, std::size_t devices, int repeats) {
    Row row{.work = name,
            .unit = work.unit(),
            .plan = work.plan(),
            .devices = devices,
            .items = work.items(),
            .bytes = work.bytes()};
    std::vector<weft::OpReport> reports;
    for (int i = 0; i < repeats + 1; ++i) {  // the first run warms up
        weft::OpReport report = work.run();
        row.verified = work.right() && row.verified;
        if (i != 0) reports.push_back(std::move(report));
    }
    const auto middle = reports.begin() + static_cast<std::ptrdiff_t>(reports.size() / 2);
    std::nth_element(reports.begin(), middle, reports.end(),
                     [](const auto& a, const auto& b) { return a.wall_s < b.wall_s; });
    row.seconds = middle->wall_s;
    row.report = *middle;
    return row;
}

void print(const Row& row) {
    char moved[32] = "";
    if (row.bytes > 0) std::snprintf(moved, sizeof moved, "%.2f GB/s", row.bytes / row.seconds / 1e9);
    std::printf("%-34s %2zu %11.6f s %12s %10.4g %s/s %6.2fx %5.2f  %s\n", row.work.c_str(), row.devices,
                row.seconds, moved, row.items / row.seconds, row.unit.c_str(), row.speedup, row.efficiency,
                row.verified ? "verified" : "WRONG");
    if (!row.plan.empty())
        std::printf("%34s %.4g %s made; %s\n", "", static_cast<double>(row.report.items), row.unit.c_str(),
                    row.plan.c_str());
    for (const weft::DeviceReport& device : row.report.devices)
        std::printf("%34s device %zu: %.0f %% in %llu shares, idle at the end %.1f %%%s%s\n", "",
                    device.device, 100 * row.share(device), static_cast<unsigned long long>(device.shares),
                    100 * device.idle_end_s / row.seconds, device.note.empty() ? "" : ": ",
                    device.note.c_str());
}

Json to_json(const Row& row) {
    Json json{{"work", row.work},         {"devices", row.devices},
              {"seconds", row.seconds},   {"items", row.items},
              {"unit", row.unit},         {"items_per_s", row.items / row.seconds},
              {"speedup", row.speedup},   {"efficiency", row.efficiency},
              {"verified", row.verified}, {"shares", Json::array()}};
    if (!row.plan.empty()) json["plan"] = row.plan, json["made"] = row.report.items;
    if (row.bytes > 0) json["gb_per_s"] = row.bytes / row.seconds / 1e9;
    for (const weft::DeviceReport& device : row.report.devices)
        json["shares"].push_back({{"device", device.device},
                                  {"name", device.name},
                                  {"share", row.share(device)},
                                  {"shares", device.shares},
                                  {"busy_s", device.busy_s},
                                  {"idle_end_s", device.idle_end_s},
                                  {"note", device.note}});
    return json;
}

/// The copies of all devices, measured simultaneously: no window begins before all devices have ended the one
/// before.
std::vector<CopyCeiling> copies_together(weft::Devices& devices, double window_s) {
    std::vector<CopyCeiling> ceilings(devices.size());
    std::vector<std::exception_ptr> failures(devices.size());
    std::barrier window(static_cast<std::ptrdiff_t>(devices.size()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < devices.size(); ++i)
        threads.emplace_back([&, i] {
            try {
                ceilings[i] = weft::tune::measure_copy_ceiling(
                    devices[i], 2, 1, window_s, [&](const weft::Progress&) { window.arrive_and_wait(); });
            } catch (...) {
                failures[i] = std::current_exception();
            }
            window.arrive_and_drop();
        });
    threads.clear();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return ceilings;
}

Json to_json(const CopyCeiling& ceiling) {
    return {{"upload_gb_per_s", ceiling.upload_gb_per_s},
            {"download_gb_per_s", ceiling.download_gb_per_s},
            {"both_gb_per_s", ceiling.concurrent_gb_per_s}};
}

void print(const std::string& what, const CopyCeiling& ceiling) {
    std::printf("copies   %-22s upload %7.2f, download %7.2f, both at 2:1 %7.2f GB/s\n", what.c_str(),
                ceiling.upload_gb_per_s, ceiling.download_gb_per_s, ceiling.concurrent_gb_per_s);
}

Json measure_ceilings(weft::Devices& devices, bool quick) {
    const double window_s = quick ? 0.01 : 0.1;
    std::uint32_t threads = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) threads += devices[i].plan().copy_threads;
    const double host = bench::host_copy_gb_per_s(std::size_t{quick ? 32u : 512u} << 20, threads, 5);
    std::printf("host     %.2f GB/s copied by %u threads, the copy threads of all devices\n", host, threads);
    Json json{{"host_copy_gb_per_s", host}, {"copy_threads", threads}, {"alone", Json::array()}};
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const CopyCeiling alone = weft::tune::measure_copy_ceiling(devices[i], 2, 1, window_s);
        print("device " + std::to_string(i) + " alone", alone);
        json["alone"].push_back(to_json(alone));
    }
    CopyCeiling sum;
    for (const CopyCeiling& each : copies_together(devices, window_s)) {
        sum.upload_gb_per_s += each.upload_gb_per_s;
        sum.download_gb_per_s += each.download_gb_per_s;
        sum.concurrent_gb_per_s += each.concurrent_gb_per_s;
    }
    print("all together", sum);
    json["together"] = to_json(sum);
    return json;
}

/// The first `count` devices of a list, each with `config`.
weft::Devices first_devices(const weft::Config& config, const std::vector<std::uint32_t>& list,
                            std::size_t count) {
    std::vector<weft::Config> configs(count, config);
    for (std::size_t i = 0; i < count; ++i) configs[i].device = std::to_string(list[i]);
    return weft::Devices(configs);
}

/// Measures all works on `devices`; `alone` has the seconds of device 0, and gets them from one device.
bool measure_all(weft::Devices& devices, const Works& works, int repeats,
                 std::map<std::string, double>& alone, Json& rows) {
    bool right = true;
    for (const auto& [name, make] : works) {
        std::unique_ptr<Work> work;
        try {
            work = make(devices);
        } catch (const weft::Error& error) {
            if (error.code() != weft::Errc::unsupported) throw;
            std::printf("%-34s %2zu not measured: %s\n", name.c_str(), devices.size(), error.what());
            continue;
        }
        Row row = measure(name, *work, devices.size(), repeats);
        const double one = alone.try_emplace(name, row.seconds).first->second;
        row.speedup = one / row.seconds;
        row.efficiency = row.speedup / static_cast<double>(row.devices);
        print(row);
        rows.push_back(to_json(row));
        right = right && row.verified;
    }
    return right;
}

bool run(const Settings& settings, Json& report) {
    weft::Config config = weft::Config::from_env();
    if (!settings.device.empty()) config.device = settings.device;
    if (config.device.empty()) config.device = "all";
    if (settings.common.quick) config.chunk_elements = 256;  // so that small calls are shared too
    std::vector<std::uint32_t> list;
    report = {{"devices", Json::array()}};
    {
        weft::Devices devices(config);
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const weft::DeviceInfo& device = devices[i].device();
            list.push_back(device.index);
            std::printf("device   %zu: %s, %s\n", i, device.name.c_str(), device.driver.c_str());
            report["devices"].push_back({{"name", device.name},
                                         {"driver", device.driver},
                                         {"pci_address", device.pci_address},
                                         {"numa_node", device.numa_node}});
        }
        if (list.size() == 1)
            std::printf("note     a single device: nothing is shared, so there is no gain to measure\n");
        if (devices[0].device().type == weft::DeviceType::cpu)
            std::printf("note     software devices share the processor: this measures overhead, not speed\n");
        report["ceilings"] = measure_ceilings(devices, settings.common.quick);
    }
    report["rows"] = Json::array();
    References references;
    const Works works = works_of(settings.sizes, references);
    std::map<std::string, double> alone;
    bool right = true;
    for (std::size_t count = 1; count <= list.size(); ++count) {
        weft::Devices devices = first_devices(config, list, count);
        right = measure_all(devices, works, settings.common.repeats, alone, report["rows"]) && right;
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{
        "Streams, encodes, kernel matrices and operators on 1, 2, ... devices, compared with the first "
        "alone."};
    Sizes given;
    const CLI::Range positive(1, 1 << 30);
    app.add_option("--device", settings.device,
                   "The devices, as WEFT_DEVICE, which it replaces; without both: all");
    app.add_flag("--full", settings.full, "Sizes for GPUs: gigabytes of host memory");
    app.add_option("--field-elements", given.field_elements, "Of a field addition")->check(positive);
    app.add_option("--encode-samples", given.encode_samples, "Of an encode")->check(positive);
    app.add_option("--encode-qubits", given.encode_qubits, "Of an encode")->check(CLI::Range(1, 30));
    app.add_option("--kernel-samples", given.kernel_samples, "Rows of a kernel matrix")->check(positive);
    app.add_option("--kernel-qubits", given.kernel_qubits, "Of a kernel matrix")->check(CLI::Range(1, 30));
    app.add_option("--operator-samples", given.operator_samples, "Rows of a kernel operator")
        ->check(positive);
    bool quick = false;
    return bench::run(
        "bench_devices", app, settings.common, argc, argv, [&] { quick = true; },
        [&](Json& report) {
            settings.sizes = quick ? kQuick : settings.full ? kFull : kUsual;
            const auto take = [](auto& size, auto wanted) {
                if (wanted != 0) size = wanted;
            };
            take(settings.sizes.field_elements, given.field_elements);
            take(settings.sizes.encode_samples, given.encode_samples);
            take(settings.sizes.encode_qubits, given.encode_qubits);
            take(settings.sizes.kernel_samples, given.kernel_samples);
            take(settings.sizes.operator_samples, given.operator_samples);
            take(settings.sizes.kernel_qubits, given.kernel_qubits);
            return run(settings, report);
        });
}
