// SPDX-License-Identifier: Apache-2.0
#include "commands/lattice/lattice_options.hpp"

#include <limits>
#include <map>
#include <string>

#include "cli/number_options.hpp"

namespace weft::tool {
namespace {

const std::map<std::string, Lattice>& lattice_names() {
    static const std::map<std::string, Lattice> names{
        {"z2", Lattice::z2}, {"d4", Lattice::d4}, {"e8", Lattice::e8}};
    return names;
}

std::string check_lattice(const std::string& name) {
    if (lattice_names().contains(CLI::detail::to_lower(name))) return {};
    return "no such lattice (got " + name + ", need Z2, D4 or E8)";
}

}  // namespace

std::vector<CLI::Option*> add_code(CLI::App& command, LatticeCode& code, const char* levels_names) {
    CLI::Option* lattice = command
                               .add_option_function<std::string>(
                                   "--lattice",
                                   [&code](const std::string& name) {
                                       code.lattice = lattice_names().at(CLI::detail::to_lower(name));
                                   },
                                   "Z2, D4 or E8: vectors of 2, 4 or 8 values")
                               ->check(CLI::Validator(check_lattice, ""))
                               ->default_str(to_string(code.lattice))
                               ->type_name("NAME");
    CLI::Option* q = add_number(command, "--q", code.q, "Base of the digits, 3 to 16",
                                {3, 16, "3 to 16; 2 has no code for positive values"});
    CLI::Option* levels = add_number(command, levels_names, code.levels, "Digits a value, 1 to 4", {1, 4});
    return {lattice, q, levels};
}

CLI::Option* add_beta(CLI::App& command, LatticeCode& code) {
    return add_number(command, "--beta", code.beta, "Size of a step", {0x1p-40f, 0x1p40f, "2^-40 to 2^40"});
}

void add_retries(CLI::App& command, LatticeCode& code) {
    add_number(command, "--alpha", code.alpha, "Retry T divides by 2^(alpha T); above 0, at most 4",
               {std::numeric_limits<float>::denorm_min(), 4, "above 0, at most 4"});
    add_number(command, "--max-retries", code.max_retries, "Retries of vectors that overload", {0, 100});
}

}  // namespace weft::tool
