// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: kernel matrices in files that survive their process.
#include <weft/ops/kernel_store.hpp>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/handle.hpp"
#include "capi/ops/kernel_options.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

namespace {

/// What a store is filled from.
struct Source {
    const weft_kernel_circuit* circuit;
    weft_type type;
    weft_const_span x, y;
};

template <class Where>
weft::OpReport fill(const char* function, Where& owner, weft_kernel_store& store, const Source& from,
                    const weft::KernelMatrixHostOptions& options) {
    const weft::ElementType type = element_type_of(function, "x_type", from.type);
    const weft::ConstHostArray x = array_of(function, "x", from.x, type);
    const bool square = is_empty(from.y);
    const weft::ConstHostArray y = square ? weft::ConstHostArray() : array_of(function, "y", from.y, type);
    if (are_states(function, from.type, from.circuit)) {
        if (square) return weft::kernel_matrix(owner, x, store.object, store.shape, options);
        return weft::kernel_matrix(owner, x, y, store.object, store.shape, options);
    }
    const weft::KernelMatrixCircuit circuit = circuit_of(function, from.circuit);
    if (square) return weft::kernel_matrix(owner, circuit, x, store.object, store.shape, options);
    return weft::kernel_matrix(owner, circuit, x, y, store.object, store.shape, options);
}

}  // namespace

weft_status weft_kernel_store_create(const char* file, weft_kernel_shape shape, weft_type type,
                                     uint64_t tile_bytes, weft_kernel_store** store) {
    constexpr const char* kName = "weft_kernel_store_create";
    return guarded(kName, [&] {
        given(kName, "store", store);
        *store = nullptr;
        const weft::KernelMatrixShape sizes = kernel_shape_of(kName, shape);
        weft::KernelMatrixStoreOptions options;
        if (tile_bytes != 0) options.tile_bytes = tile_bytes;
        *store = new weft_kernel_store(sizes, std::filesystem::path(&given(kName, "file", file)), sizes,
                                       element_type_of(kName, "type", type), options);
    });
}

WEFT_DEFINE_HANDLE(weft_kernel_store)

weft_status weft_kernel_store_fill(weft_kernel_store* store, weft_backend* backend,
                                   const weft_kernel_circuit* circuit, weft_type x_type, weft_const_span x,
                                   weft_const_span y, const weft_kernel_options* options,
                                   weft_report* report) {
    constexpr const char* kName = "weft_kernel_store_fill";
    const Uses uses(store);
    return with_devices(kName, backend, [&](auto& owner) {
        check_size(kName, "weft_report", report);
        weft_kernel_store& handle = given(kName, "store", store);
        const Owner::Use use(handle.owner, kName);
        const weft::KernelMatrixHostOptions all = kernel_host_options(kName, options);
        put_report(kName, with_c_defaults([&] {
                       return fill(kName, owner, handle, {circuit, x_type, x, y}, all);
                   }),
                   report);
    });
}

weft_status weft_kernel_store_describe(weft_kernel_store* store, weft_kernel_store_info* info) {
    constexpr const char* kName = "weft_kernel_store_describe";
    const Uses uses(store);
    return guarded(kName, [&] {
        weft_kernel_store& handle = given(kName, "store", store);
        const Owner::Use use(handle.owner, kName);
        const weft::HostArray values = handle.object.values();
        write_report(kName, "weft_kernel_store_info",
                     weft_kernel_store_info{0,
                                            0,
                                            handle.object.tiles(),
                                            handle.object.kept(),
                                            handle.object.damaged(),
                                            {values.data, values.bytes()}},
                     info);
    });
}

weft_status weft_kernel_store_finish(weft_kernel_store* store) {
    constexpr const char* kName = "weft_kernel_store_finish";
    const Uses uses(store);
    return guarded(kName, [&] {
        weft_kernel_store& handle = given(kName, "store", store);
        const Owner::Use use(handle.owner, kName);
        handle.object.finish();
    });
}
