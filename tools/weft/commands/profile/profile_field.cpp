// SPDX-License-Identifier: Apache-2.0
// weft profile field: the report, or a single run of many jobs.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "cli/lists.hpp"
#include "cli/number_options.hpp"
#include "commands/field/field_values.hpp"
#include "commands/profile/profile_report.hpp"
#include "commands/profile/profile_run.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_threads.hpp"

namespace weft::tool {
namespace {

struct FieldProfile {
    std::string op = "add", field = "bls12-381-fp", mode = "pipelined";
    FieldChoice choice;  // for the report
    std::uint64_t elements = 65536, jobs = 16;
    ProfileRun run;
    ReportOptions report;
    bool repeats_given = false, warmup_given = false;  // a report has more repeats by default
};

template <class Limb>
class FieldWork {
  public:
    FieldWork(const FieldInfo& field, FieldOp op, std::uint64_t elements, std::uint64_t jobs)
        : field_(field), op_(op), a_(elements * jobs * field.limbs), b_(a_.size()), out_(a_.size(), 0) {
        fill_field(field, 1, std::span<Limb>(a_));
        fill_field(field, 2, std::span<Limb>(b_));
        const std::size_t limbs = elements * field.limbs;
        for (std::size_t first = 0; first < a_.size(); first += limbs) {
            const auto part = [&](std::vector<Limb>& v) { return std::span(v).subspan(first, limbs); };
            jobs_.push_back({.a = part(a_), .out = part(out_)});
            if (takes_b(op)) jobs_.back().b = part(b_);
        }
    }
    const std::vector<FieldJob>& jobs() const { return jobs_; }
    void forget() { std::fill(out_.begin(), out_.end(), static_cast<Limb>(~Limb{0})); }
    /// Errors: Failure with Exit::failed.
    void verify() const {
        std::vector<Limb> wanted(out_.size());
        CpuFieldJob<Limb> job{.a = a_, .out = wanted};
        if (takes_b(op_)) job.b = b_;
        cpu_field(field_, op_, job, cpu_threads());
        const auto wrong = std::mismatch(out_.begin(), out_.end(), wanted.begin()).first;
        if (wrong != out_.end())
            throw Failure(Exit::failed, "profile field: element " +
                                            std::to_string((wrong - out_.begin()) / field_.limbs) +
                                            " is wrong");
    }

  private:
    FieldInfo field_;
    FieldOp op_;
    std::vector<Limb> a_, b_, out_;
    std::vector<FieldJob> jobs_;
};

constexpr std::array kOps{FieldOp::add,    FieldOp::sub,     FieldOp::neg,           FieldOp::mul,
                          FieldOp::square, FieldOp::inverse, FieldOp::to_montgomery, FieldOp::from_montgomery,
                          FieldOp::axpy,   FieldOp::sum,     FieldOp::inner_product};

FieldOp op_named(const std::string& name) {
    const auto found =
        std::find_if(kOps.begin(), kOps.end(), [&](FieldOp op) { return name == to_string(op); });
    if (found == kOps.end()) throw CLI::ValidationError("no such operation (got " + name + ")");
    return *found;
}

std::vector<FieldOp> ops_named(const std::string& text) {
    if (text == "all") return {kOps.begin(), kOps.end()};
    return list_of(text, op_named);
}

/// The options that a report has and a single run lacks.
std::vector<CLI::Option*> add_choice(CLI::App& command, FieldChoice& choice) {
    const auto one_of = [&](const char* name, const char* usual, const char* about,
                            const std::vector<std::string>& words,
                            const std::function<void(const std::string&)>& take) {
        return command.add_option_function<std::string>(name, take, about)
            ->default_str(usual)
            ->type_name("NAME")
            ->check(CLI::IsMember(words).description(""));
    };
    std::vector<CLI::Option*> added{
        command
            .add_option_function<std::string>(
                "--ops", [&choice](const std::string& text) { choice.ops = ops_named(text); },
                "Operations with commas between, or all")
            ->default_str("add,mul")
            ->type_name("OP,OP,.."),
        one_of("--form", "plain", "plain or montgomery", {"plain", "montgomery"},
               [&choice](const std::string& text) {
                   choice.options.form = text == "plain" ? FieldForm::plain : FieldForm::montgomery;
               }),
        one_of("--shader", "automatic", "automatic, limbs32 or limbs64", {"automatic", "limbs32", "limbs64"},
               [&choice](const std::string& text) {
                   choice.options.shader = text == "limbs32"   ? FieldShader::limbs32
                                           : text == "limbs64" ? FieldShader::limbs64
                                                               : FieldShader::automatic;
               }),
        add_number(command, "--workgroup-size", choice.options.workgroup_size,
                   "Of resident arrays; 0: as planned", {0, 1024}),
        add_number(command, "--block-elements", choice.options.block_elements,
                   "Elements of a workgroup, of reductions of resident arrays; 0: as planned",
                   {0, std::uint32_t{1} << 30})};
    for (CLI::Option* option : added) option->group("Report");
    return added;
}

template <class Limb>
void run_jobs(const FieldProfile& p, const FieldInfo& field) {
    const FieldOp op = op_named(p.op);
    if (p.run.device.backend == "cuda")
        throw Failure(Exit::usage, "profile field: a single run is of vulkan (got --backend cuda)");
    p.run.require_outputs();
    Backend backend = open_backend(p.run.device.config());
    FieldWork<Limb> work(field, op, p.elements, p.jobs);
    FieldHostOptions options;
    options.batch.mode = p.mode == "sequential" ? BatchMode::sequential : BatchMode::pipelined;
    const Json about{{"command", "profile field"}, {"op", p.op},
                     {"field", p.field},           {"mode", p.mode},
                     {"elements", p.elements},     {"jobs", p.jobs},
                     {"device", backend.name()},   {"driver", backend.device().driver}};
    const auto once = [&](const ProgressCallback& progress) {
        options.batch.progress = progress;
        return field_batch(backend, field.field, op, work.jobs(), options);
    };
    p.run.run(
        backend, "profile field " + p.op, about, once, [&] { work.forget(); }, [&] { work.verify(); });
}

void run(const FieldProfile& p, bool single) {
    const FieldInfo& field = field_info(*find_field(p.field));
    if (single && field.limb_bytes == 4) return run_jobs<std::uint32_t>(p, field);
    if (single) return run_jobs<std::uint64_t>(p, field);
    ReportOptions report = p.report;
    report.device = p.run.device;
    if (p.repeats_given) report.repeats.repeats = p.run.repeats;
    if (p.warmup_given) report.repeats.warmup = p.run.warmup;
    ReportKernels kernels;
    FieldChoice choice = p.choice;
    choice.field = field.field;
    kernels.push_back(report_field(choice));
    run_report("field", report, kernels);
}

}  // namespace

void add_profile_field(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand("field",
                                                "Report: field arithmetic by size, compared with the CPU and "
                                                "the ceilings; or a single run of many jobs");
    const auto p = std::make_shared<FieldProfile>();
    add_field_name(command, p->field);
    std::vector<CLI::Option*> of_report = p->report.add_report(command);
    for (CLI::Option* option : add_choice(command, p->choice)) of_report.push_back(option);
    std::vector<CLI::Option*> single;
    const auto add = [&](CLI::Option* option) {
        single.push_back(option->group("Single run: any of these"));
    };
    add(command.add_option("--op", p->op, "add, sub, neg or mul")
            ->capture_default_str()
            ->type_name("OP")
            ->check(CLI::IsMember({"add", "sub", "neg", "mul"})));
    add(command.add_option("--mode", p->mode, "pipelined or sequential")
            ->capture_default_str()
            ->type_name("MODE")
            ->check(CLI::IsMember({"pipelined", "sequential"})));
    add(add_number(command, "--elements", p->elements, "Elements a job", {1, std::uint64_t{1} << 28}));
    add(add_number(command, "--jobs", p->jobs, "Jobs a run", {1, std::uint64_t{1} << 20}));
    for (CLI::Option* option : p->run.add_to(command)) add(option);
    for (CLI::Option* one : single)
        for (CLI::Option* other : of_report) one->excludes(other);
    command.footer(
        "Example: weft profile field --batch-sizes 1000,1000000 --output-dir report\n"
        "Example: weft profile field --ops all --form montgomery --batch-sizes 4000000\n"
        "Example: weft profile field --op add --elements 65536 --jobs 16 --json report.json");
    command.callback([p, single, &command] {
        p->repeats_given = command.count("--repeats") != 0;
        p->warmup_given = command.count("--warmup") != 0;
        run(*p, std::any_of(single.begin(), single.end(), [](CLI::Option* o) { return o->count() != 0; }));
    });
}

}  // namespace weft::tool
