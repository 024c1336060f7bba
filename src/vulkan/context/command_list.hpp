// SPDX-License-Identifier: Apache-2.0
// Commands on resident buffers, with the barriers between them, and everything they need to run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/work/hazards.hpp"
#include "vulkan/context/context.hpp"
#include "vulkan/context/stage_timer.hpp"
#include "vulkan/device/commands.hpp"

namespace weft::core {

/// A range of a buffer; the buffer stays alive as long as a list that names it can still run.
struct BufferRange {
    std::shared_ptr<BufferObject> buffer;
    std::uint64_t offset = 0, bytes = 0;
};

/// A bound range and what the shader does with it.
struct BoundArgument {
    BufferRange range;
    std::uint32_t binding = 0;
    Access access = Access::read_write;
};

/// What a dispatch runs with; checked before.
struct DispatchWork {
    const Pipeline* pipeline = nullptr;
    std::string_view program;  // several programs may share a pipeline
    std::span<const BoundArgument> arguments;
    std::array<std::uint32_t, 3> workgroups{1, 1, 1};
    std::span<const std::byte> push;  // multiple of 4 bytes
    /// Of a part of a longer dispatch: the pipeline that runs it, and its first workgroup.
    const CutPipeline* cut = nullptr;
    std::array<std::uint32_t, 2> base{};
    double share = 1;  // of the work of the whole dispatch, for reports
};

/// What was recorded, for reports.
struct ListCounts {
    std::uint64_t dispatches = 0, copies = 0, fills = 0, barriers = 0;
    std::uint64_t bytes = 0;  // bound by dispatches, moved by copies and fills
    std::uint64_t steps() const { return dispatches + copies + fills; }
};

/// One command buffer. Used by one thread at a time while it records; may then be submitted by any.
/// Steps see the results of those before them, and of all submitted to the queue before the list.
class CommandList {
  public:
    /// Errors: out_of_memory, driver.
    explicit CommandList(std::shared_ptr<Context> context, QueueRole role = QueueRole::compute);
    /// Records into a command buffer of the application, which is recording; never begun or ended here.
    CommandList(std::shared_ptr<Context> context, VkCommandBuffer external);
    ~CommandList();
    CommandList(const CommandList&) = delete;
    CommandList& operator=(const CommandList&) = delete;

    /// For tools and validation messages; an external list keeps what its owner gave it.
    void set_name(std::string_view name) const noexcept;
    /// `replayable`: may be submitted again while it runs.
    void begin(bool replayable);
    /// Times the steps of this recording for listeners, as work of `stream`; call it after begin(). Steps
    /// without a barrier between them share one interval, because a timestamp between them would keep them
    /// apart.
    void start_timing(NameId stream);
    bool timed() const { return timing_; }
    /// Call these before and after a submission and, once it is done, before reset(). They do nothing if the
    /// list is not timed. Errors of report(): device_lost, driver.
    void before_submit();
    void submitted(Token token);
    void report();
    /// By the copy command or, within device memory, by the shader if the plan says so.
    void copy(const BufferRange& source, const BufferRange& target);
    void fill(const BufferRange& target, std::uint32_t value);
    void dispatch(const DispatchWork& work);
    /// Makes what was written visible to the host, and in an external list to every later command.
    void close();
    /// close(), and ends the command buffer.
    void end();
    /// Forgets what was recorded. The device must be done with it.
    void reset();

    /// Memory that only this list uses. Take it before reset() frees it.
    void keep_staging(std::shared_ptr<BufferObject> staging) {
        staging_bytes_ += staging->bytes();
        staging_.push_back(std::move(staging));
    }
    std::vector<std::shared_ptr<BufferObject>> take_staging() { return std::move(staging_); }
    std::uint64_t staging_bytes() const { return staging_bytes_; }

    /// Host memory that is not coherent: flush before each submission, invalidate after the wait.
    void flush_host_reads() const;
    const std::vector<BufferRange>& host_writes() const { return host_writes_; }

    VkCommandBuffer handle() const { return commands_; }
    const std::shared_ptr<Context>& context() const { return context_; }
    /// Whose queue it may be submitted to.
    QueueRole role() const { return role_; }
    const ListCounts& counts() const { return counts_; }
    bool empty() const { return counts_.steps() == 0; }

  private:
    void make_pool();
    void add_set_pool();
    VkDescriptorSet set_for(std::span<const BoundArgument> arguments);
    // `operations` is for reports: of a step in several parts only the first counts.
    /// Copies as many bytes from the start on as the shader can, and returns their number.
    std::uint64_t copy_by_shader(const BufferRange& source, const BufferRange& target);
    void copy_by_command(const BufferRange& source, const BufferRange& target, std::uint32_t operations);
    void record_dispatch(const DispatchWork& work, std::uint64_t bytes, std::uint32_t operations);
    void use(const BufferRange& range, bool reads, bool writes);
    void synchronize(WorkStage stage);
    /// The scope of everything that a list of this role can contain.
    AccessScope everything() const;
    void bind(const DispatchWork& work, VkDescriptorSet set);
    void forget_state();
    void time_step(Stage stage, std::string_view program, std::uint64_t bytes, std::uint32_t operations = 1);
    void end_run();

    std::shared_ptr<Context> context_;
    Device& device_;
    QueueRole role_ = QueueRole::compute;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    bool external_ = false;

    HazardTracker hazards_;
    std::vector<RangeUse> uses_;  // of the step being recorded
    bool fresh_ = true;           // nothing is recorded yet, and what ran before is unknown
    bool wrote_host_ = false;
    std::unordered_map<std::uint64_t, std::shared_ptr<BufferObject>> keep_alive_;
    std::vector<std::shared_ptr<BufferObject>> staging_;
    std::uint64_t staging_bytes_ = 0;
    std::vector<BufferRange> host_reads_, host_writes_;  // of memory that is not coherent

    /// A descriptor set by the ranges in it. Kept from recording to recording: an id is never used twice.
    struct SetEntry {
        std::size_t key_at = 0, key_size = 0;
        VkDescriptorSet set = VK_NULL_HANDLE;
    };
    std::unordered_multimap<std::uint64_t, SetEntry> sets_by_hash_;
    std::vector<std::uint64_t> set_keys_, key_;
    std::vector<VkDescriptorPool> set_pools_;
    std::vector<VkDescriptorSet> sets_;
    std::size_t used_sets_ = 0;

    // What is bound in the command buffer, so that it is not bound again.
    VkPipeline bound_pipeline_ = VK_NULL_HANDLE;
    VkDescriptorSet bound_set_ = VK_NULL_HANDLE;
    std::array<std::byte, 256> push_{};
    std::size_t push_bytes_ = 0;
    ListCounts counts_;

    std::unique_ptr<RangeTimer> timer_;  // from the first recording that had a listener
    bool timing_ = false;
    NameId stream_ = 0;
    struct Run {
        bool open = false;
        Stage stage = Stage::kernel;
        NameId program = 0;
    } run_;
};

}  // namespace weft::core
