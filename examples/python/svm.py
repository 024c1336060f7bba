# SPDX-License-Identifier: Apache-2.0
"""A support vector machine on a quantum kernel: tumours told apart by their first eight principal components."""

from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import weftgpu
from weftgpu.sklearn import QuantumKernel

QUBITS = 8  # one for each component


def main() -> int:
    x, y = load_breast_cancer(return_X_y=True)
    train, test, train_y, test_y = train_test_split(x, y, random_state=1, stratify=y)

    # The scale decides how far apart two rows are as states, so it is searched for, like C.
    model = make_pipeline(StandardScaler(), PCA(QUBITS, whiten=True), SVC(kernel=QuantumKernel(map="ryrz")))
    choices = {"svc__kernel__scale": [0.1, 0.2, 0.4, 0.8], "svc__C": [1, 10]}
    search = GridSearchCV(model, choices, cv=5).fit(train, train_y)

    accuracy = search.score(test, test_y)
    print(f"{weftgpu.default_backend().name}: {len(train)} rows, {QUBITS} qubits")
    print(f"best of {len(search.cv_results_['params'])}: {search.best_params_}")
    print(f"accuracy {search.best_score_:.3f} in cross-validation, {accuracy:.3f} on {len(test)} rows not seen before")
    return 0 if accuracy > 0.9 else 1


if __name__ == "__main__":
    raise SystemExit(main())
