"""The linear model, trained by the project's loop until nothing changes, is linear and logistic regression of scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

from headway.data.labelled_batches import LabelledBatch
from headway.data.number_batches import NumberBatches
from headway.data.processes import autoregressive, best_r2
from headway.data.series import windows
from headway.evaluate.least_squares import LeastSquares
from headway.evaluate.regression import r2
from headway.models.linear import Config, Linear
from headway.tasks.answers import label_loss
from headway.tasks.estimates import squared_loss
from headway.training.loop import Loop
from headway.training.plan import Settings


def trained(
    batches: NumberBatches, features: int, outputs: int, loss: object, steps: int, decay: float = 0.0
) -> Linear:
    model = Linear(Config(), features, outputs)
    settings = Settings(steps, len(batches.wanted), 0.05, warmup=10, optimizer="adamw", decay=decay, validate=steps)
    loop: Loop[LabelledBatch] = Loop(model, batches, loss, settings, 1)  # type: ignore[arg-type]
    assert loop.run()
    return model.eval()


def test_regression_agrees_with_scikit_learn() -> None:
    x, y = load_diabetes(return_X_y=True)
    x, y = StandardScaler().fit_transform(x), (y - y.mean()) / y.std()
    model = trained(NumberBatches([x], y[:, None], rows=len(x)), 10, 1, squared_loss, 3000)
    expected = LinearRegression().fit(x, y)
    found = model(torch.from_numpy(x).float())
    np.testing.assert_allclose(model.logits(found).detach().numpy()[:, 0], expected.predict(x), atol=2e-3)


def test_classification_agrees_with_scikit_learn() -> None:
    """Softmax regression with the penalty that makes its optimum unique: weights decay as scikit-learn penalises them."""
    x, y = load_wine(return_X_y=True)
    x, strength = StandardScaler().fit_transform(x), 0.02

    def penalised(model: Linear, batch: LabelledBatch) -> object:
        found = label_loss(model, batch, 0.0)
        total = found.total + 0.5 * strength * len(batch.labels) * (model.head.weight**2).sum()
        return type(found)(total, found.plain, found.count)

    model = trained(NumberBatches([x], y, rows=len(x)), 13, 3, penalised, 1500)
    expected = LogisticRegression(C=1 / (strength * len(x)), tol=1e-10, max_iter=5000).fit(x, y)
    probabilities = model.logits(model(torch.from_numpy(x).float())).softmax(-1).detach().numpy()
    np.testing.assert_allclose(probabilities, expected.predict_proba(x), atol=5e-3)


A = (0.5, -0.3, 0.2)


def test_autoregression_recovers_the_process() -> None:
    """Its coefficients within four standard errors, and R2 near the largest that is possible."""
    part = windows(autoregressive(A, 2.0, 20_000, seed=3)[:, None], 3)
    x, y = part.series[:, :, 0], part.targets
    mean, deviation = x.mean(), x.std()
    z, wanted = (x - mean) / deviation, (y - mean) / deviation
    model = trained(NumberBatches([z[:, :, None], np.empty((len(z), 0))], wanted, rows=len(z)), 3, 1, squared_loss, 400)
    found = model.head.weight.detach().numpy()[0][::-1]  # the last value comes last
    np.testing.assert_allclose(found, A, atol=4 / np.sqrt(len(y)))
    np.testing.assert_allclose(LeastSquares.fit(x, y).weights[::-1, 0], A, atol=4 / np.sqrt(len(y)))
    outputs = model.logits(model(torch.from_numpy(z).float()[:, :, None], torch.empty(len(z), 0))).detach().numpy()
    assert r2(outputs[:, 0], wanted[:, 0], resamples=0).value == pytest.approx(best_r2(A), abs=0.02)


def test_the_best_r2_is_that_of_long_series() -> None:
    y = autoregressive(A, 2.0, 200_000, seed=5)
    assert 1 - 4.0 / y.var() == pytest.approx(best_r2(A), abs=0.005)
    assert best_r2([0.8]) == pytest.approx(0.64), "of AR(1) it is a^2"
    with pytest.raises(Exception, match="not stationary"):
        best_r2([1.1])
