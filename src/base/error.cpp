// SPDX-License-Identifier: Apache-2.0
#include <weft/error.hpp>

namespace weft {

const char* to_string(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument:
            return "invalid_argument";
        case Errc::invalid_shader:
            return "invalid_shader";
        case Errc::no_loader:
            return "no_loader";
        case Errc::no_device:
            return "no_device";
        case Errc::unsupported:
            return "unsupported";
        case Errc::out_of_memory:
            return "out_of_memory";
        case Errc::device_lost:
            return "device_lost";
        case Errc::cancelled:
            return "cancelled";
        case Errc::io:
            return "io";
        case Errc::driver:
            return "driver";
    }
    return "unknown";
}

}  // namespace weft
