// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: streams, events and sequences.
#include <cstddef>
#include <span>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// Stores an event, whose handle was made before the work went out, so that a lack of memory is found in
/// time.
template <class Work>
void with_event(weft_event** event, Work&& work) {
    if (event == nullptr) {
        work();
        return;
    }
    *event = nullptr;
    auto made = std::make_unique<weft_event>();
    made->object = work();
    *event = made.release();
}

}  // namespace

weft_status weft_stream_create(weft_backend* backend, const weft_stream_options* options,
                               weft_stream** stream) {
    constexpr const char* kName = "weft_stream_create";
    const Uses uses(backend);
    return guarded(kName, [&] {
        given(kName, "stream", stream);
        *stream = nullptr;
        const weft_stream_options all = read_options(kName, "weft_stream_options", options);
        const auto queue = enum_of<weft::StreamQueue>(kName, "weft_stream_options.queue", all.queue,
                                                      WEFT_QUEUE_DOWNLOAD + 1);
        *stream = new weft_stream(one_device(kName, backend),
                                  weft::StreamOptions{.name = text_of(all.name), .queue = queue});
    });
}

WEFT_DEFINE_HANDLE(weft_stream)

weft_status weft_stream_upload(weft_stream* stream, weft_const_span source, weft_view target) {
    constexpr const char* kName = "weft_stream_upload";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        s.upload(span_of<std::uint8_t>(kName, "source", source),
                 view_of<std::uint8_t>(kName, "target", target));
    });
}

weft_status weft_stream_download(weft_stream* stream, weft_view source, weft_span target) {
    constexpr const char* kName = "weft_stream_download";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        s.download<std::uint8_t>(view_of<std::uint8_t>(kName, "source", source),
                                 span_of<std::uint8_t>(kName, "target", target));
    });
}

weft_status weft_stream_fill(weft_stream* stream, weft_view target, uint32_t word) {
    constexpr const char* kName = "weft_stream_fill";
    return with_stream(kName, stream,
                       [&](weft::Stream& s) { s.fill(view_of<std::byte>(kName, "target", target), word); });
}

weft_status weft_stream_copy(weft_stream* stream, weft_view source, weft_view target) {
    constexpr const char* kName = "weft_stream_copy";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        s.copy(view_of<std::byte>(kName, "source", source), view_of<std::byte>(kName, "target", target));
    });
}

weft_status weft_stream_dispatch(weft_stream* stream, const weft_program* program, const weft_view* views,
                                 uint64_t count, uint64_t elements, weft_const_span parameters) {
    constexpr const char* kName = "weft_stream_dispatch";
    const Uses uses(program);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::Program& object = given(kName, "program", program).object;
        if (count > object.bindings().size())
            refuse(std::string(kName) + ": more views than bindings (got " + std::to_string(count) +
                   ", need " + std::to_string(object.bindings().size()) + ")");
        if (count != 0) given(kName, "views", views);
        std::vector<weft::Stream::Argument> arguments;
        for (std::size_t i = 0; i < count; ++i)
            arguments.emplace_back(view_of<std::byte>(kName, "a view", views[i]));
        s.dispatch(object, arguments, elements, parameters_of(kName, parameters));
    });
}

weft_status weft_stream_submit(weft_stream* stream, weft_event** event) {
    return with_stream("weft_stream_submit", stream,
                       [&](weft::Stream& s) { with_event(event, [&] { return s.submit(); }); });
}

weft_status weft_stream_wait(weft_stream* stream, uint64_t timeout_ns) {
    return with_stream("weft_stream_wait", stream, [&](weft::Stream& s) {
        if (!s.wait(timeout_of(timeout_ns))) throw TimeUp{};
    });
}

weft_status weft_stream_wait_for(weft_stream* stream, const weft_event* event) {
    constexpr const char* kName = "weft_stream_wait_for";
    const Uses uses(event);
    return with_stream(kName, stream,
                       [&](weft::Stream& s) { s.wait_for(given(kName, "event", event).object); });
}

weft_status weft_stream_record(weft_stream* stream, weft_record_fn steps, void* user,
                               weft_sequence** sequence) {
    constexpr const char* kName = "weft_stream_record";
    return with_stream(kName, stream, [&](weft::Stream& s) {
        given(kName, "sequence", sequence);
        *sequence = nullptr;
        if (steps == nullptr) refuse(std::string(kName) + ": steps is NULL");
        auto made = std::make_unique<weft_sequence>();
        made->object = s.record([&](weft::Stream&) {
            if (steps(user, stream) != 0) throw Stopped{};
        });
        *sequence = made.release();
    });
}

weft_status weft_stream_replay(weft_stream* stream, const weft_sequence* sequence, weft_event** event) {
    constexpr const char* kName = "weft_stream_replay";
    const Uses uses(sequence);
    return with_stream(kName, stream, [&](weft::Stream& s) {
        const weft::Sequence& object = given(kName, "sequence", sequence).object;
        with_event(event, [&] { return s.replay(object); });
    });
}

WEFT_DEFINE_HANDLE(weft_event)

weft_status weft_event_wait(const weft_event* event, uint64_t timeout_ns) {
    constexpr const char* kName = "weft_event_wait";
    const Uses uses(event);
    return guarded(kName, [&] {
        if (!given(kName, "event", event).object.wait(timeout_of(timeout_ns))) throw TimeUp{};
    });
}

WEFT_DEFINE_HANDLE(weft_sequence)

weft_status weft_sequence_describe(const weft_sequence* sequence, weft_sequence_info* info) {
    constexpr const char* kName = "weft_sequence_describe";
    const Uses uses(sequence);
    return guarded(kName, [&] {
        const weft::Sequence& object = given(kName, "sequence", sequence).object;
        write_report(kName, "weft_sequence_info",
                     weft_sequence_info{0, 0, object.steps(), object.dispatches(), object.barriers()}, info);
    });
}
