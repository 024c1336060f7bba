// SPDX-License-Identifier: Apache-2.0
// iqp of up to 6 qubits: an invocation sums the signed phases of one amplitude. A workgroup of 2^slab_bits
// invocations makes as many whole states as it has invocations for. Needs encode_interface.glsl.h, and the
// push constants and buffers of encode_iqp_direct.comp from the shader. No include guard: read once for each
// kernel.

WEFT_CONST uint kMostAngles = 192, kMostRows = 128;  // maxima over the number of qubits, for 256 amplitudes
#include "encode_iqp.glsl.h"

WEFT_GROUP(Complex, phases, 256);

WEFT_MAIN() {
    const uint lane = gl_LocalInvocationIndex, size = 1u << p.qubits,
               per_workgroup = gl_WorkGroupSize.x >> p.qubits;
    const uint row_in_workgroup = lane >> p.qubits, z = lane & (size - 1u);
    for (uint workgroup = gl_WorkGroupID.x; workgroup * per_workgroup < count;
         workgroup += gl_NumWorkGroups.x) {
        const uint from = workgroup * per_workgroup, rows = min(per_workgroup, count - from),
                   row = p.base + first + from;
        load_angles(row, rows);
        write_status(row, from, rows, 0u);
        Real scale = two_to_minus(p.qubits);
        if (row_in_workgroup < rows) {
            const SinCos a = sincos_of_phase(theta(row_in_workgroup, z));
            phases[lane] = complex(scale * a.cosine, scale * a.sine);
        }
        barrier();
        Complex sum = complex(kZero, kZero);
        if (row_in_workgroup < rows && bad_fault[row_in_workgroup] == kEncodeGood)
            for (uint x = 0u; x < size; ++x) {
                const Complex term = phases[(row_in_workgroup << p.qubits) + x];
                const bool minus = (bitCount(x & z) & 1) != 0;
                sum.re += minus ? -term.re : term.re;
                sum.im += minus ? -term.im : term.im;
            }
        barrier();
        phases[lane] = sum;
        barrier();
        const uint per_store = kStoreWide ? 1u : 2u, to = (from << p.qubits) / per_store;
        if (lane < (rows << p.qubits) / per_store && (p.flags & kEncodeCheckOnly) == 0u)
            states[to + lane] = kStoreWide ? packed(phases[lane], phases[lane])
                                           : packed(phases[2u * lane], phases[2u * lane + 1u]);
        barrier();
    }
}
