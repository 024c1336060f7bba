// SPDX-License-Identifier: Apache-2.0
#include "bench_ntt_host.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

#include <nlohmann/json.hpp>

#include "cpu/cpu_field.hpp"
#include "cpu/cpu_ntt.hpp"
#include "cpu/cpu_threads.hpp"

namespace bench {
namespace {

void print(const weft::FieldInfo& field, const weft::NttShape& shape, const char* where, double seconds) {
    std::printf("%-13s %3u %6llu %-11s %10.4f ms each, ", weft::to_string(field.field), shape.log_size,
                static_cast<unsigned long long>(shape.batch), where,
                1e3 * seconds / static_cast<double>(shape.batch));
}

Json row_of(const weft::FieldInfo& field, const weft::NttShape& shape, double seconds) {
    return {{"field", field.name},
            {"log_size", shape.log_size},
            {"batch", shape.batch},
            {"ms", 1e3 * seconds / static_cast<double>(shape.batch)}};
}

/// The time of the loop on all cores; `values` become the transforms.
template <class Limb>
double on_processor(const weft::FieldInfo& field, const weft::NttShape& shape, std::vector<Limb>& values,
                    int repeats) {
    const std::vector<Limb> powers = weft::tool::cpu_ntt_powers<Limb>(field, shape.log_size);
    const auto run = [&](std::vector<Limb>& x) {
        const auto start = Clock::now();
        weft::tool::cpu_ntt<Limb>(field, shape.log_size, powers, x, weft::tool::cpu_threads());
        return seconds_since(start);
    };
    run(values);  // which warms up
    std::vector<Limb> again = values;
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) seconds.push_back(run(again));
    return median(seconds);
}

/// Transforms of one kind of host memory. `want` are the values.
template <class Limb>
class Streamed {
  public:
    Streamed(weft::Backend& backend, const weft::FieldInfo& field, const weft::NttShape& shape,
             const std::vector<Limb>& want, const Options& options)
        : backend_(backend), field_(field), shape_(shape), want_(want), options_(options) {}

    bool row(const char* memory, std::span<Limb> in, std::span<Limb> out, Json& rows) {
        weft::tool::fill_field<Limb>(field_, kNttSeed, in);
        // The ceiling is measured next to the row, because a machine may change its speed.
        const double ceiling =
            weft::tune::measure_copy_ceiling(backend_, 1, 1, options_.quick ? 0.02 : 0.1).concurrent_gb_per_s;
        bool right = true;
        std::vector<double> times;
        for (int i = 0; i < options_.repeats + 1; ++i) {
            std::fill(out.begin(), out.end(), Limb{0});
            const weft::OpReport report = weft::ntt(backend_, field_.field, weft::NttDirection::forward, in,
                                                    out, shape_, {.order = weft::NttOrder::nr});
            if (i != 0) times.push_back(report.wall_s);
            right = right && std::equal(out.begin(), out.end(), want_.begin(), want_.end());
        }
        const double seconds = median(times),
                     rate = static_cast<double>(in.size_bytes() + out.size_bytes()) / seconds * 1e-9;
        print(field_, shape_, memory, seconds);
        std::printf("%.2f GB/s in and out, %.2f of the copy ceiling, %s\n", rate, rate / ceiling,
                    right ? "verified" : "WRONG");
        std::fflush(stdout);
        Json row = row_of(field_, shape_, seconds);
        row.update({{"memory", memory},
                    {"gb_per_s", rate},
                    {"copy_ceiling_gb_per_s", ceiling},
                    {"share_of_ceiling", rate / ceiling},
                    {"verified", right}});
        rows.push_back(std::move(row));
        return right;
    }

  private:
    weft::Backend& backend_;
    const weft::FieldInfo& field_;
    const weft::NttShape& shape_;
    const std::vector<Limb>& want_;
    const Options& options_;
};

}  // namespace

template <class Limb>
bool ntt_host_rows(weft::Backend& backend, NttWork<Limb>& work, const weft::NttShape& shape,
                   const Options& options, Json& report) {
    const weft::FieldInfo& field = work.info();
    const std::size_t limbs = shape.elements() * field.limbs;
    std::vector<Limb> want(limbs);
    weft::tool::fill_field<Limb>(field, kNttSeed, want);
    const double device = work.seconds_of(shape, {.order = weft::NttOrder::nr}, options.repeats),
                 processor = on_processor(field, shape, want, options.repeats);
    bool right = work.made(shape.elements()) == want;
    print(field, shape, "processor", processor);
    std::printf("%u threads, %.1f times as long as resident, %s\n", weft::tool::cpu_threads(),
                processor / device, right ? "the same values" : "OTHER VALUES");
    Json row = row_of(field, shape, processor);
    row.update(
        {{"threads", weft::tool::cpu_threads()}, {"of_resident", processor / device}, {"verified", right}});
    report["processor"].push_back(std::move(row));
    Streamed<Limb> streamed(backend, field, shape, want, options);
    {
        std::vector<Limb> in(limbs), out(limbs);
        right &= streamed.row("ordinary", in, out, report["streamed"]);
    }
    const weft::HostBuffer<Limb> in(backend, limbs, "in"), out(backend, limbs, "out");
    right &= streamed.row("page-locked", in.span(), out.span(), report["streamed"]);
    return right;
}
template bool ntt_host_rows(weft::Backend&, NttWork<std::uint32_t>&, const weft::NttShape&, const Options&,
                            Json&);
template bool ntt_host_rows(weft::Backend&, NttWork<std::uint64_t>&, const weft::NttShape&, const Options&,
                            Json&);

}  // namespace bench
