// SPDX-License-Identifier: Apache-2.0
// weft profile field: many jobs of field arithmetic, checked against sums that share no code with them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "failure.hpp"
#include "profile_run.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t kLimbs = kBls12381FpLimbs;
using Element = std::array<std::uint64_t, kLimbs>;  // least significant limb first

constexpr Element kModulus{0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                           0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

struct FieldProfile {
    std::string op = "add", field = "bls12-381-fp", mode = "pipelined";
    std::uint64_t elements = 65536, jobs = 16;
    ProfileRun run;
};

__extension__ using Wide = unsigned __int128;

/// Returns the carry.
std::uint64_t add(const Element& a, const Element& b, Element& out) {
    Wide carry = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
        carry += Wide{a[i]} + b[i];
        out[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    return static_cast<std::uint64_t>(carry);
}

/// Returns the borrow.
std::uint64_t subtract(const Element& a, const Element& b, Element& out) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
        const Wide difference = Wide{a[i]} - b[i] - borrow;
        out[i] = static_cast<std::uint64_t>(difference);
        borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
    }
    return borrow;
}

Element expected(FieldOp op, const Element& a, const Element& b) {
    Element out{}, reduced{};
    switch (op) {
        case FieldOp::add:
            add(a, b, out);  // both below p, which leaves three bits free: no carry
            return subtract(out, kModulus, reduced) != 0 ? out : reduced;
        case FieldOp::sub:
            if (subtract(a, b, out) != 0) add(out, kModulus, out);
            return out;
        default:
            if (std::all_of(a.begin(), a.end(), [](std::uint64_t limb) { return limb == 0; })) return a;
            subtract(kModulus, a, out);
            return out;
    }
}

/// Values below p: random ones, and each thousandth at one of its ends.
std::vector<std::uint64_t> values(std::uint64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> limbs(count * kLimbs);
    for (std::uint64_t i = 0; i < count; ++i) {
        Element e{};
        if (i % 1000 == 1) {
            subtract(kModulus, Element{1}, e);
        } else if (i % 1000 != 0) {
            for (std::uint64_t& limb : e) limb = random();
            e.back() %= kModulus.back();
        }
        std::copy(e.begin(), e.end(), limbs.begin() + static_cast<std::ptrdiff_t>(i * kLimbs));
    }
    return limbs;
}

class FieldWork {
  public:
    FieldWork(FieldOp op, std::uint64_t elements, std::uint64_t jobs)
        : op_(op), a_(values(elements * jobs, 1)), b_(values(elements * jobs, 2)), out_(a_.size(), 0) {
        const std::size_t limbs = elements * kLimbs;
        for (std::size_t first = 0; first < a_.size(); first += limbs) {
            const auto part = [&](std::vector<std::uint64_t>& v) {
                return std::span(v).subspan(first, limbs);
            };
            jobs_.push_back(
                {part(a_), op == FieldOp::neg ? std::span<std::uint64_t>{} : part(b_), part(out_)});
        }
    }
    const std::vector<FieldJob>& jobs() const { return jobs_; }
    void forget() { std::fill(out_.begin(), out_.end(), ~std::uint64_t{0}); }
    /// Errors: Failure with Exit::failed.
    void verify() const {
        for (std::size_t i = 0; i < out_.size() / kLimbs; ++i)
            if (at(out_, i) != expected(op_, at(a_, i), at(b_, i)))
                throw Failure(Exit::failed, "profile field: element " + std::to_string(i) + " is wrong");
    }

  private:
    static Element at(const std::vector<std::uint64_t>& limbs, std::size_t i) {
        Element e;
        std::copy_n(limbs.begin() + static_cast<std::ptrdiff_t>(i * kLimbs), kLimbs, e.begin());
        return e;
    }

    FieldOp op_;
    std::vector<std::uint64_t> a_, b_, out_;
    std::vector<FieldJob> jobs_;
};

void run(const FieldProfile& p) {
    const FieldOp op = p.op == "add" ? FieldOp::add : p.op == "sub" ? FieldOp::sub : FieldOp::neg;
    p.run.require_outputs();
    Backend backend = open_backend(p.run.device.config());
    FieldWork work(op, p.elements, p.jobs);
    FieldOptions options;
    options.batch.mode = p.mode == "sequential" ? BatchMode::sequential : BatchMode::pipelined;
    const nlohmann::ordered_json about{{"command", "profile field"}, {"op", p.op},
                                       {"field", p.field},           {"mode", p.mode},
                                       {"elements", p.elements},     {"jobs", p.jobs},
                                       {"device", backend.name()},   {"driver", backend.device().driver}};
    const auto once = [&](const ProgressCallback& progress) {
        options.batch.progress = progress;
        return field_batch(backend, op, work.jobs(), options);
    };
    p.run.run(
        backend, "profile field " + p.op, about, once, [&] { work.forget(); }, [&] { work.verify(); });
}

}  // namespace

void add_profile_field(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand("field", "Jobs of field arithmetic in ordinary memory");
    const auto p = std::make_shared<FieldProfile>();
    command.add_option("--op", p->op, "add, sub or neg")
        ->capture_default_str()
        ->type_name("OP")
        ->check(CLI::IsMember({"add", "sub", "neg"}));
    command.add_option("--field", p->field, "One of `weft field list`")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"bls12-381-fp"}));
    command.add_option("--mode", p->mode, "pipelined or sequential")
        ->capture_default_str()
        ->type_name("MODE")
        ->check(CLI::IsMember({"pipelined", "sequential"}));
    command.add_option("--elements", p->elements, "Elements a job")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 28));
    command.add_option("--jobs", p->jobs, "Jobs a run")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
    p->run.add_to(command);
    command.footer("Example: weft profile field --op add --elements 65536 --jobs 16 --json report.json");
    command.callback([p] { run(*p); });
}

}  // namespace weft::tool
