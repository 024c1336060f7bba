// SPDX-License-Identifier: Apache-2.0
// Treats any bytes as SPIR-V: they are checked, validated, reflected and compared with a device. Only a
// weft::Error with one of the documented codes may be thrown, and an accepted module must fit the documented
// limits.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fuzz/target.hpp"
#include "plan/spirv/reflection.hpp"
#include "support/snapshots.hpp"

using namespace weft;

using weft_fuzz::require;

namespace {

void check_promises(const core::Reflection& r) {
    for (std::size_t i = 1; i < r.bindings.size(); ++i)
        require(r.bindings[i - 1].binding < r.bindings[i].binding, "bindings ascend");
    for (const std::uint32_t size : r.local_size) require(size != 0, "workgroups have a size");
}

/// A module that the device accepts must fit the arrays that are sized for the device.
void check_fits(const core::Reflection& r, const core::DeviceSnapshot& device) {
    require(r.push_constant_bytes <= device.limits.max_push_constant_bytes, "push constants fit");
    for (const Binding& binding : r.bindings)
        require(binding.binding < device.limits.max_storage_buffers, "bindings fit");
    require(std::uint64_t{r.local_size[0]} * r.local_size[1] * r.local_size[2] <=
                device.limits.max_workgroup_invocations,
            "workgroups fit");
}

void judge(std::span<const std::uint32_t> words, const ProgramOptions& options) {
    static const core::DeviceSnapshot device = test::lavapipe();
    try {
        const core::Reflection reflection = core::reflect(words, options);
        check_promises(reflection);
        core::check_device(reflection, device, "fuzz");
        check_fits(reflection, device);
    } catch (const Error& error) {
        require(error.code() == Errc::invalid_shader || error.code() == Errc::invalid_argument ||
                    error.code() == Errc::unsupported,
                error.what());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint32_t> words(size / 4);
    if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
    judge(words, {});
    judge(words, {.constants = {{0u, 7u}}});
    return 0;
}
