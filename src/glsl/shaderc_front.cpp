// SPDX-License-Identifier: Apache-2.0
#include "glsl/shaderc_front.hpp"

#include <pthread.h>
#include <shaderc/shaderc.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "glsl/large_stack.hpp"
#include "glsl/library_identity.hpp"

namespace weft::glsl {

namespace {

std::atomic<bool> started{false};

/// Any number of compilations may be inside simultaneously, a fork only alone: the child would inherit locks
/// of the compiler that no thread of it can release.
class ForkGate {
  public:
    void enter() {
        // A thread that waits to fork holds `turn_`, so that new compilations cannot delay it forever.
        const std::lock_guard turn(turn_);
        inside_.lock_shared();
    }
    void leave() { inside_.unlock_shared(); }
    void close() {
        turn_.lock();
        inside_.lock();
    }
    void open() {
        inside_.unlock();
        turn_.unlock();
    }

  private:
    std::mutex turn_;
    std::shared_mutex inside_;
};

/// Never destroyed, because a fork may come after the end of main.
ForkGate& fork_gate() {
    static ForkGate* gate = new ForkGate;
    // A child cannot open its parent's gate, where threads may be waiting that the child does not have.
    static const int registered = pthread_atfork([] { gate->close(); }, [] { gate->open(); },  //
                                                 [] { gate = new ForkGate; });
    static_cast<void>(registered);
    return *gate;
}

struct Passage {
    Passage() { fork_gate().enter(); }
    ~Passage() { fork_gate().leave(); }
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
};

/// All threads share it, which shaderc allows. Never released, because threads may compile while the process
/// ends.
shaderc_compiler_t compiler() {
    static const shaderc_compiler_t instance = [] {
        started = true;
        return shaderc_compiler_initialize();
    }();
    if (instance == nullptr) throw std::bad_alloc();
    return instance;
}

struct Release {
    void operator()(shaderc_compile_options_t options) const { shaderc_compile_options_release(options); }
    void operator()(shaderc_compilation_result_t result) const { shaderc_result_release(result); }
};
using Options = std::unique_ptr<std::remove_pointer_t<shaderc_compile_options_t>, Release>;
using Result = std::unique_ptr<std::remove_pointer_t<shaderc_compilation_result_t>, Release>;

struct IncludeAnswer {
    Included included;
    shaderc_include_result result{};
};

/// The includes of one compilation, and whether any source asks for exact arithmetic.
struct IncludeRun {
    IncludeSearch& search;
    bool precise;
};

bool mentions_precise(std::string_view text) {
    return text.find("precise") != std::string_view::npos;
}

shaderc_include_result* answer_include(void* user, const char* requested, int type, const char*,
                                       std::size_t depth) noexcept {
    auto answer = std::make_unique<IncludeAnswer>();
    try {
        auto& run = *static_cast<IncludeRun*>(user);
        answer->included = run.search.find(requested, type == shaderc_include_type_relative, depth);
        run.precise = run.precise || mentions_precise(answer->included.text);
    } catch (const std::exception& error) {
        answer->included = {{}, {}, error.what()};
    }
    const Included& included = answer->included;
    const std::string_view content = included.refused.empty() ? included.text : included.refused;
    answer->result.content = content.data();
    answer->result.content_length = content.size();
    // shaderc treats an empty name as an error and the content as its message.
    answer->result.source_name = included.name.data();
    answer->result.source_name_length = included.refused.empty() ? included.name.size() : 0;
    answer->result.user_data = answer.get();
    return &answer.release()->result;
}

void release_include(void*, shaderc_include_result* result) noexcept {
    delete static_cast<IncludeAnswer*>(result->user_data);
}

shaderc_optimization_level level(GlslOptimization optimization) {
    switch (optimization) {
        case GlslOptimization::none:
            return shaderc_optimization_level_zero;
        case GlslOptimization::size:
            return shaderc_optimization_level_size;
        case GlslOptimization::performance:
            break;
    }
    return shaderc_optimization_level_performance;
}

Options make_options(const GlslSource& source, GlslOptimization optimization, IncludeRun& includes) {
    Options options(shaderc_compile_options_initialize());
    if (!options) throw std::bad_alloc();
    shaderc_compile_options_set_target_env(options.get(), shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_target_spirv(options.get(), shaderc_spirv_version_1_5);
    shaderc_compile_options_set_optimization_level(options.get(), level(optimization));
    shaderc_compile_options_add_macro_definition(options.get(), "WEFT_GLSL", 9, "1", 1);
    for (const GlslMacro& macro : source.macros)
        shaderc_compile_options_add_macro_definition(options.get(), macro.name.data(), macro.name.size(),
                                                     macro.value.data(), macro.value.size());
    if (source.debug_info) shaderc_compile_options_set_generate_debug_info(options.get());
    if (source.warnings_as_errors) shaderc_compile_options_set_warnings_as_errors(options.get());
    shaderc_compile_options_set_include_callbacks(options.get(), answer_include, release_include, &includes);
    return options;
}

Compiled compile(const GlslSource& source, GlslOptimization optimization, const std::string& name,
                 const std::string& text, IncludeRun& includes) {
    const Options options = make_options(source, optimization, includes);
    const Result result(shaderc_compile_into_spv(compiler(), text.data(), text.size(), shaderc_compute_shader,
                                                 name.c_str(), "main", options.get()));
    if (!result) throw std::bad_alloc();
    Compiled compiled;
    const char* messages = shaderc_result_get_error_message(result.get());
    compiled.messages = messages == nullptr ? "" : messages;
    if (shaderc_result_get_compilation_status(result.get()) != shaderc_compilation_status_success)
        return compiled;
    compiled.words.resize(shaderc_result_get_length(result.get()) / sizeof(std::uint32_t));
    std::memcpy(compiled.words.data(), shaderc_result_get_bytes(result.get()),
                compiled.words.size() * sizeof(std::uint32_t));
    return compiled;
}

/// When SPIRV-Tools unrolls a loop, the copies of its body lose NoContraction, so `precise` would hold for
/// the first iteration only. Such shaders are left to the driver's optimizer.
Compiled compile_exactly(const GlslSource& source, const std::string& name, const std::string& text,
                         IncludeSearch& includes) {
    IncludeRun run{includes, mentions_precise(text)};
    for (const GlslMacro& macro : source.macros) run.precise = run.precise || mentions_precise(macro.value);
    const GlslOptimization first = run.precise ? GlslOptimization::none : source.optimization;
    Compiled compiled = compile(source, first, name, text, run);
    if (run.precise && first != GlslOptimization::none)
        compiled = compile(source, GlslOptimization::none, name, text, run);
    return compiled;
}

}  // namespace

Compiled compile_with_shaderc(const GlslSource& source, const std::string& name, const std::string& text,
                              IncludeSearch& includes) {
    const Passage passage;
    Compiled compiled;
    // The compiler recurses once for each operator of a long expression, and generated shaders have long
    // ones.
    run_on_large_stack([&] { compiled = compile_exactly(source, name, text, includes); });
    return compiled;
}

const std::string& compiler_identity() {
    static const std::string& identity = *new std::string([] {
        unsigned version = 0, revision = 0;
        shaderc_get_spv_version(&version, &revision);
        const std::string library =
            shared_library_identity(reinterpret_cast<const void*>(&shaderc_compiler_initialize));
        // If shaderc is linked in statically, its version at build time is used.
        return "shaderc " + (library.empty() ? std::string(WEFT_SHADERC_IDENTITY) : library) + " spv " +
               std::to_string(version) + "." + std::to_string(revision);
    }());
    return identity;
}

bool compiler_started() {
    return started;
}

}  // namespace weft::glsl
