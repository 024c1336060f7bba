// SPDX-License-Identifier: Apache-2.0
// The NUMA nodes of this machine, as the kernel lists them in sysfs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/cpu_set.hpp"

namespace weft::core {

struct NumaNode {
    int node = 0;
    CpuSet cpus;
};

/// The nodes that have CPUs, ascending; empty where sysfs has none. `sysfs`: for tests.
std::vector<NumaNode> numa_nodes(const std::filesystem::path& sysfs = "/sys");
/// The node next to the device at a PCI address as DeviceInfo has it. -1: unknown, or only one node has CPUs.
int numa_node_of(const std::string& pci_address, const std::filesystem::path& sysfs = "/sys");
/// The CPUs of a node that the calling thread may use; empty for node -1 and if there are none.
CpuSet usable_cpus_of(int node);

}  // namespace weft::core
