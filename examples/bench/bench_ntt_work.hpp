// SPDX-License-Identifier: Apache-2.0
// Buffers and clocks of bench_ntt, for one field.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

namespace bench {

/// The seed of the values that transforms take.
inline constexpr std::uint64_t kNttSeed = 1;

/// Limb: the limb type of the field.
template <class Limb>
class NttWork {
  public:
    /// With `elements` random values, of which transforms use as many as they need. Drivers may clear memory
    /// after allocations for a while, which slows other work, so the first `warm_s` seconds of each
    /// measurement do not count.
    NttWork(weft::Backend& backend, weft::Field field, std::uint64_t elements, double warm_s);

    weft::Field field() const { return info_.field; }
    const weft::FieldInfo& info() const { return info_; }
    unsigned element_bytes() const { return info_.element_bytes; }
    double bytes_per_s() const { return bytes_per_s_; }        ///< read and written by a copy
    double products_per_s() const { return products_per_s_; }  ///< of a kernel of nothing else

    /// Median time of the forward transforms of a batch, out of place.
    double seconds_of(const weft::NttShape& shape, const weft::NttOptions& options, int repeats);
    /// The same in turns with `other`, which puts transforms on the device so many times and waits: both
    /// times.
    std::pair<double, double> seconds_in_turns(const weft::NttShape& shape, const weft::NttOptions& options,
                                               int repeats, const std::function<void(int)>& other);
    double seconds_of_extension(const weft::NttShape& shape, std::uint32_t blowup, int repeats);
    unsigned passes(const weft::NttShape& shape, const weft::NttOptions& options);
    /// Whether values at random points are right, after seconds_of.
    bool verify(const weft::NttShape& shape, const weft::NttOptions& options);
    /// The first `elements` values that the last transforms made.
    std::vector<Limb> made(std::uint64_t elements);

  private:
    using Limbs = weft::Buffer<Limb>;
    using Scalar = std::vector<Limb>;
    using Runs = std::function<void(int)>;
    weft::Sequence recorded(const weft::NttShape& shape, const weft::NttOptions& options);
    Runs runs_of(const weft::Sequence& steps);
    std::vector<double> medians_of(const std::vector<Runs>& all, int repeats) const;
    double median_of(const weft::Sequence& steps, int repeats);
    weft::BufferView<Limb> array(const Limbs& limbs, std::uint64_t first, std::uint64_t count) const;
    Scalar product(const Scalar& a, const Scalar& b);
    Scalar power(Scalar x, std::uint64_t exponent);
    void measure_floors(int repeats);

    weft::Backend& backend_;
    const weft::FieldInfo& info_;
    std::uint64_t elements_;
    double warm_s_;
    weft::Stream stream_;
    Limbs in_, out_;
    double bytes_per_s_ = 0, products_per_s_ = 0;
};

}  // namespace bench
