// SPDX-License-Identifier: Apache-2.0
// Eight floats as one unit of four doubles, the fastest access on devices that load and store lane by lane.
// GLSL only.
const uint kUnitFloats = 8u;

float unit_element(dvec4 unit, uint e) {
    return uintBitsToFloat(unpackDouble2x32(unit[e / 2u])[e % 2u]);
}
double pair_of(float of[kUnitFloats], uint i) {
    return packDouble2x32(floatBitsToUint(vec2(of[2u * i], of[2u * i + 1u])));
}
dvec4 unit_of(float of[kUnitFloats]) {
    return dvec4(pair_of(of, 0u), pair_of(of, 1u), pair_of(of, 2u), pair_of(of, 3u));
}
