// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <weft/error.hpp>

#include "plan/spirv/reflection.hpp"

using namespace weft;
using namespace weft::core;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kSaxpy[] = {
#include "shaders/saxpy.spv.inc"
};

Words saxpy() {
    return {std::begin(kSaxpy), std::end(kSaxpy)};
}

/// The text of the invalid_shader error; empty if the words pass.
std::string refusal(std::span<const std::uint32_t> words, const std::string& entry = "main") {
    try {
        check_spirv_words(words, entry, "probe");
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_shader);
        return error.what();
    }
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The position of the single OpEntryPoint (opcode 15).
std::size_t entry_point_position(const Words& words) {
    std::size_t at = 5;
    while ((words[at] & 0xffffu) != 15) at += words[at] >> 16;
    return at;
}

}  // namespace

TEST_CASE("a module of a compiler passes") {
    CHECK(refusal(kSaxpy) == "");
    CHECK_NOTHROW(reflect(kSaxpy, {}));
}

TEST_CASE("a wrong header is refused with the value found") {
    const struct {
        const char* what;
        std::size_t word;
        std::uint32_t value;
        const char* expected;
    } cases[] = {
        {"swapped", 0, 0x03022307, "byte-swapped"},
        {"magic", 0, 0xdeadbeef, "wrong magic number (got 0xdeadbeef, need 0x07230203)"},
        {"newer", 1, 0x00010600,
         "(got 1.6 in word 0x00010600, need 1.0 to 1.5; compile with --target-env=vulkan1.2)"},
        {"older", 1, 0x00000900, "got 0.9 in word 0x00000900, need 1.0 to 1.5)"},
        {"garbage version", 1, 0x12345678, "0x12345678"},
        {"low byte of version", 1, 0x00010301, "0x00010301"},
        {"no bound", 3, 0, "id bound (got 0"},
        {"absurd bound", 3, 0xffffffff, "id bound (got 4294967295"},
        {"schema", 4, 1, "schema (got 1, need 0)"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.what);
        Words words = saxpy();
        words[c.word] = c.value;
        const std::string text = refusal(words);
        CAPTURE(text);
        CHECK(contains(text, c.expected));
        CHECK(contains(text, "Program 'probe': "));
    }
}

TEST_CASE("no words, few words and text are refused as such") {
    CHECK(contains(refusal({}), "got 0 words"));
    for (std::size_t count = 1; count < 5; ++count)
        CHECK(contains(refusal(std::span(kSaxpy).first(count)), "header"));
    const Words glsl = {0x65762123, 0x6f697372, 0x3634206e, 0x00000a30};  // "#version 460\n"
    CHECK(contains(refusal(glsl), "looks like text; pass SPIR-V words"));
    const Words one_word = {0x65762123};
    CHECK(contains(refusal(one_word), "looks like text"));
}

TEST_CASE("instruction lengths that do not add up are refused") {
    Words words = saxpy();
    words[5] &= 0xffff;
    CHECK(contains(refusal(words), "instruction of 0 words at word 5"));
    words = saxpy();
    words[5] |= 0xffff0000u;
    CHECK(contains(refusal(words), "truncated: the instruction at word 5"));
}

TEST_CASE("the entry point must exist and be a compute shader") {
    Words words = saxpy();
    const std::size_t at = entry_point_position(words);
    CHECK(contains(refusal(words, "mian"), "no entry point 'mian' (the module has 'main')"));
    CHECK(contains(refusal(words, ""), "no entry point ''"));
    CHECK(contains(refusal(std::span(words).first(at)), "the module has none"));
    words[at + 1] = 4;
    CHECK(contains(refusal(words), "not a compute shader (got Fragment, need GLCompute)"));
    words[at + 1] = 5267;
    CHECK(contains(refusal(words), "got execution model 5267"));
    words = saxpy();
    for (std::size_t i = at + 3; i < at + (words[at] >> 16); ++i) words[i] = 0x61616161;
    CHECK(contains(refusal(words), "name without an end"));
    for (std::uint32_t length = 1; length <= 3; ++length) {
        Words cut(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at + length));
        cut[at] = length << 16 | 15;
        CHECK(contains(refusal(cut), "name without an end"));
    }
}

TEST_CASE("a module cut after any word is refused or has lost only whole instructions") {
    const Words words = saxpy();
    const std::size_t entry = entry_point_position(words);
    for (std::size_t count = 0; count < words.size(); ++count) {
        const Words cut(words.begin(),
                        words.begin() + static_cast<std::ptrdiff_t>(count));  // exact heap block
        CAPTURE(count);
        if (count <= entry) CHECK(refusal(cut) != "");
        CHECK_THROWS_AS(
            reflect(cut, {}),
            Error);  // the end of the function is missing, which the validator reports at the latest
    }
}

TEST_CASE("a module with any word replaced is refused or reflected, never a crash") {
    const Words words = saxpy();
    std::size_t refused = 0, reflected = 0;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::uint32_t old = words[at];
        for (const std::uint32_t value :
             {0u, 1u, ~0u, old + 1, old - 1, old ^ 0x10000u, old ^ 0x80u, 0x7fffffffu}) {
            Words changed = words;
            changed[at] = value;
            try {
                reflect(changed, {.constants = {{3, 17u}}});
                ++reflected;
            } catch (const Error&) {
                ++refused;
            }
        }
    }
    CHECK(refused > 1000);
    CHECK(reflected > 100);  // changed names, literals and decorations may be valid
}

namespace {

DeviceSnapshot roomy() {
    DeviceSnapshot device;
    device.name = "Toy";
    device.limits.max_storage_buffers = 8;
    device.limits.max_push_constant_bytes = 128;
    device.limits.max_shared_memory_bytes = 32768;
    device.limits.max_workgroup_invocations = 1024;
    for (std::size_t axis = 0; axis < 3; ++axis)
        device.limits.max_workgroup_size[axis] = axis == 2 ? 64 : 1024;
    return device;
}

Reflection plain() {
    Reflection reflection;
    reflection.bindings = {{0, Access::read, "a"}, {7, Access::write, "b"}};
    reflection.push_constant_bytes = 128;
    reflection.local_size = {1024, 1, 1};
    reflection.capabilities = {"Shader"};
    reflection.shared_memory_bytes = 32768;
    return reflection;
}

std::string device_refusal(const Reflection& reflection, const DeviceSnapshot& device, Errc expected) {
    try {
        check_device(reflection, device, "probe");
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == expected);
        return error.what();
    }
}

}  // namespace

TEST_CASE("a program exactly at every limit fits") {
    CHECK_NOTHROW(check_device(plain(), roomy(), "probe"));
}

TEST_CASE("each limit is refused with its value and the value requested") {
    const struct {
        void (*change)(Reflection&);
        const char *part, *limit;
    } cases[] = {
        {[](Reflection& r) { r.bindings[1].binding = 8; }, "binding number",
         "(got binding 8 \"b\", need less than 8)"},
        {[](Reflection& r) { r.push_constant_bytes = 192; }, "push-constant bytes",
         "(got 192, need at most 128)"},
        {[](Reflection& r) { r.shared_memory_bytes = 32772; }, "shared memory",
         "(got 32772, need at most 32768)"},
        {[](Reflection& r) {
             r.local_size = {1025, 1, 1};
         },
         "along x", "(got 1025, need at most 1024)"},
        {[](Reflection& r) {
             r.local_size = {1, 2000, 1};
         },
         "along y", "(got 2000, need at most 1024)"},
        {[](Reflection& r) {
             r.local_size = {1, 1, 65};
         },
         "along z", "(got 65, need at most 64)"},
        {[](Reflection& r) {
             r.local_size = {32, 33, 1};
         },
         "invocations", "(got 1056, need at most 1024)"},
        {[](Reflection& r) {
             r.local_size = {1024, 1024, 64};
         },
         "invocations", "need at most 1024)"},
    };
    for (const auto& c : cases) {
        Reflection reflection = plain();
        c.change(reflection);
        const std::string text = device_refusal(reflection, roomy(), Errc::invalid_shader);
        CAPTURE(text);
        CHECK(contains(text, c.part));
        CHECK(contains(text, c.limit));
    }
    Reflection huge = plain();
    huge.local_size = {0xffffffff, 0xffffffff, 0xffffffff};
    DeviceSnapshot lax = roomy();
    for (std::uint32_t& axis : lax.limits.max_workgroup_size) axis = 0xffffffff;
    lax.limits.max_workgroup_invocations = 0xffffffff;
    CHECK(contains(device_refusal(huge, lax, Errc::invalid_shader), "invocations"));
}

TEST_CASE("a capability needs its own feature and nothing else") {
    using Change = void (*)(DeviceSnapshot&);
    const struct {
        const char *capability, *feature;
        Change enable;
    } cases[] = {
        {"Int64", "shaderInt64", [](DeviceSnapshot& d) { d.shader_int64 = true; }},
        {"Float64", "shaderFloat64", [](DeviceSnapshot& d) { d.shader_float64 = true; }},
        {"Int16", "shaderInt16", [](DeviceSnapshot& d) { d.shader_int16 = true; }},
        {"Int8", "shaderInt8", [](DeviceSnapshot& d) { d.shader_int8 = true; }},
        {"Float16", "shaderFloat16", [](DeviceSnapshot& d) { d.shader_float16 = true; }},
        {"StorageBuffer16BitAccess", "storageBuffer16BitAccess",
         [](DeviceSnapshot& d) { d.storage_16bit = true; }},
        {"StorageBuffer8BitAccess", "storageBuffer8BitAccess",
         [](DeviceSnapshot& d) { d.storage_8bit = true; }},
        {"PhysicalStorageBufferAddresses", "bufferDeviceAddress",
         [](DeviceSnapshot& d) { d.buffer_device_address = true; }},
        {"VariablePointersStorageBuffer", "variablePointers",
         [](DeviceSnapshot& d) { d.variable_pointers = true; }},
        {"VariablePointers", "variablePointers", [](DeviceSnapshot& d) { d.variable_pointers = true; }},
        {"VulkanMemoryModel", "vulkanMemoryModel", [](DeviceSnapshot& d) { d.vulkan_memory_model = true; }},
        {"CooperativeMatrixKHR", "VK_KHR_cooperative_matrix",
         [](DeviceSnapshot& d) { d.cooperative_matrix_khr = true; }},
        {"CooperativeMatrixNV", "VK_NV_cooperative_matrix",
         [](DeviceSnapshot& d) { d.cooperative_matrix_nv = true; }},
        {"GroupNonUniform", "basic", [](DeviceSnapshot& d) { d.subgroup_operations = 0x01; }},
        {"GroupNonUniformVote", "vote", [](DeviceSnapshot& d) { d.subgroup_operations = 0x02; }},
        {"GroupNonUniformArithmetic", "arithmetic", [](DeviceSnapshot& d) { d.subgroup_operations = 0x04; }},
        {"GroupNonUniformBallot", "ballot", [](DeviceSnapshot& d) { d.subgroup_operations = 0x08; }},
        {"GroupNonUniformShuffle", "shuffle", [](DeviceSnapshot& d) { d.subgroup_operations = 0x10; }},
        {"GroupNonUniformShuffleRelative", "relative",
         [](DeviceSnapshot& d) { d.subgroup_operations = 0x20; }},
        {"GroupNonUniformClustered", "clustered", [](DeviceSnapshot& d) { d.subgroup_operations = 0x40; }},
        {"GroupNonUniformQuad", "quad", [](DeviceSnapshot& d) { d.subgroup_operations = 0x80; }},
    };
    for (const auto& c : cases) {
        Reflection reflection = plain();
        reflection.capabilities.push_back(c.capability);
        const std::string text = device_refusal(reflection, roomy(), Errc::unsupported);
        CAPTURE(text);
        CHECK(contains(text, std::string("capability ") + c.capability + ","));
        CHECK(contains(text, c.feature));
        CHECK(contains(text, "Toy"));
        DeviceSnapshot able = roomy();
        c.enable(able);
        CHECK(device_refusal(reflection, able, Errc::unsupported) == "");
    }
}

TEST_CASE("a capability weft has no feature for is unsupported on every device") {
    DeviceSnapshot able = roomy();
    able.subgroup_operations = ~0u;
    for (const char* capability : {"AtomicFloat32AddEXT", "RayQueryKHR", "capability 1234"}) {
        Reflection reflection = plain();
        reflection.capabilities.push_back(capability);
        CHECK(contains(device_refusal(reflection, able, Errc::unsupported), capability));
    }
}
