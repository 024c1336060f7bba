// SPDX-License-Identifier: Apache-2.0
// Runs functions whose depth of recursion depends on their input.
#pragma once

#include <functional>

namespace weft::glsl {

/// Calls `work` on a thread of its own and waits for it. The thread has a stack of hundreds of megabytes,
/// which cost nothing until they are used. Exceptions of `work` are rethrown. Errors: out_of_memory - no
/// thread.
void run_on_large_stack(const std::function<void()>& work);

}  // namespace weft::glsl
