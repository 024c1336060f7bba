// SPDX-License-Identifier: Apache-2.0
// The interface between a test and the fault loader (loader.cpp). This is a Vulkan loader that fails on
// demand, describes its device as another one, and records wrong uses. WEFT_VULKAN_LIBRARY gives it to weft;
// a test gets the same copy by dlopen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft_fault {

/// The values of VkResult that can be injected.
enum Result : int {
    kOutOfHostMemory = -1,
    kOutOfDeviceMemory = -2,
    kInitializationFailed = -3,
    kDeviceLost = -4,
    kMapFailed = -5,
};

/// Which calls a rule counts.
enum class Calls {
    may_run_out,   ///< all calls that may return one of the out-of-memory codes
    may_allocate,  ///< those of may_run_out that neither submit nor wait
    may_lose,      ///< all calls on a device that may return VK_ERROR_DEVICE_LOST
    named,         ///< calls of Rule::function
};

/// The behaviour of waits on a lost device. The specification allows the first two; the third is a defect of
/// real drivers.
enum class LostWaits { say_lost, succeed, time_out };

/// The `index`-th counted call from now on (from 0) returns `result` without reaching the driver. After
/// kDeviceLost every later call that may report the loss does so, unless `once` is set.
struct Rule {
    Calls calls = Calls::may_run_out;
    std::string function = {};
    std::uint64_t index = 0;
    int result = kOutOfDeviceMemory;
    bool for_ever = false;  ///< all counted calls from the index-th on
    LostWaits lost_waits = LostWaits::say_lost;
};

struct HeapLie {
    std::uint64_t bytes = 0;
    bool device_local = false;
    std::uint64_t budget = 0;  ///< 0: as large as the heap
};

struct TypeLie {
    std::uint32_t heap = 0;
    bool device_local = false, host_visible = false, host_coherent = false, host_cached = false;
};

struct FamilyLie {
    std::uint32_t queues = 1;
    bool graphics = false, compute = false, transfer = false;
    std::uint32_t timestamp_bits = 64;
};

/// How instances that are made from now on describe their first device. Empty or zero members give the real
/// values.
///
/// For host-visible memory that is not coherent, weft gets a copy of the real memory. So a flush or an
/// invalidation that is missing, or that covers too much, gives wrong numbers.
struct FakeDriver {
    bool discrete = false;
    std::uint32_t vendor = 0;
    std::vector<HeapLie> heaps = {};
    std::vector<TypeLie> types = {};
    std::vector<FamilyLie> families = {};
    std::uint64_t non_coherent_atom = 0;
    std::uint32_t max_workgroup_count_x = 0;
    std::uint32_t max_storage_range = 0;
    std::uint64_t max_allocation = 0;  ///< larger allocations are refused,
    bool soft_allocation = false;      ///< unless this is set
    std::uint64_t max_buffer = 0;
    bool hide_timeline = false, hide_int64 = false, hide_synchronization2 = false, hide_import = false;
    bool show_budget = false;  ///< VK_EXT_memory_budget with HeapLie::budget
    /// Buffers and allocations of more bytes get only this many: byte i is at i modulo this number. It allows
    /// sizes that the machine does not have; tests use ranges that do not overlap.
    std::uint64_t fold = 0;
    /// Pipeline caches keep 8 bytes for each pipeline that was made with them. Those of lavapipe keep
    /// nothing.
    bool keep_pipelines = false;
    std::optional<std::array<std::uint8_t, 16>> cache_uuid = {};
    std::uint32_t driver_version = 0;
    /// Timestamps of queues with fewer than 64 bits wrap this many ticks after the first one.
    std::optional<std::uint64_t> ticks_to_wrap = {};
};

/// The number of living objects of one type.
struct Live {
    std::string type;
    std::int64_t count = 0;
};

class Control {
  public:
    virtual ~Control() = default;
    /// Removes rules, descriptions, counts of calls, violations and losses. Living objects are still counted.
    virtual void reset() = 0;
    virtual void lie(const FakeDriver& fake) = 0;
    virtual void fail(const Rule& rule) = 0;
    /// Ends failures; a device that is lost stays lost until it is destroyed.
    virtual void fail_no_more() = 0;
    /// Calls that were counted since the last fail() or reset().
    virtual std::uint64_t calls(Calls calls) const = 0;
    virtual std::uint64_t calls(const std::string& function) const = 0;
    /// The first function that the rule made fail; empty if none failed yet.
    virtual std::string failed() const = 0;
    /// Types with living objects.
    virtual std::vector<Live> live() const = 0;
    /// Stops counting the objects that are alive now, which were left on purpose.
    virtual void forget_living() = 0;
    /// The uses that the device as described does not allow.
    virtual std::vector<std::string> violations() const = 0;
    /// With FakeDriver::keep_pipelines, what each pipeline cache was made from since the last reset(), the
    /// driver's header included, and the number of pipelines that no cache had.
    virtual std::vector<std::string> cache_data() const = 0;
    virtual std::uint64_t compiled() const = 0;
    /// Bytes of device memory allocated and not freed.
    virtual std::uint64_t live_bytes() const = 0;
    /// Whether the calling thread is inside a hook, whose allocations are not those of weft.
    virtual bool inside() const = 0;
};

/// The name of the exported function `Control* weft_fault_control()`.
inline constexpr const char* kControlEntry = "weft_fault_control";
using ControlEntry = Control* (*)();

}  // namespace weft_fault
