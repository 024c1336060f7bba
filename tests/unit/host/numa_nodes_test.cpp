// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "host/numa_nodes.hpp"
#include "support/scratch_folder.hpp"

namespace {

using weft::core::CpuSet;
using weft::core::numa_node_of;
using weft::core::numa_nodes;
using weft::core::NumaNode;
using weft_test::ScratchFolder;

const std::string kNodes = "devices/system/node/";
const std::string kDevices = "bus/pci/devices/";

/// A machine with two sockets, a GPU on each, and a node of memory alone.
void write_two_sockets(const ScratchFolder& sysfs) {
    sysfs.write(kNodes + "online", "0-2,10\n");
    sysfs.write(kNodes + "node0/cpulist", "0-1,4-5\n");
    sysfs.write(kNodes + "node1/cpulist", "2-3,6-7\n");
    sysfs.write(kNodes + "node2/cpulist", "\n");
    sysfs.write(kNodes + "nodes/cpulist", "9\n");
    sysfs.write(kDevices + "0000:65:00.0/numa_node", "1\n");
    sysfs.write(kDevices + "0000:17:00.0/numa_node", "0\n");
    sysfs.write(kDevices + "0000:00:02.0/numa_node", "-1\n");
    sysfs.write(kDevices + "0000:00:03.0/numa_node", "one\n");
}

TEST_CASE("numa nodes: those with CPUs, ascending") {
    const ScratchFolder sysfs;
    write_two_sockets(sysfs);
    sysfs.write(kNodes + "node10/cpulist", "8\n");
    const std::vector<NumaNode> nodes = numa_nodes(sysfs.path());
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[0].node == 0);
    CHECK(nodes[0].cpus == CpuSet{0, 1, 4, 5});
    CHECK(nodes[1].node == 1);
    CHECK(nodes[1].cpus == CpuSet{2, 3, 6, 7});
    CHECK(nodes[2].node == 10);
    CHECK(nodes[2].cpus == CpuSet{8});
}

TEST_CASE("numa nodes: the one next to a device") {
    const ScratchFolder sysfs;
    write_two_sockets(sysfs);
    CHECK(numa_node_of("0000:65:00.0", sysfs.path()) == 1);
    CHECK(numa_node_of("0000:17:00.0", sysfs.path()) == 0);
    for (const char* unknown : {"0000:00:02.0", "0000:00:03.0", "0000:99:00.0", ""}) {
        CAPTURE(unknown);
        CHECK(numa_node_of(unknown, sysfs.path()) == -1);
    }
}

TEST_CASE("numa nodes: a machine with one node, or without sysfs, has none to choose") {
    const ScratchFolder one;
    one.write(kNodes + "online", "0-1\n");
    one.write(kNodes + "node0/cpulist", "0-7\n");
    one.write(kNodes + "node1/cpulist", "\n");  // memory of a GPU
    one.write(kDevices + "0000:65:00.0/numa_node", "0\n");
    CHECK(numa_nodes(one.path()).size() == 1);
    CHECK(numa_node_of("0000:65:00.0", one.path()) == -1);
    const ScratchFolder none;
    CHECK(numa_nodes(none.path()).empty());
    CHECK(numa_node_of("0000:65:00.0", none.path()) == -1);
}

TEST_CASE("numa nodes: the CPUs of this machine's nodes that the thread may use") {
    CHECK(weft::core::usable_cpus_of(-1).empty());
    CHECK(weft::core::usable_cpus_of(9999).empty());
    const CpuSet usable = weft::core::usable_cpus();
    for (const NumaNode& node : numa_nodes()) {
        const CpuSet cpus = weft::core::usable_cpus_of(node.node);
        CHECK(cpus == weft::core::common_cpus(node.cpus, usable));
    }
}

}  // namespace
