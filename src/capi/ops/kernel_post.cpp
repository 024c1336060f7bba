// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: what follows a kernel matrix in host memory.
#include <weft/ops/kernel_post.hpp>

#include "capi/arrays.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// Calls body(span) with the elements of K as floats or doubles.
template <class Span, class Body>
void with_values(const char* function, weft_type type, Span k, Body&& body) {
    if (type == WEFT_FLOAT32)
        body(span_of<float>(function, "k", k));
    else if (type == WEFT_FLOAT64)
        body(span_of<double>(function, "k", k));
    else
        refuse(std::string(function) + ": k_type is neither WEFT_FLOAT32 nor WEFT_FLOAT64 (got " +
               std::to_string(type) + ")");
}

std::span<const double> labels_of(const char* function, const double* labels, std::uint64_t rows) {
    if (rows != 0) given(function, "labels", labels);
    return {labels, static_cast<std::size_t>(rows)};
}

}  // namespace

weft_status weft_kernel_alignment(weft_type k_type, weft_const_span k, const double* labels, uint64_t rows,
                                  uint32_t rescale_labels, double* alignment) {
    constexpr const char* kName = "weft_kernel_alignment";
    return guarded(kName, [&] {
        given(kName, "alignment", alignment);
        const bool rescale = flag_of(kName, "rescale_labels", rescale_labels);
        with_values(kName, k_type, k, [&](auto values) {
            *alignment = weft::kernel_alignment(values, labels_of(kName, labels, rows), rescale);
        });
    });
}

weft_status weft_kernel_polarity(weft_type k_type, weft_const_span k, const double* labels, uint64_t rows,
                                 uint32_t rescale_labels, double* polarity) {
    constexpr const char* kName = "weft_kernel_polarity";
    return guarded(kName, [&] {
        given(kName, "polarity", polarity);
        const bool rescale = flag_of(kName, "rescale_labels", rescale_labels);
        with_values(kName, k_type, k, [&](auto values) {
            *polarity = weft::kernel_polarity(values, labels_of(kName, labels, rows), rescale);
        });
    });
}

weft_status weft_kernel_center(weft_type k_type, weft_span k, uint64_t rows) {
    constexpr const char* kName = "weft_kernel_center";
    return guarded(kName, [&] {
        with_values(kName, k_type, k, [&](auto values) { weft::center_kernel_matrix(values, rows); });
    });
}

weft_status weft_kernel_clip(weft_type k_type, weft_span k, uint64_t rows, uint64_t* negative) {
    constexpr const char* kName = "weft_kernel_clip";
    return guarded(kName, [&] {
        with_values(kName, k_type, k, [&](auto values) {
            const std::uint64_t found = weft::clip_kernel_matrix(values, rows);
            if (negative != nullptr) *negative = found;
        });
    });
}

weft_status weft_kernel_normalize(weft_type k_type, weft_span k, uint64_t rows, double jitter) {
    constexpr const char* kName = "weft_kernel_normalize";
    return guarded(kName, [&] {
        with_values(kName, k_type, k,
                    [&](auto values) { weft::normalize_kernel_matrix(values, rows, jitter); });
    });
}
