// SPDX-License-Identifier: Apache-2.0
// Buffers, streams, events and sequences.
#include <cstring>

#include "capi/fixture.hpp"

using namespace weft_test;

namespace {

struct World {
    explicit World(weft_backend* backend) {
        make_affine(backend, program);
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, "x", &x));
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, nullptr, &y));
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        CHECK_OK(weft_stream_upload(stream, in(work.x), weft_buffer_view(x)));
    }
    weft_status dispatch() {
        const weft_view views[] = {weft_buffer_view(x), weft_buffer_view(y)};
        return weft_stream_dispatch(stream, program, views, 2, 100,
                                    {&work.parameters, sizeof(work.parameters)});
    }
    weft_status download() { return weft_stream_download(stream, weft_buffer_view(y), out(work.y)); }

    AffineJob work{100};
    Program program;
    Buffer x, y;
    Stream stream;
};

}  // namespace

TEST_CASE("c: steps of a stream run in their order") {
    on_device([](weft_backend* backend) {
        World w(backend);
        CHECK_OK(weft_stream_fill(w.stream, weft_buffer_view(w.y), 5));
        CHECK_OK(w.dispatch());
        Event event;
        CHECK_OK(weft_stream_submit(w.stream, &event));
        CHECK_OK(weft_event_wait(event, WEFT_FOREVER));
        CHECK_OK(w.download());
        CHECK(w.work.right());
        // Half of x over the second half of y.
        CHECK_OK(weft_stream_copy(w.stream, {w.x, 0, 200}, {w.y, 200, 200}));
        CHECK_OK(weft_stream_wait(w.stream, WEFT_FOREVER));
        CHECK_OK(w.download());
        CHECK(std::memcmp(w.work.y.data() + 50, w.work.x.data(), 200) == 0);
        CHECK_OK(weft_stream_submit(w.stream, nullptr));
    });
}

TEST_CASE("c: page-locked memory is used where it lies") {
    on_device([](weft_backend* backend) {
        World w(backend);
        Buffer host;
        CHECK_OK(weft_buffer_create(backend, WEFT_HOST_MEMORY, 400, "host", &host));
        CHECK(weft_buffer_bytes(host) == 400);
        REQUIRE(weft_buffer_data(host) != nullptr);
        CHECK(weft_buffer_data(w.x) == nullptr);
        CHECK_OK(weft_stream_copy(w.stream, weft_buffer_view(w.x), weft_buffer_view(host)));
        CHECK_OK(weft_stream_wait(w.stream, WEFT_FOREVER));
        CHECK(std::memcmp(weft_buffer_data(host), w.work.x.data(), 400) == 0);
        Buffer none;
        CHECK_REFUSED("kind: no such value", weft_buffer_create(backend, 2, 4, nullptr, &none));
        CHECK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, UINT64_MAX, nullptr, &none) != WEFT_OK);
        CHECK(static_cast<weft_buffer*>(none) == nullptr);
    });
}

TEST_CASE("c: memory of the caller can be page-locked where the device allows it") {
    on_device([](weft_backend* backend) {
        alignas(4096) static std::uint32_t page[4096];
        weft_registration* registration = nullptr;
        const weft_status status = weft_registration_create(backend, {page, sizeof(page)}, &registration);
        CHECK((status == WEFT_OK || status == WEFT_UNSUPPORTED));
        CHECK((registration != nullptr) == (status == WEFT_OK));
        weft_registration_release(registration);
        CHECK_REFUSED("", weft_registration_create(backend, {page, 0}, &registration));
    });
}

TEST_CASE("c: recorded steps are replayed") {
    on_device([](weft_backend* backend) {
        World w(backend);
        Sequence sequence;
        const weft_record_fn steps = [](void* user, weft_stream* stream) {
            auto& world = *static_cast<World*>(user);
            if (weft_stream_fill(stream, weft_buffer_view(world.y), 1) != WEFT_OK) return 1;
            return world.dispatch() == WEFT_OK ? 0 : 1;
        };
        CHECK_OK(weft_stream_record(w.stream, steps, &w, &sequence));
        weft_sequence_info info{};
        info.size = sizeof(info);
        CHECK_OK(weft_sequence_describe(sequence, &info));
        CHECK(info.steps == 2);
        CHECK(info.dispatches == 1);
        CHECK(info.barriers == 1);
        Event event;
        CHECK_OK(weft_stream_replay(w.stream, sequence, nullptr));
        CHECK_OK(weft_stream_replay(w.stream, sequence, &event));
        CHECK_OK(weft_event_wait(event, WEFT_FOREVER));
        CHECK_OK(w.download());
        CHECK(w.work.right());
    });
}

TEST_CASE("c: a callback that returns other than 0 drops the steps") {
    on_device([](weft_backend* backend) {
        World w(backend);
        Sequence sequence;
        CHECK_STATUS(WEFT_CANCELLED, "weft_stream_record: ended by its callback",
                     weft_stream_record(
                         w.stream, [](void*, weft_stream*) { return 1; }, nullptr, &sequence));
        CHECK(static_cast<weft_sequence*>(sequence) == nullptr);
        // What is refused inside: the error text is that of the step.
        const weft_record_fn waits = [](void*, weft_stream* stream) {
            return weft_stream_wait(stream, 0) == WEFT_INVALID_ARGUMENT ? 2 : 0;
        };
        CHECK_STATUS(WEFT_CANCELLED, "", weft_stream_record(w.stream, waits, nullptr, &sequence));
        CHECK_OK(w.dispatch());
        CHECK_OK(w.download());
        CHECK(w.work.right());
    });
}

TEST_CASE("c: streams of other queues wait for events") {
    on_device([](weft_backend* backend) {
        World w(backend);
        weft_stream_options options{};
        options.size = sizeof(options);
        options.queue = WEFT_QUEUE_DOWNLOAD;
        options.name = "downloads";
        Stream downloads;
        CHECK_OK(weft_stream_create(backend, &options, &downloads));
        CHECK_OK(w.dispatch());
        Event event;
        CHECK_OK(weft_stream_submit(w.stream, &event));
        CHECK_OK(weft_stream_wait_for(downloads, event));
        CHECK_OK(weft_stream_download(downloads, weft_buffer_view(w.y), out(w.work.y)));
        CHECK(w.work.right());
        const weft_view views[] = {weft_buffer_view(w.x), weft_buffer_view(w.y)};
        CHECK_REFUSED("", weft_stream_dispatch(downloads, w.program, views, 2, 100, {&w.work.parameters, 8}));
    });
}

TEST_CASE("c: views that do not fit are refused") {
    on_device([](weft_backend* backend) {
        World w(backend);
        const auto fill = [&](std::uint64_t offset, std::uint64_t bytes) {
            return weft_stream_fill(w.stream, {w.y, offset, bytes}, 0);
        };
        CHECK_REFUSED("weft_stream_fill: target: range beyond the end (got first byte 404 and 0 bytes",
                      fill(404, 0));
        CHECK_REFUSED("range beyond the end", fill(8, 396));
        CHECK_REFUSED("range beyond the end", fill(8, UINT64_MAX));
        CHECK_REFUSED("range beyond the end", fill(UINT64_MAX, 8));
        CHECK_REFUSED("weft_stream_fill: ", fill(0, 6));
        CHECK_REFUSED("target.buffer is NULL", weft_stream_fill(w.stream, {nullptr, 0, 4}, 0));
        CHECK_REFUSED("offset and bytes are not whole elements",
                      weft_stream_field_apply(w.stream, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, {w.x, 4, 16}, {}, {},
                                              {w.y, 0, 16}, nullptr));
        const weft_view views[] = {weft_buffer_view(w.x), weft_buffer_view(w.y), weft_buffer_view(w.y)};
        CHECK_REFUSED("more views than bindings (got 3, need 2)",
                      weft_stream_dispatch(w.stream, w.program, views, 3, 100, {}));
        CHECK_REFUSED("", weft_stream_dispatch(w.stream, w.program, views, 1, 100, {&w.work.parameters, 8}));
        CHECK_REFUSED("views is NULL", weft_stream_dispatch(w.stream, w.program, nullptr, 2, 100, {}));
        CHECK_REFUSED("", weft_stream_upload(w.stream, {w.work.x.data(), 8}, {w.y, 0, 12}));
    });
}
