// SPDX-License-Identifier: Apache-2.0
// The quadratic phases of iqp: theta(x) = sum d_i x_i + sum over i < j of d_ij x_i x_j, as exact turns. Needs
// encode_interface.glsl.h, `p`, `values` and the constants kMostAngles and kMostRows from the shader. A
// workgroup makes one slab or several small states. qubits() and features() are constants if the kernel was
// specialized for one number of qubits.
WEFT_GPU uint qubits() {
    return kQubits != 0u ? kQubits : p.qubits;
}
WEFT_GPU uint features() {
    return kQubits != 0u ? kQubits * (kQubits + 1u) / 2u : p.features;
}

WEFT_GROUP(Phase, angles, kMostAngles);  // angle i of row r: [r * features + i]
WEFT_GROUP(uint, bad_position, kMostRows);
WEFT_GROUP(uint, bad_fault, kMostRows);
WEFT_GROUP_ONE(uint, any_bad);

WEFT_GPU void load_angles(uint row, uint rows) {
    for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x) {
        bad_position[r] = 0u;
        bad_fault[r] = kEncodeGood;
    }
    if (gl_LocalInvocationIndex == 0) any_bad = 0u;
    barrier();
    const uint begin = p.in_base + row * features();
    for (uint at = gl_LocalInvocationIndex; at < rows * features(); at += gl_WorkGroupSize.x) {
        const Raw raw = values[begin + at];
        if (fault_of(raw) != kEncodeGood) any_bad = 1u;
        angles[at] = phase_of(raw);
    }
    barrier();
    if (any_bad != 0u) {
        for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x)
            for (uint k = features(); k-- > 0u;) {
                const uint fault = fault_of(values[begin + r * features() + k]);
                if (fault == kEncodeGood) continue;
                bad_fault[r] = fault;
                bad_position[r] = k;
            }
        barrier();
    }
}

// Position of d_ij, i < j, among the angles of a row: pairs (0,1) (0,2) .. (1,2) .. follow the d_i.
WEFT_GPU uint pair_position(uint i, uint j) {
    return qubits() + i * qubits() - i * (i + 1u) / 2u + j - i - 1u;
}

// Sum of d_ij over the qubits j of `others`, none of which is i.
WEFT_GPU Phase coupling(uint row, uint i, uint others) {
    Phase sum = no_phase();
    while (others != 0u) {
        const uint j = findLSB(others);
        others &= others - 1u;
        sum = add_phases(sum, angles[row * features() + pair_position(min(i, j), max(i, j))]);
    }
    return sum;
}

WEFT_GPU Phase theta(uint row, uint x) {
    Phase sum = no_phase();
    while (x != 0u) {
        const uint i = findLSB(x);
        x &= x - 1u;
        sum = add_phases(sum, angles[row * features() + i]);
        sum = add_phases(sum, coupling(row, i, x));
    }
    return sum;
}

// Writes the status of the rows of a workgroup.
WEFT_GPU void write_status(uint row, uint from, uint rows, uint block) {
    const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
    for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x)
        if (!by_row || block == 0u)
            status[(by_row ? p.row_base + row : from) + r] = uvec2(bad_fault[r], bad_position[r]);
}
