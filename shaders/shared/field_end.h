// SPDX-License-Identifier: Apache-2.0
// Undefines the parameters of field_limbs.h, field_parts.h and field_montgomery.h. No include guard.
#undef FIELD_LIMBS
#undef FIELD_LIMB
#undef FIELD_COUNT
#undef FIELD_PARTS
#undef FIELD_PART_COUNT
#undef FIELD_PART_BITS
