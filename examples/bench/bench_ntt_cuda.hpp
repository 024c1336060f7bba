// SPDX-License-Identifier: Apache-2.0
// The CUDA side of bench_ntt, in builds that have weft::cuda.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/ops/ntt.hpp>

namespace bench {

/// Transforms of `values`, which are one batch, by CUDA.
template <class Limb>
class NttTwin {
  public:
    NttTwin(weft::Field field, const std::vector<Limb>& values);
    ~NttTwin();
    /// Makes the forward transforms so many times and waits.
    void run(const weft::NttShape& shape, const weft::NttOptions& options, int times) const;
    std::vector<Limb> made() const;

  private:
    struct Impl;
    weft::Field field_;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bench
