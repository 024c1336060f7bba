// SPDX-License-Identifier: Apache-2.0
// The rows of bench_ntt outside device memory: a loop on the processor, and transforms that are streamed from
// host memory.
#pragma once

#include "bench.hpp"
#include "bench_ntt_work.hpp"

namespace bench {

/// Forward transforms of a batch from natural to bit-reversed order. Puts rows into report["processor"] and
/// report["streamed"], and returns whether all values are the same, resident ones included.
template <class Limb>
bool ntt_host_rows(weft::Backend& backend, NttWork<Limb>& work, const weft::NttShape& shape,
                   const Options& options, Json& report);

}  // namespace bench
