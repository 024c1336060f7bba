// SPDX-License-Identifier: Apache-2.0
// Stream, Event and Sequence: ordered work on buffers.
#include "stream.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "calls.hpp"
#include "errors.hpp"
#include "program.hpp"

namespace weft::python {

PyStream::PyStream(const PyBackend& backend, const StreamOptions& options) {
    const std::shared_ptr<Backend> owner = backend.get();
    const WithoutLock unlocked;
    stream_ = std::make_unique<Stream>(*owner, options);
}

PyStream::~PyStream() {
    destroy_without_lock(stream_);
}

void PyStream::close() {
    if (!stream_) return;
    {
        const Use use(*this);
        if (depth_ != 1) refuse("Stream: close() inside record()");
    }
    destroy_alone(stream_);
}

PyStream::Use::Use(PyStream& stream) : stream_(stream) {
    const std::thread::id self = std::this_thread::get_id();
    std::thread::id user{};
    if (!stream.user_.compare_exchange_strong(user, self) && user != self)
        refuse("Stream: used by two threads simultaneously; give each thread a Stream");
    ++stream.depth_;
    if (!stream.stream_) {
        if (--stream.depth_ == 0) stream.user_.store({});
        refuse("Stream: used after close()");
    }
}

PyStream::Use::~Use() {
    if (--stream_.depth_ == 0) stream_.user_.store({});
}

namespace {

StreamQueue queue_named(const std::string& name) {
    if (name == "compute") return StreamQueue::compute;
    if (name == "upload") return StreamQueue::upload;
    if (name == "download") return StreamQueue::download;
    refuse("queue: unknown value (got '" + name + "', need one of 'compute', 'upload', 'download')");
}

void upload(PyStream& self, nb::handle array, nb::handle given) {
    const PyBuffer& target = buffer_of("Stream.upload", "target", given);
    const Array source = input("Stream.upload", "array", array, {target.type});
    if (source.shape != target.shape)
        refuse("Stream.upload: wrong shape (got " + to_string(source.shape) + ", need " +
               to_string(target.shape) + ")");
    const PyStream::Use stream(self);
    const WithoutLock unlocked;
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(source.data), source.bytes());
    stream->upload(bytes, target.view());
}

bool wait_for_stream(const PyStream::Use& stream, std::optional<double> timeout_s) {
    return wait_with_signals([&](std::chrono::nanoseconds slice) { return stream->wait(slice); }, timeout_s);
}

nb::any download(PyStream& self, nb::handle given, nb::handle out) {
    const PyBuffer& source = buffer_of("Stream.download", "source", given);
    const Array target = output_or_new("Stream.download", "out", out, source.type, source.shape);
    const PyStream::Use stream(self);
    wait_for_stream(stream, std::nullopt);  // so that Ctrl-C ends the wait
    {
        const WithoutLock unlocked;
        const std::span<std::byte> bytes(static_cast<std::byte*>(target.data), target.bytes());
        stream->download<std::byte>(source.view(), bytes);
    }
    return target.object;
}

void dispatch(PyStream& self, const Program& program, const std::vector<nb::object>& buffers,
              std::uint64_t elements, const nb::bytes& parameters) {
    const Parameters values = parameters_of("Stream.dispatch", parameters);
    std::vector<Stream::Argument> arguments;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        arguments.emplace_back(
            buffer_of("Stream.dispatch", ("buffers[" + std::to_string(i) + "]").c_str(), buffers[i]).view());
    const PyStream::Use stream(self);
    stream->dispatch(program, arguments, elements, values);
}

/// The stream that `steps` gets is this one. An exception of `steps` is passed on.
Sequence record(nb::object self, const nb::typed<nb::callable, nb::object(PyStream)>& steps) {
    const PyStream::Use stream(nb::cast<PyStream&>(self));
    return stream->record([&](Stream&) { steps(self); });
}

}  // namespace

void bind_stream(nb::module_& module) {
    nb::class_<Event>(module, "Event",
                      "A point in the work of a stream: reached when everything before it is done.")
        .def("done", &Event::done)
        .def(
            "wait",
            [](const Event& event, std::optional<double> timeout) {
                return wait_with_signals([&](std::chrono::nanoseconds slice) { return event.wait(slice); },
                                         timeout);
            },
            nb::arg("timeout").none() = nb::none(),
            "Waits, at most ``timeout`` seconds; False if the time was up.");
    nb::class_<Sequence>(module, "Sequence",
                         "Steps that Stream.record recorded; run them with Stream.replay.")
        .def_prop_ro("steps", &Sequence::steps)
        .def_prop_ro("dispatches", &Sequence::dispatches)
        .def_prop_ro("barriers", &Sequence::barriers);
    nb::class_<PyStream>(module, "_Stream", nb::is_weak_referenceable())
        .def(
            "__init__",
            [](PyStream* self, nb::handle backend, const std::string& name, const std::string& queue) {
                new (self) PyStream(backend_of(backend), {.name = name, .queue = queue_named(queue)});
            },
            nb::arg("backend").none(), nb::arg("name"), nb::arg("queue"))
        .def("upload", &upload, nb::arg("array").none(), nb::arg("target").none(),
             "Copies an array to a buffer of the same type and shape. The array may change when the call "
             "returns.")
        .def("download", &download, nb::arg("source").none(), nb::arg("out").none() = nb::none(),
             "Waits for the recorded work and copies a buffer to ``out`` or to a new array, which is "
             "returned.")
        .def(
            "fill",
            [](PyStream& self, nb::handle target, std::uint32_t value) {
                PyStream::Use(self)->fill(buffer_of("Stream.fill", "target", target).view(), value);
            },
            nb::arg("target").none(), nb::arg("value"), "Fills a buffer with a 32-bit value.")
        .def(
            "copy",
            [](PyStream& self, nb::handle source, nb::handle target) {
                PyStream::Use(self)->copy(buffer_of("Stream.copy", "source", source).view(),
                                          buffer_of("Stream.copy", "target", target).view());
            },
            nb::arg("source").none(), nb::arg("target").none(),
            "Copies a buffer to another one of as many bytes.")
        .def("_dispatch", &dispatch, nb::arg("program"), nb::arg("buffers"), nb::arg("elements"),
             nb::arg("parameters"))
        .def(
            "submit", [](PyStream& self) { return PyStream::Use(self)->submit(); },
            "Hands everything recorded to the device. The event is reached when it is done.")
        .def(
            "wait",
            [](PyStream& self, std::optional<double> timeout) {
                return wait_for_stream(PyStream::Use(self), timeout);
            },
            nb::arg("timeout").none() = nb::none(),
            "Submits, then waits, at most ``timeout`` seconds; False if the time was up.")
        .def(
            "wait_for", [](PyStream& self, const Event& event) { PyStream::Use(self)->wait_for(event); },
            nb::arg("event"), "Work that is recorded from now on runs after ``event`` of another stream.")
        .def("record", &record, nb::arg("steps"),
             "Records the steps of ``steps(stream)``, or of the block ``with stream.record() as sequence:``, "
             "without\n"
             "running them. An exception drops the steps.")
        .def("record", &new_recording, nb::sig("def record(self) -> Recording"))
        .def(
            "replay",
            [](PyStream& self, const Sequence& sequence) { return PyStream::Use(self)->replay(sequence); },
            nb::arg("sequence"), "Submits what is pending, then the sequence, without recording anything.")
        .def("close", &PyStream::close,
             "Waits for submitted work; drops what was recorded and not submitted. Closing twice does "
             "nothing.")
        .def_prop_ro("closed", &PyStream::closed);
}

}  // namespace weft::python
