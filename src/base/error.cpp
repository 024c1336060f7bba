// SPDX-License-Identifier: Apache-2.0
#include <weft/error.hpp>

#include "base/enums.hpp"

namespace weft {

const char* to_string(Errc code) noexcept {
    return core::enum_name<Errc::driver>(
        code, {"invalid_argument", "invalid_shader", "no_loader", "no_device", "unsupported", "out_of_memory",
               "device_lost", "cancelled", "io", "driver"});
}

}  // namespace weft
