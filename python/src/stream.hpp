// SPDX-License-Identifier: Apache-2.0
// A Stream as Python holds it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include <weft/stream.hpp>

#include "backend.hpp"

namespace weft::python {

/// A Stream belongs to one thread at a time: a second one is refused instead of corrupting the recorded work.
class PyStream {
  public:
    PyStream(const PyBackend& backend, const StreamOptions& options);
    ~PyStream();
    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    /// Use of the stream by this thread, until the object is destroyed. Steps that are recorded nest.
    class Use {
      public:
        explicit Use(PyStream& stream);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        Stream& operator*() const { return *stream_.stream_; }
        Stream* operator->() const { return stream_.stream_.get(); }

      private:
        PyStream& stream_;
    };
    void close();
    bool closed() const { return !stream_; }

  private:
    std::unique_ptr<Stream> stream_;
    std::atomic<std::thread::id> user_{};
    int depth_ = 0;
};

/// The block of `with stream.record()`.
nanobind::object new_recording(nanobind::object stream);

}  // namespace weft::python
