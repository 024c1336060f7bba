# SPDX-License-Identifier: Apache-2.0
"""Vectors over finite fields: products and an inner product, compared with those of galois and of Python's integers."""

import numpy as np

import weftgpu

try:
    import galois
except ImportError:
    galois = None

ELEMENTS = 100_000


def compare_with_galois(F: weftgpu.Field, a: np.ndarray, b: np.ndarray, product: np.ndarray) -> bool:
    # Elements of one limb are the same integers in both packages, so arrays pass without a conversion of values.
    GF = galois.GF(F.modulus)
    same = np.array_equal(GF(a) * GF(b), product)
    print(f"  galois {galois.__version__}: {'the same' if same else 'DIFFERENT'}")
    return same


def main() -> int:
    right = True
    for name in ("babybear", "bls12-381-fr"):
        F = weftgpu.Field(name)
        a, b = F.random(ELEMENTS, seed=1), F.random(ELEMENTS, seed=2)
        product = F.mul(a, b)
        seconds = weftgpu.last_report().wall_s
        total = F.to_ints(F.inner_product(a, b))
        print(f"{name}: products of arrays {a.shape} {a.dtype} in {seconds * 1e3:.2f} ms; their sum is {total}")

        # Python's integers know every field. a * b - product is a multiple of the modulus, and so is the sum.
        x, y, z = F.to_ints(a), F.to_ints(b), F.to_ints(product)
        right &= all((i * j - k) % F.modulus == 0 and k < F.modulus for i, j, k in zip(x, y, z))
        right &= (sum(z) - total) % F.modulus == 0
        if galois is not None and F.limbs == 1:
            right &= compare_with_galois(F, a, b, product)
    if galois is None:
        print("galois is not installed: nothing was compared with it")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
