"""One epoch of a graph convolutional network (forward, backward, step) beside PyTorch Geometric and torch.sparse, in one run.

    pip install --target peers torch_geometric && PYTHONPATH=peers python benchmarks/graphs.py

A random graph of 20,000 nodes and 100,000 undirected edges, 64 features, 7 classes, two layers of 64, full batch, Adam, no dropout. All
three are the same network with the same first weights, so their losses must agree; times are medians of ten epochs, taken in turn. Without
PyTorch Geometric the other two are compared.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
import torch.nn.functional as F
from rows import Row, append_rows
from torch import Tensor, nn

from headway.models.gcn import GCN, Config

NODES, EDGES, FEATURES, WIDTH, CLASSES, EPOCHS = 20_000, 100_000, 64, 64, 7, 10


class SparseProduct(nn.Module):
    """The formula with `torch.sparse.mm` and a normalised matrix that is made once."""

    def __init__(self, net: GCN, edges: Tensor) -> None:
        super().__init__()
        self.layers, self.head = net.layers, net.tag_head
        itself = torch.arange(NODES).expand(2, -1)
        edges = torch.cat((edges, itself), 1)
        scale = torch.bincount(edges[1]).rsqrt()
        values = scale[edges[0]] * scale[edges[1]]
        self.matrix = torch.sparse_coo_tensor(edges.flip(0), values, (NODES, NODES), check_invariants=True).coalesce()

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(torch.sparse.mm(self.matrix, layer.linear(x)) + layer.bias)
        return self.head(x)


def geometric(net: GCN, edges: Tensor) -> nn.Module:
    """GCNConv of PyTorch Geometric with the same weights; the normalisation is cached, as its examples do."""
    from torch_geometric.nn import GCNConv

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([GCNConv(layer.linear.in_features, WIDTH, cached=True) for layer in net.layers])
            self.head = nn.Linear(WIDTH, CLASSES)
            with torch.no_grad():
                for mine, other in zip(self.layers, net.layers, strict=True):
                    mine.lin.weight.copy_(other.linear.weight)
                self.head.load_state_dict(net.tag_head.state_dict())  # type: ignore[union-attr]

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                x = torch.relu(layer(x, edges))
            return self.head(x)

    return Network()


def network() -> GCN:
    torch.manual_seed(1)
    return GCN(Config(width=WIDTH, depth=2, dropout=0.0), FEATURES, tags=CLASSES)


def epoch(forward: Callable[[], Tensor], optimizer: torch.optim.Optimizer, labels: Tensor) -> tuple[float, float]:
    start = time.perf_counter()
    loss = F.cross_entropy(forward(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return time.perf_counter() - start, float(loss.detach())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    a = parser.parse_args()
    torch.manual_seed(0)
    ends = torch.randint(0, NODES, (2, 3 * EDGES))
    ends = ends[:, ends[0] < ends[1]].unique(dim=1)
    ends = ends[:, torch.randperm(ends.shape[1])[:EDGES]]
    edges = torch.cat((ends, ends.flip(0)), 1)
    edges = edges[:, (edges[1] * NODES + edges[0]).argsort()]  # by their ends, as `headway train graphs` sorts them
    x, labels, graph = (
        torch.randn(NODES, FEATURES),
        torch.randint(0, CLASSES, (NODES,)),
        torch.zeros(NODES, dtype=torch.long),
    )
    mine = network()
    nets: dict[str, tuple[nn.Module, Callable[[], Tensor]]] = {
        "headway gcn": (mine, lambda: mine.tag_logits(mine.states(x, edges, graph)))
    }
    product = SparseProduct(network(), edges)
    nets["torch.sparse.mm"] = product, lambda: product(x)
    try:
        other = geometric(network(), edges)
        nets["PyTorch Geometric"] = other, lambda: other(x)
    except ImportError:
        print("PyTorch Geometric is not installed: it is left out")
    optimizers = {name: torch.optim.Adam(net.parameters(), lr=0.01) for name, (net, _) in nets.items()}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in nets}
    for _ in range(EPOCHS):
        for name, (_, forward) in nets.items():
            found[name].append(epoch(forward, optimizers[name], labels))
    seconds = {name: median(t for t, _ in times) for name, times in found.items()}
    print(f"{edges.shape[1] // 2:,} edges, {NODES:,} nodes, {FEATURES} features, {torch.get_num_threads()} threads")
    for name, t in seconds.items():
        ratio, loss = t / seconds["headway gcn"], found[name][-1][1]
        print(f"{name:20} {1000 * t:7.1f} ms per epoch   {ratio:5.2f} x   loss of epoch {EPOCHS}: {loss:.6f}")
        if name != "headway gcn":
            append_rows(a.rows, [Row("epoch of a gcn, 100,000 edges", name, ratio, least=0.5)])


if __name__ == "__main__":
    main()
