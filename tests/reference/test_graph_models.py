"""Models of graphs against dense formulas, permutations, and what the paper says that sums, means and maxima can tell apart."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core import registry
from headway.layers.neighbours import REDUCTIONS, softmax_over_neighbours, sparse_sum
from headway.models import gat, gcn, gin
from headway.models.gat import GAT
from headway.models.gcn import GCN
from headway.models.gin import GIN

pytestmark = pytest.mark.usefixtures("doubles")
CLOSE = {"rtol": 0.0, "atol": 1e-10}
NODES, FEATURES = 11, 5
MODELS = sorted(registry.models_for("graphs", "one per node"))


def drawn(nodes: int = NODES, directed: bool = False) -> tuple[Tensor, Tensor]:
    """Random features, and the edges of a random graph with one node on its own."""
    a = torch.rand(nodes, nodes) < 0.3
    a = a if directed else a | a.T
    a.fill_diagonal_(False)
    a[-1], a[:, -1] = False, False
    return torch.randn(nodes, FEATURES), a.nonzero().T.flip(0).contiguous()


def adjacency(edges: Tensor, nodes: int) -> Tensor:
    """A_ij = 1 for an edge from j to i."""
    a = torch.zeros(nodes, nodes)
    a[edges[1], edges[0]] = 1.0
    return a


def undirected(*pairs: tuple[int, int]) -> Tensor:
    return torch.tensor([*pairs, *((b, a) for a, b in pairs)]).T


def scattered(net: torch.nn.Module) -> torch.nn.Module:
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.3 * torch.randn(p.shape))
    return net.eval()


def make(name: str, features: int = FEATURES) -> torch.nn.Module:
    entry = registry.get("models", name)
    small = {"width": 14, "depth": 3} | ({"heads": 2} if name == "gat" else {})
    return scattered(entry.load()(entry.module.Config(**small), features=features, outputs=3, tags=3))


def one(nodes: int) -> Tensor:
    return torch.zeros(nodes, dtype=torch.long)


# -- sparse sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_a_sparse_sum_is_a_product_of_matrices(weighted: bool, directed: bool) -> None:
    x, edges = drawn(directed=directed)
    edges = edges[:, torch.randperm(edges.shape[1])]  # in any order
    w = torch.randn(edges.shape[1]) if weighted else None
    a = adjacency(edges, NODES)
    if w is not None:
        a[edges[1], edges[0]] = w
    torch.testing.assert_close(sparse_sum(x, edges, NODES, w), a @ x, **CLOSE)
    given = [x.requires_grad_()] + ([w.requires_grad_()] if w is not None else [])
    assert torch.autograd.gradcheck(lambda x, w=None: sparse_sum(x, edges, NODES, w), given)


def test_sorted_edges_and_others_give_the_same() -> None:
    x, edges = drawn()
    ordered = edges[:, edges[1].argsort()]
    torch.testing.assert_close(sparse_sum(x, ordered, NODES), sparse_sum(x, edges.flip(1), NODES), **CLOSE)
    nothing = torch.zeros(2, 0, dtype=torch.long)
    assert torch.equal(sparse_sum(x, nothing, NODES), torch.zeros_like(x))


def test_reductions_are_those_of_numpy() -> None:
    x, group = torch.randn(9, 4), torch.tensor([2, 0, 2, 2, 0, 4, 4, 2, 0])  # nothing in groups 1 and 3
    for name, reduce in REDUCTIONS.items():
        rows = [x[group == g].numpy() for g in range(5)]
        expected = np.stack([getattr(np, name)(r, axis=0) if len(r) else np.zeros(4) for r in rows])
        torch.testing.assert_close(reduce(x, group, 5), torch.from_numpy(expected), **CLOSE)


def test_softmax_over_neighbours_is_a_masked_softmax() -> None:
    _, edges = drawn()
    scores = 50 * torch.randn(edges.shape[1], 2)
    found = softmax_over_neighbours(scores, edges, NODES)
    for head in range(2):
        dense = torch.full((NODES, NODES), -torch.inf)
        dense[edges[1], edges[0]] = scores[:, head]
        torch.testing.assert_close(found[:, head], dense.softmax(1)[edges[1], edges[0]], **CLOSE)


# -- dense formulas ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
@torch.no_grad()
def test_gcn_is_the_dense_formula(directed: bool) -> None:
    x, edges = drawn(directed=directed)
    net = scattered(GCN(gcn.Config(width=7, depth=2), FEATURES, tags=3))
    a = adjacency(edges, NODES) + torch.eye(NODES)
    d = torch.diag(a.sum(1) ** -0.5)
    h = x
    for layer in net.layers:
        h = torch.relu(d @ a @ d @ h @ layer.linear.weight.T + layer.bias)
    torch.testing.assert_close(net.states(x, edges, one(NODES)), h, **CLOSE)
    torch.testing.assert_close(net.tag_logits(h), h @ net.tag_head.weight.T + net.tag_head.bias, **CLOSE)


@torch.no_grad()
def test_gat_is_a_dense_softmax_with_a_mask() -> None:
    x, edges = drawn()
    net = scattered(GAT(gat.Config(width=14, depth=2, heads=2), FEATURES, tags=3))
    allowed = (adjacency(edges, NODES) + torch.eye(NODES)).bool()
    h = x
    for layer in net.layers:
        heads = []
        for k in range(2):
            z = h @ layer.linear.weight[7 * k : 7 * k + 7].T
            vector = torch.cat((layer.source[k], layer.target[k]))
            pairs = torch.cat(
                (z[None].expand(NODES, -1, -1), z[:, None].expand(-1, NODES, -1)), 2
            )  # [z_j ; z_i] at i, j
            scores = F.leaky_relu(pairs @ vector, 0.2).masked_fill(~allowed, -torch.inf)
            heads.append(scores.softmax(1) @ z)
        h = F.elu(torch.cat(heads, 1) + layer.bias)
    torch.testing.assert_close(net.states(x, edges, one(NODES)), h, **CLOSE)


@pytest.mark.parametrize("aggregate", ["sum", "mean", "max"])
@torch.no_grad()
def test_gin_is_its_equation(aggregate: str) -> None:
    x, edges = drawn()
    net = scattered(GIN(gin.Config(width=7, depth=2, aggregate=aggregate), FEATURES, outputs=3))  # type: ignore[arg-type]
    found, neighbours = [x], [edges[0][edges[1] == i] for i in range(NODES)]
    for layer in net.layers:
        h = found[-1]
        around = [
            getattr(torch, {"max": "amax"}.get(aggregate, aggregate))(h[n], 0) if len(n) else 0 * h[0]
            for n in neighbours
        ]
        z = (1 + layer.epsilon) * h + torch.stack(around)
        for linear, norm in ((layer.first, layer.first_norm), (layer.second, layer.second_norm)):
            scaled = (linear(z) - norm.mean) / (norm.variance + norm.eps).sqrt()
            z = torch.relu(scaled * norm.weight + norm.bias)
        found.append(z)
    expected = torch.cat([h.sum(0) for h in found])  # equation 4.2: the readouts of all layers side by side
    torch.testing.assert_close(net(x, edges, one(NODES))[0], expected, **CLOSE)


# -- symmetries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_nodes_are_equivariant_and_graphs_invariant(name: str) -> None:
    """F(PX, PAP^T) = P F(X, A), and the same without P once the nodes are pooled."""
    assert {"gcn", "gin", "gat"} <= set(MODELS)
    x, edges = drawn()
    net = make(name)
    for _ in range(5):
        order = torch.randperm(NODES)  # node order[i] comes to place i
        place = order.argsort()
        moved = place[edges][:, torch.randperm(edges.shape[1])]
        torch.testing.assert_close(
            net.states(x[order], moved, one(NODES)), net.states(x, edges, one(NODES))[order], **CLOSE
        )
        torch.testing.assert_close(net(x[order], moved, one(NODES)), net(x, edges, one(NODES)), **CLOSE)


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_edges_are_looked_at(name: str) -> None:
    """A control: the same features with other edges, or with nodes permuted and edges left alone, are something else."""
    x, edges = drawn()
    net = make(name)
    before = net(x, edges, one(NODES))
    assert not torch.allclose(net(x, edges[:, 2:], one(NODES)), before, atol=1e-4)
    assert not torch.allclose(net(x.roll(1, 0), edges, one(NODES)), before, atol=1e-4)


# -- what can be told apart: Xu et al. 2019, section 5, figure 3 ---------------------------------------------------------

STAR = {k: undirected(*((0, leaf) for leaf in range(1, k + 1))) for k in (2, 3, 4)}  # node 0 and k neighbours
COUNTS = ([1.0, 1.0], [1.0, 1.0, 1.0])  # the same value, twice and thrice: figure 3a
SHARES = ([1.0, 2.0], [1.0, 1.0, 2.0, 2.0])  # the same shares: figure 3c
VALUES = ([1.0, 2.0], [1.0, 2.0, 2.0])  # the same values: figure 3b


@pytest.mark.parametrize(
    ("aggregate", "told"),
    [("sum", (True, True, True)), ("mean", (False, False, True)), ("max", (False, False, False))],
)
@torch.no_grad()
def test_which_neighbourhoods_gin_tells_apart(aggregate: str, told: tuple[bool, bool, bool]) -> None:
    net = scattered(GIN(gin.Config(width=14, depth=1, aggregate=aggregate), 1, tags=3))  # type: ignore[arg-type]

    def centre(values: list[float]) -> Tensor:
        x = torch.tensor([[1.0], *([v] for v in values)])
        return net.states(x, STAR[len(values)], one(len(x)))[0]

    found = tuple(not torch.allclose(centre(a), centre(b), **CLOSE) for a, b in (COUNTS, SHARES, VALUES))
    assert found == told


@torch.no_grad()
def test_a_mean_of_equal_nodes_hides_the_degree_and_gin_does_not() -> None:
    """On regular graphs with equal features GCN gives every node the same, whatever the degree: a ring and a complete graph."""
    ring, whole = undirected((0, 1), (1, 2), (2, 3), (3, 0)), undirected(*((a, b) for b in range(4) for a in range(b)))
    for net, told in ((make("gcn", 1), False), (make("gat", 1), False), (make("gin", 1), True)):
        a, b = (net(torch.ones(4, 1), edges, one(4)) for edges in (ring, whole))
        assert torch.allclose(a, b, **CLOSE) is not told


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_nothing_tells_two_triangles_from_a_hexagon(name: str) -> None:
    """The test of Weisfeiler and Leman does not either: every node has two neighbours that look like itself."""
    triangles = undirected((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3))
    hexagon = undirected((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0))
    net = make(name)
    equal = torch.ones(6, FEATURES)
    a, b = (net(equal, edges, one(6)) for edges in (triangles, hexagon))
    torch.testing.assert_close(a, b, **CLOSE)
    named = torch.randn(6, FEATURES)  # with names the two are different
    a, b = (net(named, edges, one(6)) for edges in (triangles, hexagon))
    assert not torch.allclose(a, b, atol=1e-4)
