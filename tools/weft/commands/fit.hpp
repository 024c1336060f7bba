// SPDX-License-Identifier: Apache-2.0
// How many samples fit, found with the library's own estimates.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::tool {

std::uint64_t memory_of_machine();  ///< bytes

/// The largest number from 1 to `most` that fits, if all smaller ones do; 0: not even 1 fits. A weft::Error
/// from `fits` counts as no.
std::uint64_t largest_that_fits(std::uint64_t most, const std::function<bool(std::uint64_t)>& fits);

}  // namespace weft::tool
