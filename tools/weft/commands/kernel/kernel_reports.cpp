// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_reports.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/figures.hpp"
#include "cli/print_json.hpp"
#include "device/device_rows.hpp"

namespace weft::tool {
namespace {

/// The figures of the operator that begin every report.
Json json_of(const OperatorArguments& arguments, const OperatorCall& call) {
    Json json{{"samples", call.shape().samples},
              {"columns", call.shape().columns()},
              {"qubits", call.shape().qubits},
              {"vectors", call.columns()},
              {"arithmetic", to_string(call.options().type)}};
    if (arguments.ranks != 0) json["ranks"] = arguments.ranks;
    return json;
}

// What has not converged is an answer, but the user should learn of it.
void warn_of_residual(bool converged, double residual, double tolerance, const char* help) {
    if (!converged)
        std::fprintf(stderr, "weft: not converged: the residual is %.1e (need %.1e; %s)\n", residual,
                     tolerance, help);
}

}  // namespace

void print_plan(const OperatorArguments& arguments, OperatorCall& call, std::uint32_t vectors,
                Target& target) {
    const KernelOperatorEstimate plan = target.estimate(call.inputs(), call.state_type(), vectors);
    if (arguments.json) {
        Json json = json_of(arguments, call);
        json["vectors"] = vectors;
        json["method"] = to_string(plan.method);
        json["symmetric"] = plan.symmetric;
        json["pairs"] = plan.pairs;
        json["passes"] = plan.passes;
        json["instructions"] = plan.instructions;
        json["error"] = plan.error;
        json["device_bytes"] = plan.sample_bytes + plan.scratch_bytes;
        json["available_bytes"] = plan.available_bytes;
        json["fits"] = plan.fits;
        json["reasons"] = plan.reasons;
        json["device"] = target.device().name;
        return print_json(json);
    }
    const auto size = [](std::uint64_t bytes) { return si(static_cast<double>(bytes), "B"); };
    std::printf("K: %" PRIu64 " x %" PRIu64 ", %u qubits, never stored; a product with %u columns:\n",
                call.shape().samples, call.shape().columns(), call.shape().qubits, vectors);
    // A plan that cannot be made has no figures, but the reasons say why.
    if (plan.sample_bytes != 0) {
        std::printf("method: %s%s, %u %s, %s\n", to_string(plan.method), plan.symmetric ? ", symmetric" : "",
                    plan.passes, plan.passes == 1 ? "pass" : "passes",
                    si(plan.instructions, "instructions").c_str());
        std::printf("device memory: %s of %s that may be used\n",
                    size(plan.sample_bytes + plan.scratch_bytes).c_str(), size(plan.available_bytes).c_str());
        std::printf("errors: at most %.0e times the sum of |V|\n", plan.error);
    }
    for (const std::string& reason : plan.reasons) std::printf("  %s\n", reason.c_str());
}

void print_report(const OperatorArguments& arguments, const char* name, const DeviceInfo& device,
                  const OperatorCall& call, const OpReport& report) {
    if (!arguments.json) {
        std::printf("kernel %s: %" PRIu64 " x %" PRIu64 ", %u qubits, %u columns, by %s, in %.6f s, %s, %s\n",
                    name, call.shape().samples, call.shape().columns(), call.shape().qubits, call.columns(),
                    report.method.c_str(), report.wall_s, si(report.items_per_s(), "pairs/s").c_str(),
                    device.name.c_str());
        return print_rows(report.devices);
    }
    Json json = json_of(arguments, call);
    json["pairs"] = report.items;
    json["method"] = report.method;
    json["pairs_per_s"] = report.items_per_s();
    add_run(json, report, device);
    print_json(json);
}

void print_solve(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelSolveReport& report) {
    warn_of_residual(report.converged, report.residual(), arguments.tolerance,
                     "a larger --rank, --max-iterations or --lambda helps, and --dtype float64");
    if (!arguments.json) {
        std::printf("kernel solve: %" PRIu64
                    " rows, %u qubits, %u columns, residual %.1e after %u iterations, rank %u, in %.6f s "
                    "(preconditioner %.6f, products %.6f), %s\n",
                    call.shape().samples, call.shape().qubits, call.columns(), report.residual(),
                    report.iterations, report.rank, report.wall_s, report.preconditioner_s, report.product_s,
                    device.name.c_str());
        return;
    }
    Json json = json_of(arguments, call);
    json["lambda"] = arguments.lambda;
    json["converged"] = report.converged;
    json["residual"] = report.residual();
    json["residuals"] = report.residuals;
    json["iterations"] = report.iterations;
    json["resumed"] = report.resumed;
    json["rank"] = report.rank;
    json["preconditioner_s"] = report.preconditioner_s;
    json["product_s"] = report.product_s;
    json["seconds"] = report.wall_s;
    json["device"] = device.name;
    json["driver"] = device.driver;
    print_json(json);
}

void print_eigen(const OperatorArguments& arguments, const DeviceInfo& device, const OperatorCall& call,
                 const KernelEigenReport& report, const std::vector<double>& values) {
    warn_of_residual(report.converged, *std::max_element(report.residuals.begin(), report.residuals.end()),
                     arguments.tolerance, "more --max-products help, and --dtype float64");
    if (!arguments.json) {
        std::printf("kernel eigen: %" PRIu64 " rows, %u qubits, %zu values, %u products, in %.6f s, %s\n",
                    call.shape().samples, call.shape().qubits, values.size(), report.products, report.wall_s,
                    device.name.c_str());
        for (std::size_t i = 0; i < values.size(); ++i)
            std::printf("  %.9g, residual %.1e\n", values[i], report.residuals[i]);
        return;
    }
    Json json = json_of(arguments, call);
    json["vectors"] = values.size();
    json["converged"] = report.converged;
    json["values"] = values;
    json["residuals"] = report.residuals;
    json["products"] = report.products;
    json["product_s"] = report.product_s;
    json["seconds"] = report.wall_s;
    json["device"] = device.name;
    json["driver"] = device.driver;
    print_json(json);
}

}  // namespace weft::tool
