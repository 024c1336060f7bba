// SPDX-License-Identifier: Apache-2.0
#include "capi/ops/kernel_options.hpp"

#include <cstdint>

#include "capi/arrays.hpp"
#include "capi/batch_options.hpp"
#include "capi/structs.hpp"

namespace weft::capi {

namespace {

[[noreturn]] void refuse_member(const char* function, const char* member, const char* where) {
    refuse(std::string(function) + ": weft_kernel_options." + member + " applies to " + where + " alone");
}

weft_kernel_options read(const char* function, const weft_kernel_options* options) {
    return read_options(function, "weft_kernel_options", options);
}

/// The members that both kinds of options of matrices have.
template <class Options>
Options matrix_options(const char* function, const weft_kernel_options& all) {
    if (all.type != 0) refuse_member(function, "type", "kernel operators");
    if (all.symmetric != 0) refuse_member(function, "symmetric", "kernel operators");
    if (all.low_rank != 0) refuse_member(function, "low_rank", "kernel operators");
    Options options;
    if (all.state_tile > static_cast<std::uint64_t>(INT64_MAX))
        refuse(std::string(function) + ": weft_kernel_options.state_tile is too large (got " +
               std::to_string(all.state_tile) + ")");
    if (all.state_tile != 0) options.state_tile = static_cast<std::int64_t>(all.state_tile);
    options.autotune = choice_of(function, "weft_kernel_options.autotune", all.autotune);
    options.bulk_states = choice_of(function, "weft_kernel_options.bulk_states", all.bulk_states);
    if (all.vram_fraction != 0) options.vram_fraction = all.vram_fraction;
    options.normalize = flag_of(function, "weft_kernel_options.normalize", all.normalize);
    options.jitter = all.jitter;
    return options;
}

}  // namespace

bool are_states(const char* function, weft_type x_type, const weft_kernel_circuit* circuit) {
    if (x_type != WEFT_COMPLEX64 && x_type != WEFT_COMPLEX128) return false;
    if (circuit != nullptr)
        refuse(std::string(function) + ": circuit does not apply to states (got one, need NULL)");
    return true;
}

KernelMatrixCircuit circuit_of(const char* function, const weft_kernel_circuit* circuit) {
    static constexpr FeatureMap kMaps[] = {FeatureMap::ryrz, FeatureMap::ry};
    const weft_kernel_circuit all = read_options(function, "weft_kernel_circuit", circuit);
    KernelMatrixCircuit made;
    made.map = enum_of(function, "weft_kernel_circuit.map", all.map, kMaps);
    if (!is_empty(all.weights))
        made.weights =
            array_of(function, "weights", all.weights,
                     element_type_of(function, "weft_kernel_circuit.weights_type", all.weights_type));
    made.reupload = flag_of(function, "weft_kernel_circuit.reupload", all.reupload);
    if (all.scale != 0) made.scale = all.scale;
    return made;
}

KernelMatrixShape kernel_shape_of(const char* function, const weft_kernel_shape& shape) {
    require_reserved(function, "weft_kernel_shape", shape.reserved);
    return {shape.samples, shape.others, shape.qubits};
}

KernelMatrixHostOptions kernel_host_options(const char* function, const weft_kernel_options* options) {
    const weft_kernel_options all = read(function, options);
    auto made = matrix_options<KernelMatrixHostOptions>(function, all);
    made.batch = batch_options(function, all.batch);
    return made;
}

KernelMatrixOptions kernel_resident_options(const char* function, const weft_kernel_options* options) {
    const weft_kernel_options all = read(function, options);
    if (all.batch != nullptr) refuse_member(function, "batch", "host memory");
    return matrix_options<KernelMatrixOptions>(function, all);
}

KernelOperatorOptions kernel_operator_options(const char* function, const weft_kernel_options* options) {
    const weft_kernel_options all = read(function, options);
    if (all.autotune != 0) refuse_member(function, "autotune", "kernel matrices");
    if (all.bulk_states != 0) refuse_member(function, "bulk_states", "kernel matrices");
    if (all.state_tile != 0) refuse_member(function, "state_tile", "kernel matrices");
    if (all.batch != nullptr) refuse_member(function, "batch", "kernel matrices");
    KernelOperatorOptions made;
    if (all.type != 0) made.type = element_type_of(function, "weft_kernel_options.type", all.type);
    made.normalize = flag_of(function, "weft_kernel_options.normalize", all.normalize);
    made.jitter = all.jitter;
    made.symmetric = choice_of(function, "weft_kernel_options.symmetric", all.symmetric);
    made.low_rank = choice_of(function, "weft_kernel_options.low_rank", all.low_rank);
    if (all.vram_fraction != 0) made.vram_fraction = all.vram_fraction;
    return made;
}

}  // namespace weft::capi
