// SPDX-License-Identifier: Apache-2.0
// How weft asks whether another API that it waits for is still alive.
#pragma once

#include <functional>
#include <string>

namespace weft::core {

/// Why the other API will never signal again; empty: it may. Called from any thread, every two seconds of a
/// wait that lasts.
using SignallerCheck = std::function<std::string()>;

}  // namespace weft::core
