// SPDX-License-Identifier: Apache-2.0
// What a Stream points at: the list that it records, the lists under way, and staging memory to use again.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <weft/stream.hpp>

#include "vulkan/context/command_list.hpp"
#include "vulkan/context/external_timeline.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::core {

/// Ranges of memory that is not coherent, to be invalidated before the host reads them.
using HostWrites = std::vector<BufferRange>;

/// What an Event points at.
struct EventState {
    std::shared_ptr<Context> context;
    Token token;
    HostWrites host_writes;
    /// If set, the event is reached when this timeline is at `external_value`; the token does not count.
    std::shared_ptr<ExternalTimeline> external = nullptr;
    std::uint64_t external_value = 0;

    SemaphorePoint point() const {
        return external ? external->point(external_value) : context->timelines.point(token);
    }
};

/// Staging buffers of finished work, for the next upload or download of about their size.
class StagingCache {
  public:
    /// At least `bytes`. Errors: out_of_memory.
    std::shared_ptr<BufferObject> take(const std::shared_ptr<Context>& context, MemoryKind kind,
                                       std::uint64_t bytes);
    void give_back(std::vector<std::shared_ptr<BufferObject>> buffers);
    void give_back(std::shared_ptr<BufferObject> buffer, MemoryKind kind);

  private:
    struct Entry {
        std::shared_ptr<BufferObject> buffer;
        MemoryKind kind;
    };
    std::vector<Entry> idle_;  // oldest first
    std::uint64_t idle_bytes_ = 0;
};

/// The dispatches of a list, for what is learnt about their programs from the time that it takes.
struct DispatchLoad {
    std::array<const Pipeline*, 8> pipelines{};
    std::size_t programs = 0;
    double work = 0, expected_s = 0;
    void add(const Pipeline& pipeline, double amount, double expected);
};

class StreamState : public std::enable_shared_from_this<StreamState> {
  public:
    StreamState(std::shared_ptr<BackendState> backend_state, std::string name,
                QueueRole role = QueueRole::compute);
    /// Records into a command buffer of the application; `end_external` ends what it recorded.
    StreamState(std::shared_ptr<BackendState> backend_state, std::string name, VkCommandBuffer external);
    ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    /// The list that steps go to. Errors: device_lost, out_of_memory.
    CommandList& list();
    /// Errors: invalid_argument - moved from, of another backend, or a view beyond its buffer.
    BufferRange range(const std::shared_ptr<BufferObject>& object, std::uint64_t offset, std::uint64_t bytes,
                      const char* what) const;
    /// A checked dispatch of `amount` units of work (dispatch_work), in parts if it would take too long.
    /// Errors: device_lost, out_of_memory, driver.
    void dispatch(const DispatchWork& work, double amount);
    void upload(const void* source, const BufferRange& target);
    void download(const BufferRange& source, void* target);
    Event submit(const char* what);
    bool wait(std::chrono::nanoseconds timeout);
    void wait_for(const Event& event);
    Sequence record(Stream& stream, const std::function<void(Stream&)>& steps);
    Event replay(const Sequence& sequence);
    /// No step is recorded into the application's command buffer after this. `whole`: records the barriers
    /// after the last step.
    void end_external(bool whole);

    const std::shared_ptr<BackendState>& backend_state() const { return backend_state_; }
    const std::string& name() const { return name_; }
    QueueRole role() const { return role_; }
    bool deferred() const { return recording_ != nullptr || external_ != nullptr; }

  private:
    struct UnderWay {
        std::shared_ptr<CommandList> list;
        Token done;
        bool own = false;  // else a sequence's
    };
    void refuse_while_recording(const char* what) const;
    void submit_list();
    SemaphorePoint awaited() const { return wait_for_ ? wait_for_->point() : SemaphorePoint{}; }
    /// A submission that waits for `wait_for_` is under way.
    void waited(Token token);
    void hand_over(const std::shared_ptr<CommandList>& list, bool own);
    Token submit_one(const CommandList& list);
    Token submit_own(CommandList& list);
    Token submit_sequence(const CommandList& list);
    /// Submits a list without times of its own; a listener gets one interval for the whole list.
    Token submit_whole(const CommandList& list, const char* program);
    void dispatch_parts(const DispatchWork& whole, const CutPipeline& cut, double amount);
    void note_load(const Pipeline& pipeline, double amount, double expected);
    bool may_wait();
    void learn_from_wait(SteadyTime begin);
    void collect();
    void recycle(UnderWay& work);
    Event event() const;
    /// The event without its figures; only while there is a listener.
    StageEvent stage_event(Stage stage) const;
    void listen_to(CommandList& list) const;
    void copy(const HostCopy& copy, Stage stage);

    std::shared_ptr<BackendState> backend_state_;
    Context& context_;
    Device& device_;
    std::string name_;
    QueueRole role_;
    std::shared_ptr<CommandList> pending_;    // recorded, not submitted
    std::shared_ptr<CommandList> recording_;  // inside record()
    std::shared_ptr<CommandList> external_;
    bool ended_ = false;              // `external_` is
    std::deque<UnderWay> under_way_;  // oldest first
    // The list that has been idle longest comes first, so that a caller that repeats its steps gets the same
    // lists with their sets and queries, however fast the device is.
    std::deque<std::shared_ptr<CommandList>> idle_;
    StagingCache staging_;
    std::unique_ptr<SubmissionTimer> whole_timer_;  // made by the first submit_whole() with a listener
    HostWrites host_writes_;                        // of everything submitted and not yet waited for
    Token done_;                                    // of the last submission
    Token external_wait_;                           // of the last one that waits for another API
    DispatchLoad load_, last_load_;                 // of `pending_`, and of the list submitted last
    std::shared_ptr<const EventState> wait_for_;    // before the next submission; null: nothing
};

}  // namespace weft::core
