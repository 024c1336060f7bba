// SPDX-License-Identifier: Apache-2.0
// The smallest program that shows that weft::cuda links the CUDA runtime and starts without an NVIDIA driver.
#include <cstdio>

#include <weft/cuda/device.hpp>
#include <weft/weft.hpp>

int main() try {
    for (const weft::cuda::DeviceInfo& device : weft::cuda::list_devices())
        std::printf("%s\n", device.name.c_str());
} catch (const weft::Error& e) {
    std::printf("%s\n", e.what());
    return e.code() == weft::Errc::no_device ? 0 : 1;
}
