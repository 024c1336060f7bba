// SPDX-License-Identifier: Apache-2.0
// Every field and operation on resident data: elements a second, bytes a second, and how close that comes to
// the higher of two floors: a stream of the same bytes, measured in turns with it, and the operation's
// multiplications at the pace of plain products, which are two in one. Beside it one thread of the processor.
// Every result is verified.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "field_cpu.hpp"
#include "field_words.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using reference::Words;
using weft::FieldForm;
using weft::FieldOp;
using weft::FieldShader;

constexpr FieldOp kOps[] = {FieldOp::add,
                            FieldOp::sub,
                            FieldOp::neg,
                            FieldOp::mul,
                            FieldOp::square,
                            FieldOp::to_montgomery,
                            FieldOp::from_montgomery,
                            FieldOp::axpy,
                            FieldOp::sum,
                            FieldOp::inner_product,
                            FieldOp::inverse};

// The processor's share: its arrays then lie in its caches, or nearly.
constexpr std::size_t kCpuElements = std::size_t{1} << 15;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Settings {
    std::vector<std::string> fields, ops;
    std::size_t elements = 0;
    std::uint32_t workgroup_size = 0, block = 0;
    int repeats = 9;
    double stream_at_least = 0, patience_s = 60;  // GB/s
    bool quick = false, plain = false;
    std::string shader = "automatic", json;

    weft::FieldOptions kernel() const {
        return {.form = plain ? FieldForm::plain : FieldForm::montgomery,
                .shader = shader == "limbs32"   ? FieldShader::limbs32
                          : shader == "limbs64" ? FieldShader::limbs64
                                                : FieldShader::automatic,
                .workgroup_size = workgroup_size,
                .block_elements = block};
    }
};

bool wanted(const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

/// Values below p: the top word is drawn below that of p, the rest is anything.
Words random_values(const weft::FieldInfo& field, std::size_t elements, std::uint64_t seed) {
    const std::size_t words = field.element_bytes / 4;
    const auto top = static_cast<std::uint32_t>(field.modulus[(words - 1) / 2] >> ((words - 1) % 2 * 32));
    Words values(elements * words);
    for (std::size_t i = 0; i < values.size(); ++i) {
        seed += 0x9e3779b97f4a7c15u;
        const std::uint64_t mixed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
        values[i] = static_cast<std::uint32_t>(mixed >> 32);
        if (i % words == words - 1) values[i] %= top;
    }
    return values;
}

/// Elements on the device in limbs of their field; in host memory they are 32-bit words here.
class Elements {
  public:
    Elements(weft::Backend& backend, const weft::FieldInfo& field, std::size_t words, const char* name)
        : words_(words), limbs_(made(backend, field, words, name)) {}

    std::uint64_t bytes() const { return words_ * sizeof(std::uint32_t); }
    weft::DeviceArray first(std::size_t words) const {
        return std::visit(
            [&](const auto& limbs) {
                return weft::DeviceArray(limbs.view(0, words * limbs.size() / words_));
            },
            limbs_);
    }
    weft::DeviceArray all() const { return first(words_); }
    void upload(weft::Stream& stream, const Words& words) const {
        std::visit(
            [&]<class Limb>(const weft::Buffer<Limb>& limbs) {
                std::vector<Limb> values(limbs.size());
                std::memcpy(values.data(), words.data(), bytes());
                stream.upload(values, limbs);
            },
            limbs_);
    }
    Words download(weft::Stream& stream) const {
        Words words(words_);
        std::visit(
            [&](const auto& limbs) { std::memcpy(words.data(), stream.download(limbs).data(), bytes()); },
            limbs_);
        return words;
    }

  private:
    using Limbs = std::variant<weft::Buffer<std::uint32_t>, weft::Buffer<std::uint64_t>>;
    static Limbs made(weft::Backend& backend, const weft::FieldInfo& field, std::size_t words,
                      const char* name) {
        if (field.limb_bytes == 4) return weft::Buffer<std::uint32_t>(backend, words, name);
        return weft::Buffer<std::uint64_t>(backend, words / 2, name);
    }

    std::size_t words_;
    Limbs limbs_;
};

/// One field's operands, in host memory and on the device.
class Resident {
  public:
    Resident(weft::Backend& backend, const weft::FieldInfo& field, std::size_t elements,
             const weft::FieldOptions& kernel)
        : field_(field),
          kernel_(kernel),
          words_(field.element_bytes / 4),
          host_a_(random_values(field, elements, 1)),
          host_b_(random_values(field, elements, 2)),
          a_(backend, field, elements * words_, "a"),
          b_(backend, field, elements * words_, "b"),
          out_(backend, field, elements * words_, "out"),
          stream_(backend),
          scalar_(random_values(field, 1, 3)) {
        a_.upload(stream_, host_a_);
        b_.upload(stream_, host_b_);
        stream_.wait();
    }

    std::uint64_t bytes(FieldOp op) const {
        return a_.bytes() * (weft::takes_b(op) ? 2 : 1) + (weft::is_reduction(op) ? 0 : a_.bytes());
    }

    void record(FieldOp op) {
        const bool reduction = weft::is_reduction(op);
        weft::ConstHostArray scalar;
        if (op == FieldOp::axpy)
            scalar = {scalar_.data(), field_.limbs, field_.limb_bytes == 4 ? weft::kUint32 : weft::kUint64};
        weft::FieldOptions options = kernel_;
        if (!reduction) options.block_elements = 0;
        weft::field_apply(stream_, field_.field, op, a_.all(),
                          weft::takes_b(op) ? b_.all() : weft::ConstDeviceArray(), scalar,
                          reduction ? out_.first(words_) : out_.all(), options);
    }

    double seconds(FieldOp op, int dispatches) {
        for (int d = 0; d < dispatches; ++d) record(op);
        const auto start = Clock::now();
        stream_.wait();
        return std::chrono::duration<double>(Clock::now() - start).count() / dispatches;
    }

    /// Products in Montgomery form a second. Plain ones are two of them for the bytes of one, which gets past
    /// the memory's bound on most devices.
    double products_per_s(int dispatches) {
        const FieldForm form = std::exchange(kernel_.form, FieldForm::plain);
        const double time = seconds(FieldOp::mul, dispatches);
        kernel_.form = form;
        return 2 * static_cast<double>(host_a_.size() / words_) / time;
    }

    bool verify(FieldOp op) {
        const reference::AnyField judge(field_);
        record(op);
        Words got = out_.download(stream_);
        if (!weft::is_reduction(op))
            return right(judge, op, kernel_.form, host_a_, host_b_, got, scalar_, 100);
        got.resize(words_);
        if (op == FieldOp::sum) return got == sum(judge, host_a_, words_);
        // Products are verified by samples, their sum is made here.
        record(FieldOp::mul);
        const Words products = out_.download(stream_);
        return right(judge, FieldOp::mul, kernel_.form, host_a_, host_b_, products, scalar_, 100) &&
               got == sum(judge, products, words_);
    }

    /// Elements a second of one thread, which repeats the first of them for `repeats` times, median; 0 if its
    /// results are wrong.
    double cpu_rate(FieldOp op, int repeats) {
        const std::size_t n = std::min(host_a_.size() / words_, kCpuElements);
        const Words a = first(host_a_, n), b = first(host_b_, n);
        Words out(n * words_);
        std::vector<double> times;
        for (int i = 0; i < repeats; ++i) {
            const auto start = Clock::now();
            cpu::run(field_.field, kernel_.form, op, a, b, scalar_, n, out);
            times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        }
        return right_on_cpu(op, a, b, out) ? static_cast<double>(n) / median(std::move(times)) : 0;
    }

  private:
    Words first(const Words& values, std::size_t elements) const {
        return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(elements * words_)};
    }
    bool right_on_cpu(FieldOp op, const Words& a, const Words& b, Words out) const {
        const reference::AnyField judge(field_);
        if (!weft::is_reduction(op)) return right(judge, op, kernel_.form, a, b, out, scalar_, 100);
        Words terms = a;
        if (op == FieldOp::inner_product)
            cpu::run(field_.field, kernel_.form, FieldOp::mul, a, b, scalar_, a.size() / words_, terms);
        out.resize(words_);
        return out == sum(judge, terms, words_);
    }

    const weft::FieldInfo& field_;
    weft::FieldOptions kernel_;
    std::size_t words_;
    Words host_a_, host_b_;
    Elements a_, b_, out_;
    weft::Stream stream_;
    Words scalar_;
};

/// 32-bit multiplications of an element, in Montgomery form; 0: none. `batch` elements share an inversion.
double multiplications(const weft::FieldInfo& field, FieldOp op) {
    const std::uint32_t words = field.element_bytes / 4;
    const double parts = words == 12 ? 14 : words == 8 ? 9 : words == 2 ? 3 : 1;
    const double product = 2 * parts * parts + parts;
    switch (op) {
        case FieldOp::add:
        case FieldOp::sub:
        case FieldOp::neg:
        case FieldOp::sum:
            return 0;
        case FieldOp::inner_product:  // reduced once for many products
            return parts * parts;
        case FieldOp::inverse: {  // three products, and a share of the power p - 2
            double ones = 0;
            std::uint64_t borrow = 2;
            for (const std::uint64_t limb : field.modulus) {
                ones += std::popcount(limb - borrow);
                borrow = limb < borrow ? 1 : 0;
            }
            return product * (3 + (field.bits + ones) / (words == 1 ? 8 : 32));
        }
        default:
            return product;
    }
}

/// What one operation is measured beside.
struct Beside {
    weft::tune::MemoryCeiling& ceiling;
    std::size_t elements;
    int dispatches;
    double& patience_s;  // left for turns that the settings refuse
};

/// Medians of turns: operation, stream and products right after each other, as some devices change their
/// pace.
struct Figures {
    double per_s = 0, stream = 0, of_memory = 0, of_multiply = 0;
};

Figures take_turns(const Settings& settings, const weft::FieldInfo& field, Resident& data, FieldOp op,
                   const Beside& beside) {
    const double each = multiplications(field, op), product = multiplications(field, FieldOp::mul);
    const int dispatches = op == FieldOp::inverse ? 1 : beside.dispatches;
    std::vector<double> rates, streams, of_memory, of_multiply;
    data.seconds(op, 1);
    if (each != 0) data.products_per_s(1);
    while (std::ssize(rates) < settings.repeats) {
        const auto start = Clock::now();
        const double before = beside.ceiling.gb_per_s(), time = data.seconds(op, dispatches),
                     products = each != 0 ? data.products_per_s(dispatches) : 0,
                     after = beside.ceiling.gb_per_s(), stream = (before + after) / 2;
        if (std::min(before, after) < settings.stream_at_least && beside.patience_s > 0) {
            beside.patience_s -= std::chrono::duration<double>(Clock::now() - start).count();
            continue;
        }
        rates.push_back(static_cast<double>(beside.elements) / time);
        streams.push_back(stream);
        of_memory.push_back(static_cast<double>(data.bytes(op)) / time / 1e9 / stream);
        of_multiply.push_back(each == 0 || settings.plain ? 0 : each * rates.back() / (product * products));
    }
    return {median(std::move(rates)), median(std::move(streams)), median(std::move(of_memory)),
            median(std::move(of_multiply))};
}

nlohmann::json measure(const Settings& settings, const weft::FieldInfo& field, Resident& data, FieldOp op,
                       const Beside& beside) {
    const double cpu = data.cpu_rate(op, std::min(settings.repeats, 5));
    const bool verified = data.verify(op) && cpu != 0;
    const Figures got = take_turns(settings, field, data, op, beside);
    const double gb_per_s =
        static_cast<double>(data.bytes(op)) / static_cast<double>(beside.elements) * got.per_s / 1e9;
    const double of_floor = std::max(got.of_memory, got.of_multiply);
    const char* bound = got.of_multiply > got.of_memory ? "multiply" : "memory";
    std::printf("%-15s %10.4f %9.1f %9.1f %7.3f %8.3f %8.3f %-8s %10.4f %7.1f  %s\n", to_string(op),
                got.per_s / 1e9, gb_per_s, got.stream, got.of_memory, got.of_multiply, of_floor, bound,
                cpu / 1e9, cpu != 0 ? got.per_s / cpu : 0, verified ? "yes" : "NO");
    return {{"op", to_string(op)},
            {"elements", beside.elements},
            {"g_elements_per_s", got.per_s / 1e9},
            {"gb_per_s", gb_per_s},
            {"stream_gb_per_s", got.stream},
            {"of_memory_floor", got.of_memory},
            {"of_multiply_floor", got.of_multiply},
            {"of_floor", of_floor},
            {"bound", bound},
            {"cpu_thread_g_elements_per_s", cpu / 1e9},
            {"verified", verified}};
}

/// Elements of a field: 192 MiB an array (4 Mi elements of 48 bytes) where the device can bind that.
std::size_t elements_of(const Settings& settings, const weft::Backend& backend,
                        const weft::FieldInfo& field) {
    const bool cpu = backend.device().type == weft::DeviceType::cpu;
    const std::uint64_t usual = settings.quick ? (1u << 20) : cpu ? (24u << 20) : (192u << 20);
    const std::uint64_t most = backend.device().limits.max_storage_buffer_range / field.element_bytes;
    const std::uint64_t wish = settings.elements != 0 ? settings.elements : usual / field.element_bytes;
    return std::min(wish, most);
}

int run(const Settings& settings) {
    weft::Backend backend;
    const bool cpu = backend.device().type == weft::DeviceType::cpu;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf(
        "%s form, %s integers. Floors: memory, the bytes at the speed of a stream of two reads and a\n"
        "write; multiply, the multiplications at the pace of plain products. CPU: one thread, up to %zu "
        "elements.\n",
        settings.plain ? "plain" : "Montgomery", settings.shader.c_str(), kCpuElements);
    nlohmann::json report{
        {"device", backend.name()}, {"driver", backend.device().driver}, {"rows", nlohmann::json::array()}};
    bool all_verified = true;
    double patience_s = settings.patience_s;
    for (const weft::FieldInfo& field : weft::fields()) {
        if (!wanted(settings.fields, field.name)) continue;
        const std::size_t elements = elements_of(settings, backend, field);
        weft::tune::MemoryCeiling ceiling(backend,
                                          std::max<std::uint64_t>(3 * elements * field.element_bytes, 48));
        Resident data(backend, field, elements, settings.kernel());
        std::printf("\n%s, %zu elements of %u bytes\n%-15s %10s %9s %9s %7s %8s %8s %-8s %10s %7s  %s\n",
                    field.name.data(), elements, field.element_bytes, "", "Gelem/s", "GB/s", "stream",
                    "memory", "multiply", "of floor", "bound by", "CPU", "x CPU", "verified");
        const Beside beside{ceiling, elements, cpu ? 1 : 8, patience_s};
        for (const FieldOp op : kOps) {
            if (!wanted(settings.ops, to_string(op))) continue;
            auto row = measure(settings, field, data, op, beside);
            all_verified = all_verified && row["verified"].get<bool>();
            row["field"] = field.name;
            report["rows"].push_back(row);
        }
    }
    if (!settings.json.empty()) {
        std::ofstream file(settings.json);
        file << report.dump(2) << '\n';
        if (!file.flush()) {
            std::fprintf(stderr, "bench_field: cannot write %s\n", settings.json.c_str());
            return 4;
        }
    }
    return all_verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CLI::App app{"Field operations on resident data, beside a stream of the same bytes."};
    std::vector<std::string> fields, ops;
    for (const weft::FieldInfo& field : weft::fields()) fields.emplace_back(field.name);
    for (const FieldOp op : kOps) ops.emplace_back(to_string(op));
    const CLI::Range positive(1, 1 << 30);
    app.add_option("--field", settings.fields, "Fields, comma-separated; default all")
        ->delimiter(',')
        ->check(CLI::IsMember(fields));
    app.add_option("--op", settings.ops, "Operations, comma-separated; default all")
        ->delimiter(',')
        ->check(CLI::IsMember(ops));
    app.add_option("--elements", settings.elements, "Elements an array; default 192 MiB, on a CPU 24 MiB")
        ->check(positive);
    app.add_option("--repeats", settings.repeats, "Timed runs behind each median")->check(positive);
    app.add_option("--shader", settings.shader, "Kind of integers")
        ->check(CLI::IsMember({"automatic", "limbs32", "limbs64"}));
    app.add_option("--workgroup", settings.workgroup_size, "Invocations of a workgroup; default as planned")
        ->check(positive);
    app.add_option("--block", settings.block, "Elements of a block of reductions; default as planned")
        ->check(positive);
    app.add_option("--stream-at-least", settings.stream_at_least,
                   "GB/s: measure again while the stream is slower, for devices that change their pace")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--patience", settings.patience_s, "Seconds for that in all")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--plain", settings.plain, "Plain instead of Montgomery form: products are two");
    app.add_option("--json", settings.json, "Also write the figures to this file");
    app.add_flag("--quick", settings.quick, "1 MiB an array and one repeat: a smoke test, not a measurement");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (settings.quick && app.count("--repeats") == 0) settings.repeats = 1;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return run(settings);
} catch (const weft::Error& error) {
    std::fprintf(stderr, "bench_field: %s\n", error.what());
    return error.code() == weft::Errc::no_device || error.code() == weft::Errc::no_loader ? 3 : 4;
}
