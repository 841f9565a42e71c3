"""Labels that the neighbours of a picture contradict: planted ones in scikit-learn's digits, and neighbours that cannot know."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from headway.data import doctor_neighbours
from headway.data.doctor_neighbours import blocks, count_labels, doubtful_labels, principal_components
from headway.data.doctor_pictures import examine_pictures
from headway.data.pictures import Pictures


def digits() -> tuple[np.ndarray, np.ndarray]:
    found = load_digits()
    return np.rint(found.images * 255 / 16).astype(np.uint8)[..., None], found.target.astype(np.int64)


def planted(labels: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, set[int]]:
    """The labels with `count` wrong ones, and where these are."""
    random = np.random.default_rng(seed)
    wrong, labels = random.choice(len(labels), count, replace=False), labels.copy()
    labels[wrong] = (labels[wrong] + random.integers(1, 10, count)) % 10
    return labels, set(wrong.tolist())


@pytest.mark.parametrize(("count", "least"), [(36, 0.9), (90, 0.9), (180, 0.8)])
def test_planted_labels_are_found(count: int, least: float) -> None:
    """Of 1,797 digits 2 %, 5 % and 10 % are wrong. Most of these are found, with their true class; few others are accused."""
    images, labels = digits()
    given, wrong = planted(labels, count, seed=1)
    found = doubtful_labels(images, given)
    assert len(wrong & set(found)) >= least * count
    assert len(set(found) - wrong) <= 8  # digits that look like another one, 0.5 % of them
    assert np.mean([label == labels[i] for i, label in found.items() if i in wrong]) > 0.98
    assert found == doubtful_labels(images, given)


def test_the_finding() -> None:
    images, labels = digits()
    given, wrong = planted(labels, 40, seed=2)
    names = tuple(f"{number}.png" for number in range(len(images)))
    report = examine_pictures(Pictures(images, given, tuple("0123456789"), names, "digits"))
    (finding,) = (finding for finding in report.findings if finding.kind == "doubtful-label")
    assert (finding.severity, finding.action) == ("note", "kept") and 36 <= finding.count <= 48
    first = finding.lines[0] - 1
    expected = doubtful_labels(images, given)[first]
    assert finding.examples[0] == f"{given[first]}: {first}.png (its neighbours: {expected})"
    assert "at least 8 have one other label" in report.text()


def test_held_out_pictures_are_no_neighbours() -> None:
    """Numbers are those of all pictures, although some are left out."""
    images, labels = digits()
    given, wrong = planted(labels, 40, seed=2)
    held_out = np.arange(len(images)) < 500
    names = tuple(f"{number}.png" for number in range(len(images)))
    report = examine_pictures(Pictures(images, given, tuple("0123456789"), names, "digits"), held_out=held_out)
    (finding,) = (finding for finding in report.findings if finding.kind == "doubtful-label")
    late = doubtful_labels(images[500:], given[500:])
    assert finding.count == len(late) and finding.lines == tuple(501 + i for i in late)[:20]


def test_neighbours_are_those_of_scikit_learn() -> None:
    """All principal components but the last are kept: no more than those can be left out."""
    images, labels = digits()
    everything = np.arange(len(images))
    votes = count_labels(principal_components(images, everything), torch.from_numpy(labels), torch.from_numpy(everything))
    points = PCA(doctor_neighbours.COMPONENTS, svd_solver="full").fit_transform(images.reshape(len(images), -1) / 255)
    near = NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
    expected = np.stack([np.bincount(labels[row], minlength=10) for row in near])
    assert (votes.numpy() == expected).all(1).mean() > 0.999  # equal distances may be ordered in another way


def test_only_a_sample_is_looked_at_and_everything_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_neighbours, "REFERENCES", 600)
    monkeypatch.setattr(doctor_neighbours, "CHUNK", 100)
    images, labels = digits()
    given, wrong = planted(labels, 36, seed=1)
    found = doubtful_labels(images, given)
    assert len(wrong & set(found)) >= 27 and len(set(found) - wrong) <= 12


def test_neighbours_that_cannot_know_are_not_asked() -> None:
    """Noise has neighbours, too, and in two classes 8 of 10 are often of the other one."""
    random = np.random.default_rng(1)
    images = random.integers(0, 256, (600, 9, 7, 1), dtype=np.uint8)
    assert doubtful_labels(images, random.integers(0, 2, 600)) == {}
    assert doubtful_labels(images[:10], np.arange(10) % 2) == {}, "nobody has ten neighbours"
    assert doubtful_labels(images, np.zeros(600, dtype=np.int64)) == {}


def test_a_rare_class_among_others_is_not_accused() -> None:
    """Five pictures cannot have ten neighbours of their own class."""
    random = np.random.default_rng(1)
    images = np.concatenate([random.integers(low, low + 40, (size, 4, 4, 1)) for low, size in ((0, 300), (200, 300))])
    labels = np.array([0] * 300 + [1] * 300)
    labels[:5] = 2
    assert doubtful_labels(images.astype(np.uint8), labels) == {}
    labels[:5] = 1
    assert doubtful_labels(images.astype(np.uint8), labels) == dict.fromkeys(range(5), 0)


def test_large_pictures_are_summed_in_blocks() -> None:
    image = np.arange(40 * 20 * 3, dtype=np.uint8).reshape(1, 40, 20, 3)
    found = blocks(image).view(14, 7, 3)
    assert found[0, 1, 2].item() == pytest.approx(image[0, :3, 3:6, 2].sum() / 255)
    assert found[13, 6, 0].item() == pytest.approx(image[0, 39:, 18:, 0].sum() / 255)
    assert torch.equal(blocks(image[:, :16, :16]), torch.from_numpy(image[:, :16, :16].reshape(1, -1) / np.float32(255)))
