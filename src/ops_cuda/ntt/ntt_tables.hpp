// SPDX-License-Identifier: Apache-2.0
// Tables of powers that transforms read. They are made on the device, and the process keeps them for later
// calls.
#pragma once

#include <memory>
#include <vector>

#include <weft/ops/ntt.hpp>

#include "ops/ntt/ntt_plan.hpp"

namespace weft::cuda {

/// The entries of `tables` on the current device, complete. They live as long as the pointer, and until the
/// work that the device was given before has ended. Errors: out_of_memory, driver.
std::shared_ptr<const void> ntt_tables(Field field, const std::vector<kernels::NttTable>& tables,
                                       const char* function);

}  // namespace weft::cuda
