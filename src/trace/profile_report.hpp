// SPDX-License-Identifier: Apache-2.0
// From plain events to figures. Pure.
#pragma once

#include <weft/profile.hpp>

#include "trace/trace_events.hpp"

namespace weft::core {

ProfileReport summarise(const TraceData& data);

}  // namespace weft::core
