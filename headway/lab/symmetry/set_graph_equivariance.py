from itertools import permutations

import torch
from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.tools.graphs import HEXAGON, TRIANGLES, both_ways, fixed_dimension, patterns, random_graph
from headway.lab.tools.layers import applied, drawn
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Matrix
from headway.models import deep_sets, gat, gcn, gin, mlp, set_transformer

PARTITIONS = {2: (1, 1), 4: (1, 7, 6, 1)}  # of k things into 1, 2, ... parts (Stirling)


class SetGraphEquivariance(Experiment):
    """Message passing gives permuted outputs for permuted nodes; sums over a set give the same output; linear ones have 2 or 15 weights.

        F(P X, P A Pᵀ) = P F(X, A),      f(P X) = f(X) = ρ(Σ_i φ(x_i)),      linear on sets: λI + γ11ᵀ,      on graphs: 15

    A sum, mean or maximum over neighbours does not know their order. A linear map of sets (graphs) that commutes with P is constant
    on the orbits of pairs (quadruples) of indices, which differ by which indices are equal: 2 (15) partitions. Message passing
    sees a node's surroundings only: a hexagon and two triangles look alike.

    Notes: A. Source: Zaheer et al. 2017, https://arxiv.org/abs/1703.06114; Maron et al. 2019, https://arxiv.org/abs/1812.09902
    Assumes: the numbering of the nodes enters nowhere, neither in features nor in weights.
    Also: permutation equivariance of graph networks; Deep Sets invariance; Weisfeiler-Leman limit; equivariant linear layers.
    """

    nodes = param(8, "of a random graph", least=4, most=40)
    trials = param(8, "permutations of its nodes", least=2, most=100, small=3)
    largest = param(4, "the largest n whose linear maps are counted", least=3, most=5, small=3)

    def measure(self, rng: Generator) -> Checks:
        n = self.nodes
        self.x, edges = rng.normal(size=(n, 4)), both_ways(random_graph(n, 0.4, rng))
        orders = [rng.permutation(n) for _ in range(self.trials)]
        nets = {"GCN": gcn.GCN(gcn.Config(8), 4), "GAT": gat.GAT(gat.Config(8, heads=2), 4)}
        nets |= {f"GIN, {how}": gin.GIN(gin.Config(8, aggregate=how), 4) for how in ("sum", "mean", "max")}
        self.nets, graph = {name: drawn(net, rng) for name, net in nets.items()}, np.zeros(n, dtype=int)
        nodes, graphs = [], []  # errors
        for net in self.nets.values():
            states, pooled = (applied(f, self.x, edges, graph) for f in (net.states, net))
            for order in orders:
                new = np.argsort(order)[edges][:, rng.permutation(edges.shape[1])]
                nodes.append(np.abs(applied(net.states, self.x[order], new, graph) - states[order]).max())
                graphs.append(np.abs(applied(net, self.x[order], new, graph) - pooled).max())
        yield headline(close("GCN, GAT, GIN (sum, mean, max): nodes", nodes, np.zeros(len(nodes))))
        yield close("the same, pooled: graphs", graphs, np.zeros(len(graphs)))
        ways = [deep_sets.Config(8, pooling="sum"), deep_sets.Config(8, pooling="mean"), deep_sets.Config(8, pooling="max")]
        sets: list[nn.Module] = [deep_sets.DeepSets(config, 4, 2) for config in ways]
        sets += [set_transformer.SetTransformer(set_transformer.Config(8, heads=2, inner=8), 4, 2)]
        mixed, keep = self.x[np.array(orders)], np.ones((self.trials, n), dtype=bool)
        found = np.stack([applied(drawn(net, rng), mixed, keep) for net in sets])
        yield close("Deep Sets (sum, mean, max), Set Transformer: sets", found, np.broadcast_to(found[:, :1], found.shape))
        seen = np.eye(n, dtype=bool)
        seen[edges[0], edges[1]] = True
        layer = drawn(Multihead(4, 2), rng)
        whole = applied(layer, self.x[None])[0]
        moved = np.stack([masked(layer, seen[np.ix_(order, order)], self.x[order]) for order in orders])
        yield close("attention to neighbours only", moved, np.stack([masked(layer, seen, self.x)[order] for order in orders]))
        yield close("attention is the case of the complete graph", masked(layer, np.ones((n, n), dtype=bool), self.x), whole)
        sizes = range(2, self.largest + 1)
        pairs, fours = (np.array([fixed_dimension(size, k) for size in sizes]) for k in (2, 4))
        yield equal("free weights of linear maps of sets: 2", pairs, [sum(PARTITIONS[2][:size]) for size in sizes])
        yield equal("free weights of linear maps of graphs: 8, 14, 15", fours, [sum(PARTITIONS[4][:size]) for size in sizes])
        M = rng.normal(size=(5, 5))
        mean = np.mean([M[np.ix_(order, order)] for order in permutations(range(5))], 0)
        yield close("those of sets are λI + γ11ᵀ", mean, (mean[0, 0] - mean[0, 1]) * np.eye(5) + mean[0, 1])
        self.same = np.ones((6, 4))
        yield close("a hexagon and two triangles, all nodes alike", self.alike(HEXAGON, self.same), self.alike(TRIANGLES, self.same))

    def alike(self, edges: np.ndarray, x: np.ndarray) -> np.ndarray:
        """One vector for the graph, from each of the networks."""
        return np.concatenate([applied(net, x, both_ways(edges), np.zeros(6, dtype=int)).ravel() for net in self.nets.values()])

    def control(self, rng: Generator) -> Checks:
        n, order = self.nodes, rng.permutation(self.nodes)
        flat = drawn(mlp.MLP(mlp.Config(width=n), 4 * n, n), rng)
        there, back = applied(flat, self.x[None, order])[0], applied(flat, self.x[None])[0, order]
        yield because("each node has weights of its own", close("an MLP of all nodes: F(P X) = P F(X)", there, back, 1e-3))
        x = rng.normal(size=(6, 4))
        pair = self.alike(HEXAGON, x), self.alike(TRIANGLES, x)
        yield because("nodes carry names", close("a hexagon and two triangles, random features", *pair, 1e-3))

    def resolution(self, rng: Generator) -> Checks:
        path = HEXAGON[:5]  # its ends have one neighbour
        yield close("a hexagon and a path, all nodes alike", self.alike(HEXAGON, self.same), self.alike(path, self.same), 1e-3)

    def plots(self) -> list[Panel]:
        panels = []
        for k, title in ((2, "Sets: 2 free weights"), (4, "Graphs: 15 free weights")):
            shown = patterns(4, k).reshape(4 ** (k // 2), -1)
            panels.append(Panel(title, "input", "output").image(shown, colours="tab20", limits=(0, 19), stretch=False))
        panels[0].custom(lambda axes: axes.set(xticks=range(4), yticks=range(4)))
        circle = np.exp(2j * np.pi * np.arange(6) / 6)
        apart = np.concatenate([2.8 - 0.8 * circle[::2], 4.4 + 0.8 * circle[::2]])
        last = Panel("Alike to message passing", "", "").custom(lambda axes: axes.set(aspect="equal", xlim=(-1.3, 5.5), ylim=(-2, 2)))
        for edges, z in ((HEXAGON, circle), (TRIANGLES, apart)):
            for pair in edges:
                last.bound(z[pair].real, z[pair].imag)
            last.points(z.real, z.imag, size=80)
        last.custom(lambda axes: axes.axis("off"))
        return [*panels, last]


def masked(layer: Multihead, seen: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Attention in which node t sees the nodes s with seen[t, s]."""
    layer.mask = Matrix(torch.from_numpy(seen))
    return applied(layer, x[None])[0]
