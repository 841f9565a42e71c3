import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.tools.graphs import HEXAGON, TRIANGLES, both_ways, fixed_dimension, patterns, random_graph
from headway.lab.tools.layers import applied, drawn
from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Matrix
from headway.models import deep_sets, gat, gcn, gin, mlp, set_transformer

PARTITIONS = {2: (1, 1), 4: (1, 7, 6, 1)}  # of k things into 1, 2, ... parts (Stirling)


class SetGraphEquivariance(Experiment):
    """Networks on graphs permute their outputs as nodes are permuted, and networks on sets give the same output.

        F(P X, P A Pᵀ) = P F(X, A),      f(P X) = f(X) = ρ(Σ_i φ(x_i)),      linear on sets: λI + γ11ᵀ,      on graphs: 15

    A sum, mean or maximum does not know an order. A linear map of sets (graphs) that commutes with P is constant where the same of its
    2 (4) indices are equal: 2 (15) partitions. Message passing sees surroundings only: a hexagon and two triangles look alike.

    Notes: A. Source: Zaheer et al. 2017, https://arxiv.org/abs/1703.06114; Maron et al. 2019, https://arxiv.org/abs/1812.09902
    Assumes: the numbering of the nodes enters nowhere, neither in features nor in weights.
    Also: permutation equivariance of graph networks; Deep Sets invariance; Weisfeiler-Leman limit; equivariant linear layers.
    """

    nodes = param(8, "of a random graph", least=6, most=40)
    trials = param(8, "permutations of its nodes", least=2, most=100, small=3)
    largest = param(4, "the largest n whose linear maps are counted", least=3, most=5, small=3)

    def measure(self, rng: Generator) -> Checks:
        n, edges = self.nodes, both_ways(random_graph(self.nodes, 0.4, rng))
        self.x, orders = rng.normal(size=(n, 4)), np.array([rng.permutation(n) for _ in range(self.trials)])
        nets = [gcn.GCN(gcn.Config(8), 4), gat.GAT(gat.Config(8, heads=2), 4)]
        nets += [gin.GIN(gin.Config(8, aggregate=how), 4) for how in ("sum", "mean", "max")]
        self.nets, graph = [drawn(net, rng) for net in nets], np.zeros(n, dtype=int)
        nodes, graphs = [], []  # errors
        for net in self.nets:
            states, whole = (applied(f, self.x, edges, graph) for f in (net.states, net))
            for order in orders:
                new = np.argsort(order)[edges][:, rng.permutation(edges.shape[1])]
                nodes.append(np.abs(applied(net.states, self.x[order], new, graph) - states[order]).max())
                graphs.append(np.abs(applied(net, self.x[order], new, graph) - whole).max())
        yield headline(close("GCN, GAT, GIN (sum, mean, max): nodes", nodes, 0))
        yield close("the same, pooled: graphs", graphs, 0)
        pooled = [deep_sets.DeepSets(deep_sets.Config(8, pooling=how), 4, 2) for how in ("sum", "mean", "max")]
        sets = [*pooled, set_transformer.SetTransformer(set_transformer.Config(8, heads=2, inner=8), 4, 2)]
        found = np.stack([applied(drawn(net, rng), self.x[orders], np.ones(orders.shape, dtype=bool)) for net in sets])
        yield close("Deep Sets (sum, mean, max), Set Transformer: sets", found, np.broadcast_to(found[:, :1], found.shape))
        seen = np.eye(n, dtype=bool) | np.bincount(edges[0] * n + edges[1], minlength=n * n).reshape(n, n).astype(bool)
        layer = drawn(Multihead(4, 2), rng)
        plain = applied(layer, self.x[None])[0]
        moved = np.stack([masked(layer, seen[np.ix_(order, order)], self.x[order]) for order in orders])
        yield close("attention to neighbours only", moved, masked(layer, seen, self.x)[orders])
        yield close("attention is the case of the complete graph", masked(layer, np.ones((n, n), dtype=bool), self.x), plain)
        sizes = range(2, self.largest + 1)
        for k, name in ((2, "sets: 2, of I and 11ᵀ"), (4, "graphs: 8, 14, 15")):
            free = np.array([fixed_dimension(size, k) for size in sizes])
            yield equal(f"free weights of linear maps of {name}", free, [sum(PARTITIONS[k][:size]) for size in sizes])
        yield close("a hexagon and two triangles, all nodes alike", *self.alike(HEXAGON, TRIANGLES, np.ones((6, 4))))

    def alike(self, one: np.ndarray, other: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One vector for each graph, from all networks."""
        graphs = (x, both_ways(one), np.zeros(6, dtype=int)), (x, both_ways(other), np.zeros(6, dtype=int))
        first, second = (np.concatenate([applied(net, *graph).ravel() for net in self.nets]) for graph in graphs)
        return first, second

    def control(self, rng: Generator) -> Checks:
        flat = drawn(mlp.MLP(mlp.Config(width=16), 4 * self.nodes, self.nodes), rng)
        there, back = (applied(lambda x: flat.logits(flat(x)), x[None])[0] for x in (self.x[::-1], self.x))
        yield because("each node has weights of its own", close("an MLP of all nodes: F(P X) = P F(X)", there, back[::-1], 1e-3))
        pair = self.alike(HEXAGON, TRIANGLES, rng.normal(size=(6, 4)))
        yield because("nodes carry names", close("a hexagon and two triangles, random features", *pair, 1e-3))

    def resolution(self, rng: Generator) -> Checks:
        pair = self.alike(HEXAGON, HEXAGON[:5], np.ones((6, 4)))  # the ends of a path have one neighbour
        yield close("a hexagon and a path, all nodes alike", *pair, 1e-3)

    def plots(self) -> list[Panel]:
        panels = [Panel(title, "input", "output") for title in ("Sets: 2 free weights", "Graphs: 15 free weights")]
        for panel, k in zip(panels, (2, 4), strict=True):
            panel.image(patterns(4, k).reshape(2**k, -1), colours="tab20", limits=(0, 19), stretch=False)
        panels[0].custom(lambda axes: axes.set_yticks(range(4)))
        circle = np.exp(2j * np.pi * np.arange(6) / 6)
        apart = np.concatenate([2.8 - 0.8 * circle[::2], 4.4 + 0.8 * circle[::2]])
        last = Panel("Alike to message passing", "", "").custom(lambda axes: axes.set_aspect("equal")).custom(lambda axes: axes.axis("off"))
        for z in (circle[HEXAGON], apart[TRIANGLES]):
            last.thin(z.real.T, z.imag).points(z.real, z.imag, size=80)
        return [*panels, last.limits((-1.3, 5.5), (-2, 2))]


def masked(layer: Multihead, seen: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Attention in which node t sees the nodes s with seen[t, s]."""
    layer.mask = Matrix(torch.from_numpy(seen))
    return applied(layer, x[None])[0]
