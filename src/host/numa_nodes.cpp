// SPDX-License-Identifier: Apache-2.0
#include "host/numa_nodes.hpp"

#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace weft::core {
namespace {

/// The first line of a file; empty: none. The sizes that sysfs gives for its files mean nothing, so
/// base/file_io.hpp does not read them.
std::string first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::optional<int> parse_node(std::string_view text) {
    int node = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, node);
    if (error != std::errc{} || stop != end || node < 0) return std::nullopt;
    return node;
}

}  // namespace

std::vector<NumaNode> numa_nodes(const std::filesystem::path& sysfs) {
    const std::filesystem::path folder = sysfs / "devices/system/node";
    std::vector<NumaNode> nodes;
    for (const std::uint32_t node : parse_cpu_list(first_line(folder / "online"))) {
        CpuSet cpus = parse_cpu_list(first_line(folder / ("node" + std::to_string(node)) / "cpulist"));
        if (!cpus.empty()) nodes.push_back({static_cast<int>(node), std::move(cpus)});
    }
    return nodes;
}

int numa_node_of(const std::string& pci_address, const std::filesystem::path& sysfs) {
    if (pci_address.empty() || numa_nodes(sysfs).size() < 2) return -1;
    return parse_node(first_line(sysfs / "bus/pci/devices" / pci_address / "numa_node")).value_or(-1);
}

CpuSet usable_cpus_of(int node) {
    if (node < 0) return {};
    for (const NumaNode& n : numa_nodes())
        if (n.node == node) return common_cpus(n.cpus, usable_cpus());
    return {};
}

}  // namespace weft::core
