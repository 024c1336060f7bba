// SPDX-License-Identifier: Apache-2.0
// Completes plan/spirv/reflection.hpp: whether a module is complete, and whether a device takes it and its
// options.
#include <spirv_cross/spirv.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <iterator>

#include <weft/error.hpp>

#include "base/refusal.hpp"
#include "plan/spirv/reflection.hpp"
#include "plan/spirv/spirv_matrix.hpp"
#include "plan/spirv/spirv_module.hpp"

namespace weft::core {

namespace {

constexpr std::size_t kHeaderWords = 5;
constexpr std::uint32_t kNewestVersion = 0x00010500;  // what Vulkan 1.2 takes
constexpr std::uint32_t kLargestBound = 0x3fffff;     // universal limit of the SPIR-V specification

/// What a capability needs of a device: a feature, subgroup operations, or neither.
struct CapabilityRule {
    std::uint32_t capability;
    const char* name;
    bool DeviceSnapshot::*feature;
    std::uint32_t subgroup_bits;  // VkSubgroupFeatureFlagBits
    const char* feature_name;     // as in the Vulkan specification
};

constexpr CapabilityRule kRules[] = {
    {SpvCapabilityMatrix, "Matrix", nullptr, 0, ""},
    {SpvCapabilityShader, "Shader", nullptr, 0, ""},
    {SpvCapabilityDeviceGroup, "DeviceGroup", nullptr, 0, ""},
    {SpvCapabilityFloat16, "Float16", &DeviceSnapshot::shader_float16, 0, "shaderFloat16"},
    {SpvCapabilityFloat64, "Float64", &DeviceSnapshot::shader_float64, 0, "shaderFloat64"},
    {SpvCapabilityInt64, "Int64", &DeviceSnapshot::shader_int64, 0, "shaderInt64"},
    {SpvCapabilityInt16, "Int16", &DeviceSnapshot::shader_int16, 0, "shaderInt16"},
    {SpvCapabilityInt8, "Int8", &DeviceSnapshot::shader_int8, 0, "shaderInt8"},
    {SpvCapabilityStorageBuffer16BitAccess, "StorageBuffer16BitAccess", &DeviceSnapshot::storage_16bit, 0,
     "storageBuffer16BitAccess"},
    {SpvCapabilityStorageBuffer8BitAccess, "StorageBuffer8BitAccess", &DeviceSnapshot::storage_8bit, 0,
     "storageBuffer8BitAccess"},
    {SpvCapabilityPhysicalStorageBufferAddresses, "PhysicalStorageBufferAddresses",
     &DeviceSnapshot::buffer_device_address, 0, "bufferDeviceAddress"},
    {SpvCapabilityVariablePointersStorageBuffer, "VariablePointersStorageBuffer",
     &DeviceSnapshot::variable_pointers, 0, "variablePointers"},
    {SpvCapabilityVariablePointers, "VariablePointers", &DeviceSnapshot::variable_pointers, 0,
     "variablePointers"},
    {SpvCapabilityVulkanMemoryModel, "VulkanMemoryModel", &DeviceSnapshot::vulkan_memory_model, 0,
     "vulkanMemoryModel"},
    {kCapabilityCooperativeMatrixKhr, "CooperativeMatrixKHR", &DeviceSnapshot::cooperative_matrix_khr, 0,
     "cooperativeMatrix of VK_KHR_cooperative_matrix"},
    {SpvCapabilityCooperativeMatrixNV, "CooperativeMatrixNV", &DeviceSnapshot::cooperative_matrix_nv, 0,
     "cooperativeMatrix of VK_NV_cooperative_matrix"},
    {SpvCapabilityGroupNonUniform, "GroupNonUniform", nullptr, 0x01, "basic subgroup operations"},
    {SpvCapabilityGroupNonUniformVote, "GroupNonUniformVote", nullptr, 0x02, "subgroup vote"},
    {SpvCapabilityGroupNonUniformArithmetic, "GroupNonUniformArithmetic", nullptr, 0x04,
     "subgroup arithmetic"},
    {SpvCapabilityGroupNonUniformBallot, "GroupNonUniformBallot", nullptr, 0x08, "subgroup ballot"},
    {SpvCapabilityGroupNonUniformShuffle, "GroupNonUniformShuffle", nullptr, 0x10, "subgroup shuffle"},
    {SpvCapabilityGroupNonUniformShuffleRelative, "GroupNonUniformShuffleRelative", nullptr, 0x20,
     "relative subgroup shuffle"},
    {SpvCapabilityGroupNonUniformClustered, "GroupNonUniformClustered", nullptr, 0x40,
     "clustered subgroup operations"},
    {SpvCapabilityGroupNonUniformQuad, "GroupNonUniformQuad", nullptr, 0x80, "subgroup quad operations"},
};

/// Capabilities that real shaders use and weft enables on no device. They are named in error texts.
struct CapabilityName {
    std::uint32_t capability;
    const char* name;
};

constexpr CapabilityName kNamesOnly[] = {
    {SpvCapabilityGeometry, "Geometry"},
    {SpvCapabilityTessellation, "Tessellation"},
    {SpvCapabilityLinkage, "Linkage"},
    {SpvCapabilityKernel, "Kernel"},
    {SpvCapabilityInt64Atomics, "Int64Atomics"},
    {SpvCapabilityStorageBufferArrayDynamicIndexing, "StorageBufferArrayDynamicIndexing"},
    {SpvCapabilityUniformBufferArrayDynamicIndexing, "UniformBufferArrayDynamicIndexing"},
    {SpvCapabilitySampledBuffer, "SampledBuffer"},
    {SpvCapabilityImageBuffer, "ImageBuffer"},
    {SpvCapabilityImageQuery, "ImageQuery"},
    {SpvCapabilityStorageImageExtendedFormats, "StorageImageExtendedFormats"},
    {SpvCapabilityStorageImageReadWithoutFormat, "StorageImageReadWithoutFormat"},
    {SpvCapabilityStorageImageWriteWithoutFormat, "StorageImageWriteWithoutFormat"},
    {SpvCapabilitySubgroupBallotKHR, "SubgroupBallotKHR"},
    {SpvCapabilitySubgroupVoteKHR, "SubgroupVoteKHR"},
    {SpvCapabilityWorkgroupMemoryExplicitLayoutKHR, "WorkgroupMemoryExplicitLayoutKHR"},
    {SpvCapabilityUniformAndStorageBuffer16BitAccess, "UniformAndStorageBuffer16BitAccess"},
    {SpvCapabilityStoragePushConstant16, "StoragePushConstant16"},
    {SpvCapabilityUniformAndStorageBuffer8BitAccess, "UniformAndStorageBuffer8BitAccess"},
    {SpvCapabilityStoragePushConstant8, "StoragePushConstant8"},
    {SpvCapabilityDenormPreserve, "DenormPreserve"},
    {SpvCapabilityDenormFlushToZero, "DenormFlushToZero"},
    {SpvCapabilitySignedZeroInfNanPreserve, "SignedZeroInfNanPreserve"},
    {SpvCapabilityRoundingModeRTE, "RoundingModeRTE"},
    {SpvCapabilityRoundingModeRTZ, "RoundingModeRTZ"},
    {SpvCapabilityRayQueryKHR, "RayQueryKHR"},
    {SpvCapabilityShaderClockKHR, "ShaderClockKHR"},
    {SpvCapabilityGroupNonUniformPartitionedNV, "GroupNonUniformPartitionedNV"},
    {SpvCapabilityShaderNonUniform, "ShaderNonUniform"},
    {SpvCapabilityRuntimeDescriptorArray, "RuntimeDescriptorArray"},
    {SpvCapabilityVulkanMemoryModelDeviceScope, "VulkanMemoryModelDeviceScope"},
    {SpvCapabilityAtomicFloat32MinMaxEXT, "AtomicFloat32MinMaxEXT"},
    {SpvCapabilityAtomicFloat64MinMaxEXT, "AtomicFloat64MinMaxEXT"},
    {SpvCapabilityAtomicFloat32AddEXT, "AtomicFloat32AddEXT"},
    {SpvCapabilityAtomicFloat64AddEXT, "AtomicFloat64AddEXT"},
    {SpvCapabilityDotProduct, "DotProduct"},
    {SpvCapabilityDotProductInput4x8Bit, "DotProductInput4x8Bit"},
    {SpvCapabilityDotProductInput4x8BitPacked, "DotProductInput4x8BitPacked"},
};

std::string hex(std::uint32_t value) {
    char text[11];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(value));
    return text;
}

bool looks_like_text(std::span<const std::uint32_t> words) {
    for (const std::uint32_t word : words.first(std::min<std::size_t>(words.size(), 2))) {
        for (std::uint32_t shift = 0; shift < 32; shift += 8) {
            const std::uint32_t letter = (word >> shift) & 0xffu;
            const bool space = letter == '\n' || letter == '\r' || letter == '\t';
            if (!space && (letter < 0x20 || letter > 0x7e)) return false;
        }
    }
    return true;
}

void check_header(std::span<const std::uint32_t> words, const std::string& name) {
    if (words.empty() || words.data() == nullptr) refuse_shader(name, "no SPIR-V (got 0 words)");
    if (words[0] != SpvMagicNumber) {
        const std::string got = "(got " + hex(words[0]) + ", need " + hex(SpvMagicNumber) + ")";
        if (words[0] == 0x03022307) refuse_shader(name, "SPIR-V is byte-swapped; pass words " + got);
        if (looks_like_text(words))
            refuse_shader(name,
                          "this looks like text; pass SPIR-V words, as compile_glsl() makes them " + got);
        refuse_shader(name, "not SPIR-V: wrong magic number " + got);
    }
    if (words.size() < kHeaderWords)
        refuse_shader(name, "SPIR-V is truncated inside its header (got " + std::to_string(words.size()) +
                                " words, need more than " + std::to_string(kHeaderWords) + ")");
    const std::uint32_t version = words[1];
    if ((version & 0xff0000ffu) != 0 || version < 0x00010000 || version > kNewestVersion) {
        const bool newer = (version & 0xff0000ffu) == 0 && version > kNewestVersion;
        refuse_shader(name, "SPIR-V version (got " + std::to_string((version >> 16) & 0xff) + "." +
                                std::to_string((version >> 8) & 0xff) + " in word " + hex(version) +
                                ", need 1.0 to 1.5" +
                                (newer ? "; compile with --target-env=vulkan1.2)" : ")"));
    }
    if (words[3] == 0 || words[3] > kLargestBound)
        refuse_shader(name, "SPIR-V id bound (got " + std::to_string(words[3]) + ", need 1 to " +
                                std::to_string(kLargestBound) + ")");
    if (words[4] != 0) refuse_shader(name, "SPIR-V schema (got " + std::to_string(words[4]) + ", need 0)");
}

std::string model_name(std::uint32_t model) {
    constexpr std::array<const char*, 7> kModels = {
        "Vertex", "TessellationControl", "TessellationEvaluation", "Geometry", "Fragment", "GLCompute",
        "Kernel"};
    return model < kModels.size() ? kModels[model] : "execution model " + std::to_string(model);
}

struct EntryPoint {
    std::uint32_t model;
    std::string name;
};

std::vector<EntryPoint> read_entry_points(std::span<const std::uint32_t> words, const std::string& name) {
    std::vector<EntryPoint> entries;
    for (std::size_t at = kHeaderWords; at < words.size();) {
        const std::size_t length = words[at] >> 16;
        if (length == 0)
            refuse_shader(name, "SPIR-V is damaged: instruction of 0 words at word " + std::to_string(at));
        if (length > words.size() - at)
            refuse_shader(name, "SPIR-V is truncated: the instruction at word " + std::to_string(at) +
                                    " runs past the end (got " + std::to_string(words.size() - at) +
                                    " words, need " + std::to_string(length) + ")");
        if ((words[at] & 0xffffu) == SpvOpEntryPoint) {
            const auto text =
                literal_string(words.subspan(at, length).subspan(std::min<std::size_t>(3, length)));
            if (!text) refuse_shader(name, "SPIR-V is damaged: entry point name without an end");
            entries.push_back({words[at + 1], *text});
        }
        at += length;
    }
    return entries;
}

[[noreturn]] void refuse(Errc code, const std::string& name, const std::string& what) {
    throw Error(code, "Program '" + name + "': " + what);
}

[[noreturn]] void refuse_capability(const std::string& capability, const DeviceSnapshot& device,
                                    const std::string& name, const std::string& why) {
    refuse(Errc::unsupported, name,
           "needs the SPIR-V capability " + capability + ", " + why + " (device " + device.name + ")");
}

void check_capability(const std::string& capability, const DeviceSnapshot& device, const std::string& name) {
    const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const CapabilityRule& r) { return r.name == capability; });
    if (rule == std::end(kRules))
        refuse_capability(capability, device, name, "which weft enables on no device");
    const bool lacks_feature = rule->feature != nullptr && !(device.*rule->feature);
    const bool lacks_subgroup = (device.subgroup_operations & rule->subgroup_bits) != rule->subgroup_bits;
    if (lacks_feature || lacks_subgroup)
        refuse_capability(capability, device, name,
                          std::string("whose feature the device lacks: ") + rule->feature_name);
}

void check_limit(const std::string& name, const std::string& what, std::uint64_t got, std::uint64_t most) {
    if (got > most)
        refuse_shader(name, what + " beyond the limit of the device (got " + std::to_string(got) +
                                ", need at most " + std::to_string(most) + ")");
}

void check_size(std::uint32_t size, std::uint64_t invocations, const DeviceSnapshot& device,
                const std::string& name) {
    const DeviceLimits& limits = device.limits;
    const std::string range = std::to_string(limits.min_subgroup_size) + " to " +
                              std::to_string(limits.max_subgroup_size) + " on device " + device.name;
    if (!std::has_single_bit(size) || size < limits.min_subgroup_size || size > limits.max_subgroup_size)
        refuse(Errc::invalid_argument, name,
               "ProgramOptions::subgroup_size" + got_need(size, "a power of two from " + range));
    const std::uint64_t most = std::uint64_t{size} * device.max_workgroup_subgroups;
    if (invocations > most)
        refuse(Errc::invalid_argument, name,
               "invocations of a workgroup beyond what subgroups of " + std::to_string(size) + " hold" +
                   got_need(invocations, "at most " + std::to_string(most)));
}

}  // namespace

std::string capability_name(std::uint32_t capability) {
    for (const CapabilityRule& rule : kRules)
        if (rule.capability == capability) return rule.name;
    for (const CapabilityName& known : kNamesOnly)
        if (known.capability == capability) return known.name;
    return "capability " + std::to_string(capability);
}

void check_spirv_words(std::span<const std::uint32_t> words, const std::string& entry,
                       const std::string& name) {
    check_header(words, name);
    const std::vector<EntryPoint> entries = read_entry_points(words, name);
    std::string others, other_models;
    for (const EntryPoint& found : entries) {
        if (found.name == entry && found.model == SpvExecutionModelGLCompute) return;
        if (found.name == entry) other_models = model_name(found.model);
        others += (others.empty() ? "'" : ", '") + found.name + "'";
    }
    if (!other_models.empty())
        refuse_shader(name, "entry point '" + entry + "' is not a compute shader (got " + other_models +
                                ", need GLCompute)");
    refuse_shader(
        name, "no entry point '" + entry + "' (the module has " + (others.empty() ? "none" : others) + ")");
}

void check_device(const Reflection& reflection, const DeviceSnapshot& device, const std::string& name) {
    for (const std::string& capability : reflection.capabilities) check_capability(capability, device, name);
    const DeviceLimits& limits = device.limits;
    for (const Binding& binding : reflection.bindings)
        if (binding.binding >= limits.max_storage_buffers)
            refuse_shader(name, "binding number beyond the limit of the device (got " +
                                    binding_text(binding) + ", need less than " +
                                    std::to_string(limits.max_storage_buffers) + ")");
    check_limit(name, "push-constant bytes", reflection.push_constant_bytes, limits.max_push_constant_bytes);
    check_limit(name, "bytes of shared memory", reflection.shared_memory_bytes,
                limits.max_shared_memory_bytes);
    std::uint64_t invocations = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        check_limit(name, std::string("workgroup size along ") + "xyz"[axis], reflection.local_size[axis],
                    limits.max_workgroup_size[axis]);
        // At most 2^32 - 1 so far times one axis: 64 bits hold it.
        invocations *= reflection.local_size[axis];
        check_limit(name, "invocations of a workgroup", invocations, limits.max_workgroup_invocations);
    }
}

/// The rules are those of VkPipelineShaderStageCreateInfo and
/// VkPipelineShaderStageRequiredSubgroupSizeCreateInfo.
void check_subgroups(const ProgramOptions& options, const Reflection& reflection,
                     const DeviceSnapshot& device, const DevicePlan& plan, const std::string& name) {
    const std::uint32_t size = options.subgroup_size;
    const auto& local = reflection.local_size;
    if (size != 0) {
        if (!plan.subgroup_size_control)
            refuse(
                Errc::unsupported, name,
                "ProgramOptions::subgroup_size" +
                    got_need(size, "0: device " + device.name + " lacks subgroupSizeControl, its size is " +
                                       std::to_string(device.limits.subgroup_size)));
        check_size(size, std::uint64_t{local[0]} * local[1] * local[2], device, name);
    }
    if (!options.require_full_subgroups) return;
    if (!plan.full_subgroups)
        refuse(
            Errc::unsupported, name,
            "ProgramOptions::require_full_subgroups: device " + device.name + " lacks computeFullSubgroups");
    const std::uint32_t multiple = size != 0 ? size : device.limits.subgroup_size;
    if (multiple == 0 || local[0] % multiple != 0)
        refuse(Errc::invalid_argument, name,
               "ProgramOptions::require_full_subgroups with a workgroup that leaves one in part along x" +
                   got_need(local[0], "a multiple of " + std::to_string(multiple)));
}

}  // namespace weft::core
