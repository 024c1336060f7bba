// SPDX-License-Identifier: Apache-2.0
// Kernel operators in every place where they can be made.
#pragma once

#include <weft/weft.hpp>

#include "conformance/places.hpp"

namespace weft_test {

/// The operator of these arguments of its constructor, without the stream or backend.
template <class Place, class... Arguments>
auto operator_at([[maybe_unused]] Place& place, const Arguments&... a) {
#ifdef WEFT_CONFORMANCE_C
    return c_kernel_operator(place, a...);
#else
#ifdef WEFT_CONFORMANCE_CUDA
    if constexpr (Place::kCuda && Place::kHost)
        return weft::cuda::KernelOperator(a...);
    else if constexpr (Place::kCuda)
        return weft::cuda::KernelOperator(place.stream(), a...);
    else
#endif
        if constexpr (Place::kHost)
        return weft::KernelOperator(place.backend(), a...);
    else
        return weft::KernelOperator(place.stream(), a...);
#endif
}

}  // namespace weft_test
