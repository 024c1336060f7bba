// SPDX-License-Identifier: Apache-2.0
// Measures transforms of batches on the device against the floors of the same run: the time in which the
// device moves the bytes of the passes, and the time in which it makes the products of the butterflies.
// Results are verified at random points by the operations of fields. A loop on the processor makes the same
// values, and so do transforms that are streamed from host memory, which are measured against the copy
// ceiling.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_ntt_cuda.hpp"
#include "bench_ntt_host.hpp"
#include "bench_ntt_work.hpp"
#include "cpu/cpu_field.hpp"

namespace {

struct Settings {
    std::vector<std::string> cases{"babybear:24:16", "goldilocks:24:8", "goldilocks:27:1", "bn254-fr:24:2"};
    std::vector<std::string> orders{"nr", "nn", "rn"};
    std::vector<unsigned> tile_bits{0}, pass_bits{0};
    unsigned blowup = 4;
    bool extend = false, cuda = false;
    bench::Options common{.repeats = 5};
};

struct Case {
    weft::Field field{};
    weft::NttShape shape;
};

Case case_of(const std::string& text) {
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    const auto field = weft::find_field(text.substr(0, first));
    if (!field || second == std::string::npos)
        throw weft::Error(weft::Errc::invalid_argument,
                          "--cases: need field:log_size:batch (got " + text + ")");
    Case c{*field, {}};
    c.shape.log_size = static_cast<std::uint32_t>(std::stoul(text.substr(first + 1)));
    c.shape.batch = std::stoull(text.substr(second + 1));
    return c;
}

weft::NttOrder order_of(const std::string& text) {
    return text == "nn" ? weft::NttOrder::nn : text == "nr" ? weft::NttOrder::nr : weft::NttOrder::rn;
}

/// One plan of one case: seconds of a transform.
template <class Limb>
bool transform_row(bench::NttWork<Limb>& work, const Case& c, const weft::NttOptions& options, int repeats,
                   bench::Json& rows) {
    const double seconds = work.seconds_of(c.shape, options, repeats) / static_cast<double>(c.shape.batch);
    const bool verified = work.verify(c.shape, options);
    const double n = std::ldexp(1.0, static_cast<int>(c.shape.log_size));
    const unsigned passes = work.passes(c.shape, options);
    const double memory = 2 * n * work.element_bytes() * passes / work.bytes_per_s();
    const double products = n / 2 * c.shape.log_size / work.products_per_s();
    const double floor = std::max(memory, products);
    std::printf("%-13s %3u %6llu %5s %5u %5u %6u %10.4f %10.4f %10.4f %6.2f %9s\n",
                weft::to_string(work.field()), c.shape.log_size,
                static_cast<unsigned long long>(c.shape.batch), weft::to_string(options.order),
                options.tile_bits, options.pass_bits, passes, 1e3 * seconds, 1e3 * memory, 1e3 * products,
                floor / seconds, verified ? "yes" : "NO");
    std::fflush(stdout);
    rows.push_back({{"field", weft::to_string(work.field())},
                    {"log_size", c.shape.log_size},
                    {"batch", c.shape.batch},
                    {"order", weft::to_string(options.order)},
                    {"tile_bits", options.tile_bits},
                    {"pass_bits", options.pass_bits},
                    {"passes", passes},
                    {"ms", 1e3 * seconds},
                    {"memory_floor_ms", 1e3 * memory},
                    {"product_floor_ms", 1e3 * products},
                    {"share_of_floor", floor / seconds},
                    {"verified", verified}});
    return verified;
}

#ifdef WEFT_BENCH_CUDA
/// The same transform by Vulkan and CUDA, in turns.
template <class Limb>
bool twin_row(bench::NttWork<Limb>& work, const bench::NttTwin<Limb>& twin, const Case& c,
              const weft::NttOptions& options, int repeats, bench::Json& rows) {
    const auto [vulkan, cuda] = work.seconds_in_turns(c.shape, options, repeats,
                                                      [&](int times) { twin.run(c.shape, options, times); });
    const bool same = work.made(c.shape.elements()) == twin.made();
    const double each = 1e3 / static_cast<double>(c.shape.batch);
    std::printf(
        "%-13s %3u %6llu %5s in turns: Vulkan %.4f ms, CUDA %.4f ms each, Vulkan at %.2f of its speed, %s\n",
        weft::to_string(c.field), c.shape.log_size, static_cast<unsigned long long>(c.shape.batch),
        weft::to_string(options.order), each * vulkan, each * cuda, cuda / vulkan,
        same ? "the same values" : "OTHER VALUES");
    std::fflush(stdout);
    rows.push_back({{"field", weft::to_string(c.field)},
                    {"log_size", c.shape.log_size},
                    {"batch", c.shape.batch},
                    {"order", weft::to_string(options.order)},
                    {"vulkan_ms", each * vulkan},
                    {"cuda_ms", each * cuda},
                    {"of_cuda_speed", cuda / vulkan},
                    {"verified", same}});
    return same;
}

template <class Limb>
bool twin_rows(bench::NttWork<Limb>& work, const Settings& settings, const Case& c, bench::Json& rows) {
    std::vector<Limb> values(c.shape.elements() * work.info().limbs);
    weft::tool::fill_field<Limb>(work.info(), bench::kNttSeed, values);
    const bench::NttTwin<Limb> twin(c.field, values);
    bool right = true;
    for (const std::string& order : settings.orders)
        right &= twin_row(work, twin, c, {.order = order_of(order)}, settings.common.repeats, rows);
    return right;
}
#endif

template <class Limb>
void extend_row(bench::NttWork<Limb>& work, const Case& c, unsigned blowup, int repeats, bench::Json& rows) {
    weft::NttShape shape = c.shape;
    while ((1u << (c.shape.log_size - shape.log_size)) < blowup) --shape.log_size;
    const double extension = work.seconds_of_extension(shape, blowup, repeats);
    weft::NttShape cosets = shape;
    cosets.batch *= blowup;
    const double needed =
        work.seconds_of(shape, {}, repeats) + work.seconds_of(cosets, {.order = weft::NttOrder::nr}, repeats);
    std::printf("%-13s %3u extended by %u: %.4f ms, %.2f of its transforms\n", weft::to_string(work.field()),
                shape.log_size, blowup, 1e3 * extension / static_cast<double>(shape.batch),
                extension / needed);
    std::fflush(stdout);
    rows.push_back({{"field", weft::to_string(work.field())},
                    {"log_size", shape.log_size},
                    {"blowup", blowup},
                    {"ms", 1e3 * extension / static_cast<double>(shape.batch)},
                    {"of_transforms", extension / needed}});
}

/// All rows of one case.
template <class Limb>
bool case_rows(weft::Backend& backend, const Settings& settings, const Case& c, bench::Json& report) {
    bench::NttWork<Limb> work(backend, c.field, c.shape.elements(), settings.common.quick ? 0.02 : 0.25);
    std::printf("%s: %.2f TB/s, %.3f T products/s\n", weft::to_string(c.field), work.bytes_per_s() * 1e-12,
                work.products_per_s() * 1e-12);
    bool right = true;
    for (const std::string& order : settings.orders)
        for (const unsigned tile : settings.tile_bits)
            for (const unsigned pass : settings.pass_bits) {
                try {
                    right &= transform_row(work, c,
                                           {.order = order_of(order), .tile_bits = tile, .pass_bits = pass},
                                           settings.common.repeats, report["transforms"]);
                } catch (const weft::Error& e) {
                    if (e.code() != weft::Errc::invalid_argument) throw;
                    std::printf("%s\n", e.what());
                }
            }
#ifdef WEFT_BENCH_CUDA
    if (settings.cuda) right &= twin_rows(work, settings, c, report["cuda"]);
#endif
    right &= bench::ntt_host_rows(backend, work, c.shape, settings.common, report);
    if (settings.extend) extend_row(work, c, settings.blowup, settings.common.repeats, report["extensions"]);
    return right;
}

bool run(const Settings& settings, bench::Json& report) {
    weft::Backend backend;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf("%-13s %3s %6s %5s %5s %5s %6s %10s %10s %10s %6s %9s\n", "field", "log", "batch", "order",
                "tile", "pass", "passes", "ms each", "memory ms", "mul ms", "share", "verified");
    report = {{"device", backend.name()},           {"driver", backend.device().driver},
              {"transforms", bench::Json::array()}, {"processor", bench::Json::array()},
              {"streamed", bench::Json::array()},   {"extensions", bench::Json::array()},
              {"cuda", bench::Json::array()}};
    bool right = true;
    for (const std::string& text : settings.cases) {
        const Case c = case_of(text);
        right &= weft::field_info(c.field).limb_bytes == 4
                     ? case_rows<std::uint32_t>(backend, settings, c, report)
                     : case_rows<std::uint64_t>(backend, settings, c, report);
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{
        "Transforms on the device against the floors of memory and of products, and streamed ones against "
        "the copy ceiling."};
    CLI::Option* cases =
        app.add_option("--cases", settings.cases, "field:log_size:batch, comma-separated")->delimiter(',');
    app.add_option("--orders", settings.orders, "nn, nr, rn")
        ->delimiter(',')
        ->check(CLI::IsMember({"nn", "nr", "rn"}));
    app.add_option("--tile-bits", settings.tile_bits, "as NttOptions::tile_bits")->delimiter(',');
    app.add_option("--pass-bits", settings.pass_bits, "as NttOptions::pass_bits")->delimiter(',');
    app.add_option("--blowup", settings.blowup, "of the extensions")->check(CLI::IsMember({2, 4, 8, 16}));
    app.add_flag("--extend", settings.extend, "Measure extensions too");
#ifdef WEFT_BENCH_CUDA
    app.add_flag("--cuda", settings.cuda, "Compare with CUDA on the same device, in turns");
#endif
    const auto make_quick = [&] {
        if (cases->count() == 0) settings.cases = {"babybear:10:3", "goldilocks:9:2"};
        settings.extend = true;
    };
    return bench::run("bench_ntt", app, settings.common, argc, argv, make_quick,
                      [&](bench::Json& report) { return run(settings, report); });
}
