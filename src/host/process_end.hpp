// SPDX-License-Identifier: Apache-2.0
// The end of a process while threads use a driver. Some drivers free what they have in a handler of exit(),
// and a thread that is inside such a driver then, or that enters it later, crashes the process.
#pragma once

#include <functional>

namespace weft::core {

/// A call of a driver. From the end of the process on, every thread but the one that ends it waits here for
/// ever, so it ends with the process.
class DriverCall {
  public:
    DriverCall() noexcept;
    ~DriverCall();
    DriverCall(const DriverCall&) = delete;
    DriverCall& operator=(const DriverCall&) = delete;
};

/// Whether this thread ends the process, and has done what follows here. Drivers may be gone then.
bool ends_process() noexcept;

/// Something that may be at work when the process ends: exit() then waits, for seconds at most, until no
/// thread is inside a driver and until `busy` is false. Handlers of exit() that were registered before the
/// first of these objects, by a driver for example, run afterwards. Not in a forked child.
class BusyAtEnd {
  public:
    /// `busy` must not throw, and may take no lock that is held during calls of a driver.
    explicit BusyAtEnd(std::function<bool()> busy);
    ~BusyAtEnd();
    BusyAtEnd(const BusyAtEnd&) = delete;
    BusyAtEnd& operator=(const BusyAtEnd&) = delete;

  private:
    friend struct ProcessEnd;
    const std::function<bool()> busy_;
};

}  // namespace weft::core
