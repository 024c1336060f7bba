// SPDX-License-Identifier: Apache-2.0
// One set of names for matrix units through two extensions. GLSL only. With WEFT_KHR, for compilers that have
// it, GL_KHR_cooperative_matrix is used, otherwise GL_NV_cooperative_matrix.
#ifndef WEFT_SHARED_GRAM_UNITS_H
#define WEFT_SHARED_GRAM_UNITS_H

#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require

#if defined(WEFT_KHR)
#pragma use_vulkan_memory_model
#extension GL_KHR_cooperative_matrix : require
#define MatrixA coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define MatrixB coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define MatrixSum coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>
#define matrix_load_rows(matrix, from, at, stride) \
    coopMatLoad(matrix, from, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define matrix_load_columns(matrix, from, at, stride) \
    coopMatLoad(matrix, from, at, stride, gl_CooperativeMatrixLayoutColumnMajor)
#define matrix_store(matrix, to, at, stride) \
    coopMatStore(matrix, to, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define matrix_add_product(a, b, sum) coopMatMulAdd(a, b, sum)
#else
#extension GL_NV_cooperative_matrix : require
#define MatrixA fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define MatrixB fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define MatrixSum fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>
#define matrix_load_rows(matrix, from, at, stride) coopMatLoadNV(matrix, from, at, stride, false)
#define matrix_load_columns(matrix, from, at, stride) coopMatLoadNV(matrix, from, at, stride, true)
#define matrix_store(matrix, to, at, stride) coopMatStoreNV(matrix, to, at, stride, false)
#define matrix_add_product(a, b, sum) coopMatMulAddNV(a, b, sum)
#endif

#endif
