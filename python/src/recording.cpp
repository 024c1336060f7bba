// SPDX-License-Identifier: Apache-2.0
// `with stream.record() as sequence:`. weft records the steps of a function, so a thread of its own stands in
// that function while the block records.
#include <future>
#include <optional>

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "errors.hpp"
#include "stream.hpp"

namespace nb = nanobind;

namespace weft::python {

namespace {

/// Drops what was recorded.
struct Dropped {};

class Recording {
  public:
    explicit Recording(nb::object stream) : stream_(std::move(stream)) {}
    ~Recording() { end(false); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    nb::object enter() {
        if (use_) refuse("Stream.record: the block was entered twice");
        use_.emplace(nb::cast<PyStream&>(stream_));
        std::promise<void> opened;
        keep_ = {};
        recorded_ = std::async(std::launch::async, &Recording::record, &**use_, &opened, keep_.get_future());
        try {
            opened.get_future().get();
        } catch (...) {
            recorded_ = {};
            use_.reset();
            throw;
        }
        sequence_ = nb::cast(Sequence());
        return sequence_;
    }
    void exit(bool keep) { end(keep); }

  private:
    static Sequence record(Stream* stream, std::promise<void>* opened, std::future<bool> keep) {
        bool inside = false;
        try {
            return stream->record([&](Stream&) {
                inside = true;
                opened->set_value();
                if (!keep.get()) throw Dropped();
            });
        } catch (...) {
            if (!inside) opened->set_exception(std::current_exception());
            throw;
        }
    }
    void end(bool keep) {
        if (!use_) return;
        keep_.set_value(keep);
        try {
            nb::cast<Sequence&>(sequence_) = recorded_.get();
        } catch (const Dropped&) {
            // As asked for.
        }
        use_.reset();
    }

    nb::object stream_, sequence_;
    std::optional<PyStream::Use> use_;
    std::promise<bool> keep_;
    std::future<Sequence> recorded_;
};

}  // namespace

nb::object new_recording(nb::object stream) {
    return nb::cast(new Recording(std::move(stream)), nb::rv_policy::take_ownership);
}

void bind_recording(nb::module_& module) {
    nb::class_<Recording>(module, "Recording", "The block of ``with stream.record() as sequence:``.")
        .def("__enter__", &Recording::enter, nb::sig("def __enter__(self) -> Sequence"))
        .def(
            "__exit__",
            [](Recording& self, nb::handle kind, nb::handle, nb::handle) { self.exit(kind.is_none()); },
            nb::arg("kind").none(), nb::arg("error").none(), nb::arg("where").none());
}

}  // namespace weft::python
