// SPDX-License-Identifier: Apache-2.0
// What bench_devices measures: calls on host memory whose results are verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace bench {

/// Where the arrays of a field addition lie.
enum class Memory {
    ordinary,
    page_locked,  ///< a HostBuffer of all devices
    registered,   ///< ordinary pages, with a HostRegistration of all devices
};

struct Sizes {
    std::uint64_t field_elements = 0, encode_samples = 0, kernel_samples = 0, operator_samples = 0;
    std::uint32_t encode_qubits = 0, kernel_qubits = 0;
};

/// The result of device 0 alone, with which that of several devices must agree in every bit, but for products
/// with an operator, whose sums one device makes in another order than several.
using Reference = std::vector<std::byte>;

class Work {
  public:
    virtual ~Work() = default;
    /// On one device as a Backend, otherwise on all of them.
    virtual weft::OpReport run() = 0;
    /// Compares the result of the last run and destroys it.
    virtual bool right() = 0;
    /// What `items` counts in rates.
    virtual const char* unit() const = 0;
    /// In the unit, of one run.
    virtual double items() const = 0;
    /// Moved between host and devices by one run; 0: does not describe the work.
    virtual double bytes() const = 0;
    /// How the devices share it, if that is a choice.
    virtual std::string plan() const { return ""; }
};

/// Sums of field elements, compared with host arithmetic as a whole. Errors: unsupported - the pages cannot
/// be registered with a device.
std::unique_ptr<Work> field_work(weft::Devices& devices, const Sizes& sizes, Memory memory);
/// Angle encoding. An empty `reference` takes the first result, otherwise results are compared with it.
std::unique_ptr<Work> encode_work(weft::Devices& devices, const Sizes& sizes, Reference& reference);
/// A square kernel matrix of features: a closed form, or with re-uploads states and their products.
std::unique_ptr<Work> kernel_work(weft::Devices& devices, const Sizes& sizes, bool reupload,
                                  Reference& reference);

/// The product of a vector with a kernel operator of 8 qubits, from every value of K. Results must agree
/// within the bound that the operator states. Software devices are asked for symmetry, which GPUs choose.
std::unique_ptr<Work> operator_work(weft::Devices& devices, const Sizes& sizes, Reference& reference);

/// Bytes a second that `threads` threads copy between two arrays of `bytes` each, in GB/s; median of several.
double host_copy_gb_per_s(std::size_t bytes, unsigned threads, int repeats);

}  // namespace bench
