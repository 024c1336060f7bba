// SPDX-License-Identifier: Apache-2.0
// iqp without the bits above a slab: phases and the transform over the lowest kSlabBits bits of the index.
// Needs encode_iqp_slab.glsl.h. No include guard: read once for each kernel.

WEFT_MAIN() {
    const uint bits = min(qubits(), kSlabBits), block_bits = qubits() - bits;
    const uint per_workgroup = 1u << (kSlabBits - bits);
    for (uint workgroup = gl_WorkGroupID.x; workgroup * per_workgroup < count;
         workgroup += gl_NumWorkGroups.x) {
        const uint from = workgroup * per_workgroup, rows = min(per_workgroup, count - from),
                   element = p.base + first + from;
        const uint row = element >> block_bits, block = element & ((1u << block_bits) - 1u);
        load_angles(row, rows);
        write_status(row, from, rows, block);
        if ((p.flags & kEncodeCheckOnly) == 0u)
            make_slab(row, rows, bits, block, (from << bits) / (kStoreWide ? 1u : 2u));
        barrier();
    }
}
