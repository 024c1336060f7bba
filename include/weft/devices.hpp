// SPDX-License-Identifier: Apache-2.0
// Several devices of this machine behind one call: every function on host memory takes a Devices in place of
// a Backend.
//
// Example:
//     weft::Devices devices{"all"};
//     std::vector<std::uint64_t> a(4000, 1), b(4000, 2), sum(4000);  // 1000 elements of 4 limbs
//     const weft::OpReport report = weft::field_add(devices, weft::Field::bn254_fr, a, b, sum);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <weft/backend.hpp>
#include <weft/config.hpp>

namespace weft {

namespace core {
class DevicesState;
}

/// One Backend for each device, which share the work of a call. Move-only. May be used from many threads
/// simultaneously.
///
/// A call is cut into shares, and each device takes the next one when it has finished its last. The first
/// shares are large, the last ones small, and a device takes one only if it will finish before the others
/// have finished everything. Each device streams its share as a call on its own Backend would, with its own
/// chunks, copy threads and page-locked memory. Calls that are too small to be shared run on the fastest
/// device alone. OpReport::devices says what each device did, and why a device did nothing.
///
/// Results are those of one device: the same bits for fields and lattices, and for kernel matrices if the
/// devices are of one kind. Errors, progress and cancellation are as on a Backend; progress is reported on
/// the caller's thread.
///
/// If a device is lost during a call, or its memory is exhausted, the other devices do what it has not
/// finished, DeviceReport::note has the error, and no later call uses a lost device. Work in place cannot be
/// repeated, so that such a call fails. If all devices are lost, calls fail with Errc::device_lost.
class Devices {
  public:
    /// `Config::device` names the devices: "all" - every GPU, or the software devices if there is no GPU;
    /// otherwise names as of a Backend, separated by commas: "0,2", "nvidia" (all whose name has that part).
    /// A device that is named twice gets two backends ("cpu,cpu"). Empty: the best device alone.
    ///
    /// Without Config::copy_threads the devices divide the cores among them. Errors: as Backend;
    /// invalid_argument - a name that matches nothing.
    explicit Devices(const Config& config = Config::from_env());
    /// The same with `list` as Config::device.
    explicit Devices(const std::string& list, Config config = Config::from_env());
    /// One Backend for each Config. Errors: invalid_argument - no Config.
    explicit Devices(const std::vector<Config>& configs);
    Devices(Devices&&) noexcept;
    Devices& operator=(Devices&&) noexcept;
    ~Devices();

    std::size_t size() const;
    /// Errors: invalid_argument - beyond the last.
    Backend& operator[](std::size_t index) const;
    /// Whether a call found the device lost, so that later calls leave it out.
    bool lost(std::size_t index) const;

    /// Backend::wait_idle, save_pipeline_cache and trim of every device that is not lost.
    void wait_idle();
    bool save_pipeline_cache();
    void trim();

  private:
    friend struct detail::Access;
    core::DevicesState& state() const;

    std::shared_ptr<core::DevicesState> state_;
};

}  // namespace weft
