// SPDX-License-Identifier: Apache-2.0
// A Vulkan loader for tests: hooks that count, fail, describe other devices and check, in front of the real
// loader. It is not a part of weft.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <tuple>
#include <type_traits>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

PFN_vkGetInstanceProcAddr real_lookup() {
    static const auto entry = [] {
        void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void* found = library == nullptr ? nullptr : dlsym(library, "vkGetInstanceProcAddr");
        if (found == nullptr) {
            std::fprintf(stderr, "fault loader: no libvulkan.so.1\n");
            std::abort();
        }
        return reinterpret_cast<PFN_vkGetInstanceProcAddr>(found);
    }();
    return entry;
}

std::array<std::atomic<PFN_vkVoidFunction>, kFunctions> found;
/// The instances that are alive. The real loader finds functions by any of them.
class Instances {
  public:
    void add(VkInstance instance) {
        const std::lock_guard lock(mutex_);
        alive_.insert(instance);
    }
    void remove(VkInstance instance) {
        const std::lock_guard lock(mutex_);
        alive_.erase(instance);
    }
    VkInstance any() const {
        const std::lock_guard lock(mutex_);
        return alive_.empty() ? VK_NULL_HANDLE : *alive_.begin();
    }

  private:
    mutable std::mutex mutex_;
    std::set<VkInstance> alive_;
};
Instances instances;

class Inside {
  public:
    Inside() { ++State::depth; }
    ~Inside() { --State::depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

template <Id id, class Pointer>
struct Hook;

template <Id id, class Result, class... Arguments>
struct Hook<id, Result(VKAPI_PTR*)(Arguments...)> {
    static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
        const Inside here;
        State& state = State::get();
        const VkDevice device = device_of(std::get<0>(std::make_tuple(arguments...)));
        const std::optional<VkResult> instead = state.before(id, device);
        if constexpr (std::is_same_v<Result, VkResult>) {
            if (instead) return *instead;
            const Result result = act(Tag<id>{}, arguments...);
            if (const auto lost = state.if_lost(id, device)) return *lost;
            if (result == VK_SUCCESS) note_created(arguments...);
            return result;
        } else {
            if constexpr ((traits_of(id) & kDestroys) != 0) note_destroyed(arguments...);
            return act(Tag<id>{}, arguments...);
        }
    }

  private:
    static void note_created(Arguments... arguments) {
        [[maybe_unused]] const auto all = std::make_tuple(arguments...);
        if constexpr ((traits_of(id) & kCreates) != 0)
            State::get().created(id, value_of(*std::get<sizeof...(Arguments) - 1>(all)));
        if constexpr (id == Id::vkCreateInstance) instances.add(*std::get<2>(all));
        if constexpr (id == Id::vkCreateComputePipelines)
            for (std::uint32_t i = 0; i < std::get<2>(all); ++i)
                State::get().created(id, value_of(std::get<5>(all)[i]));
    }

    static void note_destroyed(Arguments... arguments) {
        const auto all = std::make_tuple(arguments...);
        const auto handle = std::get<sizeof...(Arguments) - 2>(all);
        if constexpr (id == Id::vkDestroyDevice) forget_queues(handle);
        if constexpr (id == Id::vkDestroyInstance) {
            static_cast<void>(real_function(id));  // found by this instance, which may be the last
            instances.remove(handle);
        }
        State::get().destroyed(id, value_of(handle));
    }
};

PFN_vkVoidFunction hook(Id id) {
    switch (id) {
#define WEFT_FAULT_CASE(name, traits) \
    case Id::name:                    \
        return reinterpret_cast<PFN_vkVoidFunction>(&Hook<Id::name, TypeOf<Id::name>::Pointer>::call);
        WEFT_FAULT_FUNCTIONS(WEFT_FAULT_CASE)
#undef WEFT_FAULT_CASE
        case Id::count:
            break;
    }
    return nullptr;
}

std::optional<Id> find(std::string_view name) {
    for (std::size_t i = 0; i < kFunctions; ++i)
        if (name == kFunctionTable[i].name) return static_cast<Id>(i);
    return std::nullopt;
}

}  // namespace

PFN_vkVoidFunction real_function(Id id) {
    auto& cell = found[static_cast<std::size_t>(id)];
    PFN_vkVoidFunction function = cell;
    if (function == nullptr) {
        const bool global = id == Id::vkCreateInstance;
        function = real_lookup()(global ? VK_NULL_HANDLE : instances.any(),
                                 kFunctionTable[static_cast<std::size_t>(id)].name);
        cell = function;
    }
    return function;
}

PFN_vkVoidFunction act(Tag<Id::vkGetDeviceProcAddr>, VkDevice device, const char* name) {
    const PFN_vkVoidFunction function = real<Id::vkGetDeviceProcAddr>()(device, name);
    const auto id = find(name);
    return function != nullptr && id ? hook(*id) : function;
}

}  // namespace weft_fault

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char* name) {
    using namespace weft_fault;
    if (std::string_view(name) == "vkGetInstanceProcAddr")
        return reinterpret_cast<PFN_vkVoidFunction>(&vkGetInstanceProcAddr);
    const Inside here;
    const PFN_vkVoidFunction function = real_lookup()(instance, name);
    const auto id = find(name);
    return function != nullptr && id ? hook(*id) : function;
}

__attribute__((visibility("default"))) weft_fault::Control* weft_fault_control() {
    return &weft_fault::State::get();
}
}
