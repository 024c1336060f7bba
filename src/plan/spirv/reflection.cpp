// SPDX-License-Identifier: Apache-2.0
#include "plan/spirv/reflection.hpp"

#include <spirv-tools/libspirv.h>
#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <weft/error.hpp>

#include "base/enums.hpp"
#include "plan/spirv/spec_constants.hpp"
#include "plan/spirv/spirv_fold.hpp"
#include "plan/spirv/spirv_matrix.hpp"
#include "plan/spirv/spirv_module.hpp"

namespace weft {

const char* to_string(Access access) noexcept {
    return core::enum_name<Access::read_write>(access, {"read", "write", "read_write"});
}

}  // namespace weft

namespace weft::core {

namespace {

/// What the validator says is put into the words of weft's user, who does not choose the environment.
std::string with_environment(std::string why) {
    constexpr std::string_view kPhrase = "the current environment";
    if (const auto at = why.find(kPhrase); at != std::string::npos)
        why.replace(at, kPhrase.size(), "Vulkan 1.2 (compile with --target-env=vulkan1.2)");
    return why;
}

/// SPIRV-Cross and drivers trust their input, so neither may get what the validator refuses. `when` follows
/// "invalid SPIR-V" in the text.
void validate(std::span<const std::uint32_t> words, const std::string& name, const std::string& when) {
    const std::unique_ptr<spv_context_t, void (*)(spv_context)> context(spvContextCreate(SPV_ENV_VULKAN_1_2),
                                                                        spvContextDestroy);
    const std::unique_ptr<spv_validator_options_t, void (*)(spv_validator_options)> options(
        spvValidatorOptionsCreate(), spvValidatorOptionsDestroy);
    if (!context || !options) throw std::bad_alloc();
    // Whether tight layouts are allowed depends on the device, not on the module.
    spvValidatorOptionsSetScalarBlockLayout(options.get(), true);
    spv_const_binary_t binary{words.data(), words.size()};
    spv_diagnostic diagnostic = nullptr;
    const spv_result_t result = spvValidateWithOptions(context.get(), options.get(), &binary, &diagnostic);
    const std::unique_ptr<spv_diagnostic_t, void (*)(spv_diagnostic)> owner(diagnostic, spvDiagnosticDestroy);
    if (result == SPV_SUCCESS) return;
    std::string why = diagnostic == nullptr || diagnostic->error == nullptr ? "" : diagnostic->error;
    why = why.substr(0, why.find('\n'));
    refuse_shader(name, "invalid SPIR-V" + when + ": " +
                            (why.empty() ? "error " + std::to_string(result) : with_environment(why)));
}

/// Constants change the sizes of arrays, and the validator takes an array whose size is a specialization
/// constant for empty. So such a module is validated once more as the driver will see it; for others that
/// would only take as long again, tens of milliseconds for the largest.
void validate_specialized(std::span<const std::uint32_t> words, std::span<const SpecConstant> chosen,
                          const std::string& name) {
    std::string values;
    for (const SpecConstant& constant : chosen)
        values += (values.empty() ? "" : ", ") + std::to_string(constant.id) + " = " +
                  std::to_string(constant.bits);
    validate(words, name, chosen.empty() ? " with the constants' defaults" : " with the constants " + values);
}

/// A SPIRV-Cross context with one module.
class CrossCompiler {
  public:
    CrossCompiler(std::span<const std::uint32_t> words, const std::string& entry, const std::string& name)
        : name_(name) {
        if (spvc_context_create(&context_) != SPVC_SUCCESS) throw std::bad_alloc();
        owner_.reset(context_);
        spvc_parsed_ir parsed = nullptr;
        require(spvc_context_parse_spirv(context_, words.data(), words.size(), &parsed));
        require(spvc_context_create_compiler(context_, SPVC_BACKEND_NONE, parsed,
                                             SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler_));
        require(spvc_compiler_set_entry_point(compiler_, entry.c_str(), SpvExecutionModelGLCompute));
        spvc_set active = nullptr;
        require(spvc_compiler_get_active_interface_variables(compiler_, &active));
        require(spvc_compiler_create_shader_resources_for_active_variables(compiler_, &resources_, active));
    }

    std::span<const spvc_reflected_resource> resources(spvc_resource_type type) const {
        const spvc_reflected_resource* first = nullptr;
        std::size_t count = 0;
        require(spvc_resources_get_resource_list_for_type(resources_, type, &first, &count));
        return {first, count};
    }

    /// The name of the variable, else of its block; empty if the module has neither.
    std::string name_of(const spvc_reflected_resource& resource) const {
        const std::string variable = spvc_compiler_get_name(compiler_, resource.id);
        return variable.empty() ? spvc_compiler_get_name(compiler_, resource.base_type_id) : variable;
    }

    std::uint32_t decoration(const spvc_reflected_resource& resource, SpvDecoration which) const {
        return spvc_compiler_get_decoration(compiler_, resource.id, which);
    }

    bool is_array(const spvc_reflected_resource& resource) const {
        const spvc_type type = spvc_compiler_get_type_handle(compiler_, resource.type_id);
        return type == nullptr || spvc_type_get_num_array_dimensions(type) != 0;
    }

    Access access(const spvc_reflected_resource& resource) const {
        const SpvDecoration* first = nullptr;
        std::size_t count = 0;
        require(spvc_compiler_get_buffer_block_decorations(compiler_, resource.id, &first, &count));
        const std::span<const SpvDecoration> found(first, count);
        const auto has = [&](SpvDecoration which) {
            return std::find(found.begin(), found.end(), which) != found.end();
        };
        // A buffer of which only the length is used counts as read, so that nothing is copied back.
        if (has(SpvDecorationNonWritable)) return Access::read;
        return has(SpvDecorationNonReadable) ? Access::write : Access::read_write;
    }

    /// Without an array of unknown length at the end.
    std::uint64_t fixed_bytes(const spvc_reflected_resource& resource) const {
        const spvc_type block = block_type(resource);
        std::uint64_t end = 0;
        for (unsigned i = 0; i < spvc_type_get_num_member_types(block); ++i) {
            unsigned offset = 0;
            require(spvc_compiler_type_struct_member_offset(compiler_, block, i, &offset));
            end = std::max(end, offset + member_bytes(block, i));
        }
        return end;
    }

    /// From one element to the next of the array of unknown length that ends the block; nothing without one.
    std::optional<std::uint64_t> element_bytes(const spvc_reflected_resource& resource) const {
        const spvc_type block = block_type(resource);
        const unsigned members = spvc_type_get_num_member_types(block);
        if (members == 0) return std::nullopt;
        return outer_length(block, members - 1) == 0u
                   ? std::optional<std::uint64_t>(array_stride(block, members - 1))
                   : std::nullopt;
    }

    std::uint32_t push_constant_bytes(const spvc_reflected_resource& resource) const {
        const std::uint64_t bytes = fixed_bytes(resource);
        if (bytes > std::numeric_limits<std::uint32_t>::max())
            refuse_shader(name_, "push-constant block of " + std::to_string(bytes) + " bytes");
        return static_cast<std::uint32_t>(bytes);
    }

    /// Of vectors and arrays the first number.
    FirstParameter first_parameter(const spvc_reflected_resource& resource) const {
        constexpr unsigned kAfterCountAndFirst = 8;
        const spvc_type block = block_type(resource);
        for (unsigned i = 0; i < spvc_type_get_num_member_types(block); ++i) {
            unsigned offset = 0;
            require(spvc_compiler_type_struct_member_offset(compiler_, block, i, &offset));
            if (offset != kAfterCountAndFirst) continue;
            const spvc_type type =
                spvc_compiler_get_type_handle(compiler_, spvc_type_get_member_type(block, i));
            const spvc_basetype base = spvc_type_get_basetype(type);
            if (base == SPVC_BASETYPE_STRUCT) return {};
            return {spvc_compiler_get_member_name(compiler_, resource.base_type_id, i), true,
                    base == SPVC_BASETYPE_FP16 || base == SPVC_BASETYPE_FP32 || base == SPVC_BASETYPE_FP64,
                    spvc_type_get_bit_width(type) / 8};
        }
        return {};
    }

  private:
    spvc_type block_type(const spvc_reflected_resource& resource) const {
        return spvc_compiler_get_type_handle(compiler_, resource.base_type_id);
    }

    /// Length along the outermost dimension, which is the last one; 0: unknown until a range is bound.
    /// Nothing if the member is no array, or rests on an expression that is no number yet.
    std::optional<std::uint32_t> outer_length(spvc_type block, unsigned member) const {
        const spvc_type type =
            spvc_compiler_get_type_handle(compiler_, spvc_type_get_member_type(block, member));
        const unsigned dimensions = spvc_type_get_num_array_dimensions(type);
        if (dimensions == 0 || !spvc_type_array_dimension_is_literal(type, dimensions - 1))
            return std::nullopt;
        return spvc_type_get_array_dimension(type, dimensions - 1);
    }

    std::uint32_t array_stride(spvc_type block, unsigned member) const {
        unsigned stride = 0;
        require(spvc_compiler_type_struct_member_array_stride(compiler_, block, member, &stride));
        return stride;
    }

    /// SPIRV-Cross multiplies in 32 bits, so arrays are measured here.
    std::uint64_t member_bytes(spvc_type block, unsigned member) const {
        if (const auto length = outer_length(block, member))
            return std::uint64_t{*length} * array_stride(block, member);
        std::size_t bytes = 0;
        require(spvc_compiler_get_declared_struct_member_size(compiler_, block, member, &bytes));
        return bytes;
    }

    void require(spvc_result result) const {
        if (result == SPVC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
        if (result == SPVC_SUCCESS) return;
        const std::string_view reason = spvc_context_get_last_error_string(context_);
        // SPIRV-Cross reports every exception as an error of the shader, with its text.
        if (reason == std::bad_alloc().what()) throw std::bad_alloc();
        refuse_shader(name_, "SPIR-V that cannot be reflected: " + std::string(reason));
    }

    struct Destroy {
        void operator()(spvc_context context) const { spvc_context_destroy(context); }
    };
    std::string name_;
    spvc_context context_ = nullptr;
    std::unique_ptr<std::remove_pointer_t<spvc_context>, Destroy> owner_;
    spvc_compiler compiler_ = nullptr;
    spvc_resources resources_ = nullptr;
};

std::string describe(const CrossCompiler& compiler, const spvc_reflected_resource& resource) {
    const std::string name = compiler.name_of(resource);
    return (name.empty() ? "" : "'" + name + "' ") + "at set " +
           std::to_string(compiler.decoration(resource, SpvDecorationDescriptorSet)) + " binding " +
           std::to_string(compiler.decoration(resource, SpvDecorationBinding));
}

void refuse_other_resources(const CrossCompiler& compiler, const std::string& name) {
    struct Kind {
        spvc_resource_type type;
        const char* name;
    };
    constexpr Kind kRefused[] = {
        {SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, "uniform buffer"},
        {SPVC_RESOURCE_TYPE_SUBPASS_INPUT, "input attachment"},
        {SPVC_RESOURCE_TYPE_STORAGE_IMAGE, "storage image"},
        {SPVC_RESOURCE_TYPE_SAMPLED_IMAGE, "combined image sampler"},
        {SPVC_RESOURCE_TYPE_ATOMIC_COUNTER, "atomic counter"},
        {SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, "sampled image"},
        {SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS, "sampler"},
        {SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE, "acceleration structure"},
        {SPVC_RESOURCE_TYPE_SHADER_RECORD_BUFFER, "shader record buffer"},
    };
    for (const Kind& kind : kRefused)
        for (const spvc_reflected_resource& resource : compiler.resources(kind.type))
            refuse_shader(name, std::string("a resource weft does not bind (got ") + kind.name + " " +
                                    describe(compiler, resource) + ", need storage buffers in set 0)");
}

Access both(Access a, Access b) {
    return a == b ? a : Access::read_write;
}

/// Binding::least_bytes of a binding that several blocks may share.
class LeastBytes {
  public:
    void add(std::uint64_t fixed, std::optional<std::uint64_t> element) {
        fixed_ = std::max(fixed_, fixed);
        if (element) with_element_ = std::min(with_element_.value_or(~std::uint64_t{0}), fixed + *element);
    }
    std::uint64_t bytes() const { return std::max(fixed_, with_element_.value_or(0)); }

  private:
    std::uint64_t fixed_ = 0;
    std::optional<std::uint64_t> with_element_;
};

std::vector<Binding> read_bindings(const CrossCompiler& compiler, const std::string& name) {
    std::map<std::uint32_t, Binding> found;
    std::map<std::uint32_t, LeastBytes> sizes;
    for (const spvc_reflected_resource& resource : compiler.resources(SPVC_RESOURCE_TYPE_STORAGE_BUFFER)) {
        if (compiler.is_array(resource))
            refuse_shader(name, "an array of storage buffers (got " + describe(compiler, resource) +
                                    ", need single buffers)");
        if (compiler.decoration(resource, SpvDecorationDescriptorSet) != 0)
            refuse_shader(name, "a storage buffer outside set 0 (got " + describe(compiler, resource) +
                                    ", need set 0)");
        const Binding binding{compiler.decoration(resource, SpvDecorationBinding), compiler.access(resource),
                              compiler.name_of(resource)};
        sizes[binding.binding].add(compiler.fixed_bytes(resource), compiler.element_bytes(resource));
        const auto [known, added] = found.emplace(binding.binding, binding);
        // Two blocks over one binding are two views of the same buffer.
        if (!added) known->second.access = both(known->second.access, binding.access);
    }
    std::vector<Binding> bindings;
    for (auto& [number, binding] : found) {
        binding.least_bytes = sizes[number].bytes();
        bindings.push_back(std::move(binding));
    }
    return bindings;
}

void declare_written_first(std::vector<Binding>& bindings, const ProgramOptions& options,
                           const std::string& name) {
    for (const std::uint32_t number : options.written_first) {
        const auto found = std::find_if(bindings.begin(), bindings.end(),
                                        [&](const Binding& b) { return b.binding == number; });
        if (found == bindings.end() || found->access == Access::read)
            throw Error(Errc::invalid_argument, "Program: ProgramOptions::written_first of \"" + name +
                                                    "\" names no binding the shader writes (got " +
                                                    std::to_string(number) + ")");
        found->access = Access::write;
    }
}

}  // namespace

std::string binding_text(const Binding& binding) {
    const std::string number = "binding " + std::to_string(binding.binding);
    return binding.name.empty() ? number + ", " + to_string(binding.access)
                                : number + " \"" + binding.name + "\"";
}

std::string listed_binding(const Binding& binding) {
    return binding.name.empty() ? binding_text(binding)
                                : binding_text(binding) + ", " + to_string(binding.access);
}

std::string shorter_than_block(std::uint64_t bytes, const Binding& binding) {
    return "range is shorter than the shader's block (got " + std::to_string(bytes) + " bytes, need " +
           std::to_string(binding.least_bytes) + ")";
}

std::string unlike_parameter(const Parameters& given, const FirstParameter& need) {
    if (!need.known || given.number() == Parameters::Number::none) return {};
    const bool floating = given.number() == Parameters::Number::floating;
    const std::uint64_t bytes = given.bytes().size();
    if (floating == need.floating && (!floating || bytes == need.bytes)) return {};
    const auto text = [](bool real, std::uint64_t size) {
        return (real ? "a floating-point number of " : "an integer of ") + std::to_string(size) + " bytes";
    };
    return "parameters are another kind of number than the shader's member" +
           (need.name.empty() ? std::string() : " \"" + need.name + "\"") + " (got " + text(floating, bytes) +
           ", need " + text(need.floating, need.bytes) + ")";
}

Reflection reflect(std::span<const std::uint32_t> words, const ProgramOptions& options) {
    const std::string& name = name_of(options);
    check_spirv_words(words, options.entry, name);
    validate(without_matrices(words), name, "");

    Reflection reflection;
    const SpecTable constants(words);
    reflection.spec_constants = constants.declared();
    reflection.constants = constants.chosen(options, name);
    std::vector<std::uint32_t> specialized(words.begin(), words.end());
    constants.apply(reflection.constants, specialized);

    const SpirvModule module(specialized);
    reflection.capabilities = module.capabilities();
    const auto local_size = module.local_size(options.entry);
    if (!local_size)
        refuse_shader(name, "workgroup size is not given, or by an expression weft cannot evaluate");
    reflection.local_size = *local_size;
    check_local_size(options, *local_size, name);
    reflection.folds = folds_rows(specialized, module.reached_functions(options.entry));
    if (std::find(local_size->begin(), local_size->end(), 0u) != local_size->end())
        refuse_shader(name, "workgroup size with a 0 (got " + std::to_string((*local_size)[0]) + " x " +
                                std::to_string((*local_size)[1]) + " x " + std::to_string((*local_size)[2]) +
                                ", need at least 1 each)");
    const auto shared_memory = module.shared_memory_bytes(options.entry);
    if (!shared_memory)
        refuse_shader(name, "size of a shared array is 0 or rests on an expression weft cannot evaluate");
    reflection.shared_memory_bytes = *shared_memory;

    const std::vector<std::uint32_t> as_driven = without_matrices(frozen(specialized, module));
    if (constants_decide(specialized, module)) validate_specialized(as_driven, reflection.constants, name);

    const CrossCompiler compiler(as_driven, options.entry, name);
    refuse_other_resources(compiler, name);
    reflection.bindings = read_bindings(compiler, name);
    declare_written_first(reflection.bindings, options, name);
    for (const spvc_reflected_resource& block : compiler.resources(SPVC_RESOURCE_TYPE_PUSH_CONSTANT)) {
        reflection.push_constant_bytes =
            std::max(reflection.push_constant_bytes, compiler.push_constant_bytes(block));
        reflection.first_parameter = compiler.first_parameter(block);
    }
    return reflection;
}

}  // namespace weft::core
