# SPDX-License-Identifier: Apache-2.0
"""weftgpu.sklearn. The oracle is a state-vector simulation in NumPy; scikit-learn's own estimators do the rest."""
import doctest
import pickle

import numpy as np
import pytest

import weftgpu

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.decomposition import KernelPCA  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.svm import SVC, SVR  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402
from test_kernel_matrix import oracle  # noqa: E402

import weftgpu.sklearn  # noqa: E402
from weftgpu.sklearn import (  # noqa: E402
    QuantumKernel,
    QuantumKernelPCA,
    QuantumKernelRidge,
    QuantumKernelTransformer,
    QuantumNystroem,
)

WEIGHTS = np.array([[0.3, -1.1, 2.0], [1.7, 0.4, -0.6]])
CIRCUITS = [
    {"map": "ryrz"},
    {"map": "ry", "scale": 0.7},
    {"map": "ryrz", "scale": 1.3, "weights": WEIGHTS, "reupload": True},
    {"map": "ry", "weights": WEIGHTS, "reupload": True},
]


def of_oracle(circuit):
    return {"kind" if name == "map" else name: value for name, value in circuit.items()}


@pytest.fixture
def data(rng):
    x = rng.uniform(0, 2, (40, 3))
    return x, (x[:, 0] > x[:, 1]).astype(int), rng.uniform(0, 2, (15, 3))


def checks_that_fail(estimator):
    if getattr(estimator, "solver", None) != "operator":
        return {}
    return dict.fromkeys(["check_all_zero_sample_weights_error", *(f"check_sample_weight{name}" for name in (
        "s_pandas_series", "s_not_an_array", "s_list", "s_shape", "s_not_overwritten", "_equivalence_on_dense_data",
        "_equivalence_on_sparse_data"))], "the operator takes no weights")


@parametrize_with_checks([
    QuantumKernelTransformer(),
    QuantumNystroem(n_components=7),
    QuantumKernelRidge(),
    QuantumKernelRidge(kernel=QuantumKernel(map="ry", scale=0.3), alpha=0.1),
    QuantumKernelRidge(solver="operator"),
    QuantumKernelPCA(),
], expected_failed_checks=checks_that_fail)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("circuit", CIRCUITS)
def test_kernel(circuit, data):
    x, _, other = data
    kernel, expected = QuantumKernel(**circuit), of_oracle(circuit)
    k = kernel(x)
    assert k.dtype == np.float64 and np.array_equal(k, k.T)
    assert abs(k - oracle(x, **expected)).max() < 1e-12
    assert abs(kernel(x, other) - oracle(x, other, **expected)).max() < 1e-12
    assert np.array_equal(kernel.diag(x), np.ones(40)) and abs(k.diagonal() - 1).max() < 1e-12
    single = QuantumKernel(**circuit, dtype="float32")(x, other)
    assert single.dtype == np.float32 and abs(single - oracle(x, other, **expected)).max() < 2e-6


@pytest.mark.parametrize("circuit", CIRCUITS)
def test_gradient(circuit, data):
    x = data[0][:10]
    k, gradient = QuantumKernel(**circuit)(x, eval_gradient=True)
    assert k.shape == (10, 10) and gradient.shape == (10, 10, 1)
    # Of fourth order, with a step of its own.
    scale, expected = circuit.get("scale", 1.0), of_oracle(circuit)
    f = {step: oracle(x, **{**expected, "scale": scale * np.exp(step)}) for step in (-2e-3, -1e-3, 1e-3, 2e-3)}
    derivative = (f[-2e-3] - 8 * f[-1e-3] + 8 * f[1e-3] - f[2e-3]) / 12e-3
    assert abs(gradient[:, :, 0] - derivative).max() < 1e-7
    _, none = QuantumKernel(**circuit, scale_bounds="fixed")(x, eval_gradient=True)
    assert none.shape == (10, 10, 0)
    with pytest.raises(ValueError, match="needs Y to be None"):
        QuantumKernel()(x, x, eval_gradient=True)


def test_what_a_kernel_takes(data):
    x, _, other = data
    expected = QuantumKernel()(x, other)
    assert np.array_equal(QuantumKernel()(np.asfortranarray(x), other[::-1][::-1]), expected)
    assert np.array_equal(QuantumKernel()(x.tolist(), other.tolist()), expected)
    assert abs(QuantumKernel()(x.astype(np.float32), other) - expected).max() < 1e-6
    assert np.array_equal(QuantumKernel()([[0, 1], [1, 0]]), QuantumKernel()([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="weights"):
        QuantumKernel(weights=WEIGHTS[:, :2], reupload=True)(x)
    x[3, 1] = np.nan
    with pytest.raises(weftgpu.EncodeError) as error:
        QuantumKernel()(x)
    assert error.value.rows == [3]


def test_kernel_protocol():
    kernel = QuantumKernel(map="ry", scale=0.5, scale_bounds=(0.1, 10))
    assert np.allclose(kernel.theta, np.log(0.5)) and np.allclose(kernel.bounds, np.log([[0.1, 10]]))
    other = kernel.clone_with_theta([np.log(2.0)])
    assert np.isclose(other.scale, 2) and kernel.scale == 0.5 and other.map == "ry"
    assert kernel == clone(kernel) and kernel != other and kernel != QuantumKernel()
    assert kernel.is_stationary() and not QuantumKernel().is_stationary()
    assert QuantumKernel(scale_bounds="fixed").theta.size == 0
    assert repr(kernel) == "QuantumKernel(map='ry', scale=0.5)"
    assert "weights of (2, 3), reupload=True" in repr(QuantumKernel(weights=WEIGHTS, reupload=True))
    weighted = QuantumKernel(weights=WEIGHTS, reupload=True)
    for copy in (pickle.loads(pickle.dumps(weighted)), clone(weighted)):
        assert copy == weighted and np.array_equal(copy.weights, WEIGHTS)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_support_vectors(dtype, data):
    x, y, other = data
    kernel = QuantumKernel(scale=1.2, dtype=dtype)
    expected = SVC(kernel="precomputed").fit(oracle(x, scale=1.2), y).decision_function(oracle(other, x, scale=1.2))
    assert abs(SVC(kernel=kernel).fit(x, y).decision_function(other) - expected).max() < 1e-2
    expected = SVR(kernel="precomputed").fit(oracle(x, scale=1.2), x[:, 2]).predict(oracle(other, x, scale=1.2))
    assert abs(SVR(kernel=kernel).fit(x, x[:, 2]).predict(other) - expected).max() < 1e-2


def test_grid_search(data):
    x, y, _ = data
    grid = GridSearchCV(SVC(kernel=QuantumKernel()), {"kernel__scale": [0.01, 1.0], "C": [1, 10]}, cv=3).fit(x, y)
    assert grid.best_params_["kernel__scale"] == 1.0 and grid.best_score_ > 0.8
    pipeline = make_pipeline(QuantumKernelTransformer(QuantumKernel()), SVC(kernel="precomputed"))
    choices = {"quantumkerneltransformer__kernel__scale": [0.01, 1.0], "svc__C": [1, 10]}
    same = GridSearchCV(pipeline, choices, cv=3).fit(x, y)
    scores = [np.sort(search.cv_results_["mean_test_score"]) for search in (grid, same)]  # the order of choices differs
    assert np.allclose(*scores, atol=0.03)
    restored = pickle.loads(pickle.dumps(same))
    assert np.array_equal(restored.predict(x), same.predict(x))


def test_grid_search_in_worker_processes(data):
    x, y, _ = data
    QuantumKernel()(x)  # the device is open in this process before the workers start
    search = GridSearchCV(SVC(kernel=QuantumKernel()), {"kernel__scale": [0.01, 1.0]}, cv=2, n_jobs=2).fit(x, y)
    assert search.best_params_ == {"kernel__scale": 1.0}


def test_gaussian_process(data):
    x, y, other = data
    kernel = QuantumKernel(scale=0.6, scale_bounds="fixed")
    process = GaussianProcessRegressor(kernel, alpha=1e-2, optimizer=None).fit(x, np.sin(x).sum(1))
    mean, deviation = process.predict(other, return_std=True)
    k, across = oracle(x, scale=0.6) + 1e-2 * np.eye(40), oracle(other, x, scale=0.6)
    assert abs(mean - across @ np.linalg.solve(k, np.sin(x).sum(1))).max() < 1e-8
    variance = 1 - np.einsum("ij,ji->i", across, np.linalg.solve(k, across.T))
    assert abs(deviation - np.sqrt(variance)).max() < 1e-6

    # Data drawn from the prior of a scale: the fit comes back to it.
    truth = QuantumKernel(scale=0.8)
    rows = np.random.default_rng(4).uniform(-2, 2, (120, 2))
    target = np.linalg.cholesky(truth(rows) + 1e-6 * np.eye(120)) @ np.random.default_rng(5).standard_normal(120)
    found = GaussianProcessRegressor(QuantumKernel(scale=1.5, scale_bounds=(0.2, 3)), alpha=1e-6).fit(rows, target)
    assert abs(found.kernel_.scale - 0.8) < 0.05

    combined = ConstantKernel() * QuantumKernel() + RBF() + WhiteKernel()
    assert GaussianProcessRegressor(combined).fit(x, y).kernel_.theta.shape == (4,)
    assert GaussianProcessClassifier(QuantumKernel()).fit(x, y).score(x, y) > 0.9


def test_transformer(data):
    x, _, other = data
    transformer = QuantumKernelTransformer(QuantumKernel(map="ry"))
    k = transformer.fit_transform(x)
    assert np.array_equal(k, k.T) and abs(k - oracle(x, kind="ry")).max() < 1e-12
    assert abs(transformer.transform(other) - oracle(other, x, kind="ry")).max() < 1e-12
    assert transformer.get_feature_names_out()[1] == "quantumkerneltransformer1"
    # Any kernel of scikit-learn has the same protocol.
    assert np.allclose(QuantumKernelTransformer(RBF()).fit(x).transform(other), RBF()(other, x))


def test_nystroem(data):
    x, _, other = data
    whole = QuantumNystroem(n_components=1000, random_state=0).fit(x)  # rank 27 of 40: directions are left out
    assert whole.components_.shape == (40, 3)
    assert abs(whole.transform(x) @ whole.transform(other).T - oracle(x, other)).max() < 1e-6
    part = QuantumNystroem(n_components=12, random_state=3).fit(x)
    sample = x[part.component_indices_]
    assert np.array_equal(part.components_, sample) and len(set(part.component_indices_)) == 12
    expected = oracle(x, sample) @ np.linalg.pinv(oracle(sample)) @ oracle(sample, x)
    assert abs(part.transform(x) @ part.transform(x).T - expected).max() < 1e-6
    assert np.array_equal(QuantumNystroem(n_components=12, random_state=3).fit_transform(x), part.transform(x))
    single = QuantumNystroem(QuantumKernel(dtype="float32"), n_components=40, random_state=0).fit(x)
    assert single.transform(x).dtype == np.float32
    assert abs(single.transform(x) @ single.transform(x).T - oracle(x)).max() < 1e-2
    with pytest.raises(ValueError, match="n_components"):
        QuantumNystroem(n_components=0).fit(x)


def test_nystroem_is_that_of_scikit_learn(rng):
    x = rng.uniform(0, 2, (2000, 6))
    k, chosen = oracle(x, kind="ry"), np.random.RandomState(5).permutation(2000)[:60]
    mine = QuantumNystroem(QuantumKernel(map="ry"), n_components=60, random_state=5).fit(x)
    assert np.array_equal(mine.component_indices_, chosen)
    # scikit-learn asks this kernel for the pairs of the sample alone.
    theirs = Nystroem(kernel=lambda a, b: oracle(a[None], b[None], kind="ry")[0, 0], n_components=60, random_state=5).fit(x)
    features, expected = mine.transform(x), k[:, chosen] @ theirs.normalization_.T
    assert abs(features - expected).max() < 1e-6


def test_ridge(data, rng):
    x, _, other = data
    targets, weights = rng.standard_normal((40, 2)), rng.uniform(0.5, 2, 40)
    mine = QuantumKernelRidge(alpha=0.05).fit(x, targets, sample_weight=weights)
    theirs = KernelRidge(alpha=0.05, kernel="precomputed").fit(oracle(x), targets, sample_weight=weights)
    assert abs(mine.predict(other) - theirs.predict(oracle(other, x))).max() < 1e-8
    assert QuantumKernelRidge().fit(x, targets[:, 0]).predict(other).shape == (15,)


@pytest.mark.parametrize("dtype, error", [("float64", 1e-7), ("float32", 1e-3)])
@pytest.mark.parametrize("circuit", [{}, {"map": "ry", "scale": 0.7}, {
    "weights": np.array([[0.3, -1.1, 2.0, 0.1], [1.7, 0.4, -0.6, 0.9]]), "reupload": True}])
def test_ridge_that_stores_no_matrix(circuit, dtype, error, rng):
    x, other, targets = rng.uniform(0, 2, (150, 4)), rng.uniform(0, 2, (15, 4)), rng.standard_normal((150, 2))
    tol = 1e-10 if dtype == "float64" else 1e-5
    mine = QuantumKernelRidge(QuantumKernel(dtype=dtype, **circuit), alpha=0.2, solver="operator", tol=tol)
    expected = of_oracle(circuit)
    for y in (targets, targets[:, 0]):
        theirs = KernelRidge(alpha=0.2, kernel="precomputed").fit(oracle(x, **expected), y)
        predicted = clone(mine).fit(x, y).predict(other)
        assert predicted.shape == (15, *y.shape[1:])
        assert abs(predicted - theirs.predict(oracle(other, x, **expected))).max() < error
    fitted = pickle.loads(pickle.dumps(mine.fit(x, targets)))
    assert fitted.n_iter_ > 0 and np.array_equal(fitted.predict(other), mine.predict(other))


def test_what_needs_a_stored_matrix(data):
    x, y, _ = data
    ridge = QuantumKernelRidge(solver="operator")
    with pytest.raises(ValueError, match="sample_weight: not with solver='operator'"):
        ridge.fit(x, y, sample_weight=np.ones(40))
    with pytest.raises(ValueError, match="only a QuantumKernel"):
        clone(ridge).set_params(kernel=RBF()).fit(x, y)
    with pytest.raises(ValueError, match="solver: got 'cg'"):
        QuantumKernelRidge(solver="cg").fit(x, y)
    with pytest.warns(ConvergenceWarning, match="not converged: the relative residual is"):
        QuantumKernelRidge(solver="operator", alpha=1e-9, rank=0, max_iter=2).fit(x, y)


@pytest.mark.parametrize("rows", [40, 700])
@pytest.mark.parametrize("circuit", [{}, {"map": "ry", "scale": 0.7}])
def test_principal_components(circuit, rows, rng):
    x, other = rng.uniform(0, 2, (rows, 4)), rng.uniform(0, 2, (15, 4))
    expected = of_oracle(circuit)
    theirs = KernelPCA(5, kernel="precomputed").fit(oracle(x, **expected))
    mine = QuantumKernelPCA(QuantumKernel(**circuit), n_components=5)
    components = mine.fit_transform(x)
    assert np.allclose(mine.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert abs(components - theirs.transform(oracle(x, **expected))).max() < 1e-6
    assert abs(mine.transform(other) - theirs.transform(oracle(other, x, **expected))).max() < 1e-6
    assert mine.get_feature_names_out()[4] == "quantumkernelpca4"
    restored = pickle.loads(pickle.dumps(mine))
    assert np.array_equal(restored.transform(other), mine.transform(other))


def test_principal_components_of_few_directions(rng):
    # One qubit of "ry" has three features, so two directions are left after centring.
    x = rng.uniform(0, 2, (30, 1))
    pca = QuantumKernelPCA(QuantumKernel(map="ry"), n_components=4)
    components = pca.fit_transform(x)
    assert (pca.eigenvalues_[:2] > 0).all() and (pca.eigenvalues_[2:] == 0).all() and (components[:, 2:] == 0).all()
    assert abs(pca.transform(x) - components).max() < 1e-8
    assert (QuantumKernelPCA().fit_transform(np.ones((6, 2))) == 0).all()
    for count in (0, 31):
        with pytest.raises(ValueError, match="need 1 to 30"):
            QuantumKernelPCA(n_components=count).fit(x)


def test_nothing_is_imported_with_the_package(run_python):
    run_python("import sys, weftgpu; assert 'sklearn' not in sys.modules and 'weftgpu.sklearn' not in sys.modules")


def test_without_scikit_learn(run_python):
    done = run_python("import sys; sys.modules['sklearn.base'] = None; import weftgpu.sklearn", check=False)
    assert "weftgpu.sklearn needs scikit-learn 1.6 or newer" in done.stderr


def test_pickles_name_the_module_that_users_import():
    for name in weftgpu.sklearn.__all__:
        thing = getattr(weftgpu.sklearn, name)
        assert thing.__module__ == "weftgpu.sklearn"
        assert pickle.loads(f"cweftgpu.sklearn\n{name}\n.".encode()) is thing
        assert b"_kernel" not in pickle.dumps(thing())


@pytest.mark.parametrize("name", ["__module__", *weftgpu.sklearn.__all__])
def test_docstring(name):
    thing = weftgpu.sklearn if name == "__module__" else getattr(weftgpu.sklearn, name)
    examples = doctest.DocTestParser().get_doctest(thing.__doc__, {"weftgpu": weftgpu, "np": np}, name, None, None)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples).failed == 0
