// SPDX-License-Identifier: Apache-2.0
// Buffers and clocks of bench_ntt, for one field.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/weft.hpp>

namespace bench {

class NttWork {
  public:
    /// With `elements` random values, of which transforms use as many as they need.
    NttWork(weft::Backend& backend, weft::Field field, std::uint64_t elements);

    weft::Field field() const { return info_.field; }
    unsigned element_bytes() const { return info_.element_bytes; }
    double bytes_per_s() const { return bytes_per_s_; }        ///< read and written by a copy
    double products_per_s() const { return products_per_s_; }  ///< of a kernel of nothing else

    /// Median time of the forward transforms of a batch, out of place.
    double seconds_of(const weft::NttShape& shape, const weft::NttOptions& options, int repeats);
    double seconds_of_extension(const weft::NttShape& shape, std::uint32_t blowup, int repeats);
    unsigned passes(const weft::NttShape& shape, const weft::NttOptions& options);
    /// Whether values at random points are right, after seconds_of.
    bool verify(const weft::NttShape& shape, const weft::NttOptions& options);

  private:
    using Words = weft::Buffer<std::uint32_t>;
    double median_of(const weft::Sequence& steps, int repeats);
    weft::DeviceArray array(const Words& words, std::uint64_t first, std::uint64_t count) const;
    std::vector<std::uint64_t> power(std::vector<std::uint64_t> x, std::uint64_t exponent);
    void measure_floors(int repeats);

    weft::Backend& backend_;
    const weft::FieldInfo& info_;
    std::uint64_t elements_;
    weft::Stream stream_;
    Words in_, out_;
    double bytes_per_s_ = 0, products_per_s_ = 0;
};

}  // namespace bench
