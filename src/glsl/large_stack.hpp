// SPDX-License-Identifier: Apache-2.0
// Runs what recurses as deep as its input says.
#pragma once

#include <functional>

namespace weft::glsl {

/// Calls `work` on a thread of its own with hundreds of megabytes of stack, which cost nothing until they are
/// used, and waits for it. What it throws is rethrown here. Errors: out_of_memory - no thread.
void run_on_large_stack(const std::function<void()>& work);

}  // namespace weft::glsl
