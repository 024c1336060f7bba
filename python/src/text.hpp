// SPDX-License-Identifier: Apache-2.0
// Settings and stages by name.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include <weft/batch.hpp>
#include <weft/config.hpp>

namespace weft::python {

std::string short_number(double value);  ///< three significant digits

Stage stage_named(const std::string& name);
Path path_named(const std::string& name);
QueueMode queues_named(const std::string& name);
HostAllocator host_allocator_named(const std::string& name);
Validation validation_named(const std::string& name);
LogLevel log_level_named(const std::string& name);

}  // namespace weft::python
