// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs, and threads that stay on one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::core {

/// Numbers of CPUs, ascending.
using CpuSet = std::vector<std::uint32_t>;

/// The kernel's notation, such as "0-15,32-47". Empty for an empty list and for anything else.
CpuSet parse_cpu_list(std::string_view text);
CpuSet common_cpus(const CpuSet& a, const CpuSet& b);
/// The CPUs that the calling thread, and threads that it starts, may use; empty: the system does not say.
CpuSet usable_cpus();
/// Their number, or that of all cores if the system does not say; at least 1.
std::uint32_t usable_cores();

/// Keeps the calling thread on some of the CPUs that it may use anyway, until the end of this object, which
/// must come on the same thread. Threads started meanwhile, and pages touched first, go there too. Nothing
/// happens if the set is empty, if the thread may use none of the set, or if the system refuses.
class NodeBinding {
  public:
    explicit NodeBinding(const CpuSet& cpus) noexcept;
    ~NodeBinding();
    NodeBinding(const NodeBinding&) = delete;
    NodeBinding& operator=(const NodeBinding&) = delete;

    /// errno of a refusal; 0: none.
    int error() const noexcept { return error_; }

  private:
    CpuSet before_;  // empty: the thread was left as it is
    int error_ = 0;
};

}  // namespace weft::core
