"""The convolutional network for texts against the convolution of torch over one-hot words."""

import torch
import torch.nn.functional as F

from headway.models.text_cnn import Config, TextCNN

V, F_, T = 11, 5, 7


@torch.no_grad()
def test_it_is_a_convolution_over_one_hot_words(doubles: None) -> None:
    net = TextCNN(Config(filters=F_, regions=(1, 3), dropout=0.0), V, 2).eval()
    net.bias.normal_()
    ids = torch.randint(0, V, (2, T))
    one_hot = F.one_hot(ids, V).transpose(1, 2).to(torch.float64)  # "b v t"
    groups = []
    for m, table in zip((1, 3), net.tables, strict=True):
        kernel = table.weight.unflatten(1, (m, F_)).permute(2, 0, 1).flip(-1)  # the last place of a kernel is k = 0
        groups.append(F.conv1d(F.pad(one_hot, (m - 1, 0)), kernel))
    v = torch.relu(torch.cat(groups, 1) + net.bias[:, None])
    expected = torch.cat([v.amax(-1), v.mean(-1)], 1)
    torch.testing.assert_close(net(ids, torch.ones_like(ids, dtype=torch.bool)), expected)


@torch.no_grad()
def test_a_bag_of_words_ignores_the_order_and_pairs_do_not(doubles: None) -> None:
    ids = torch.tensor([[1, 2, 3, 4]])
    turned, keep = ids.flip(1), torch.ones_like(ids, dtype=torch.bool)
    for regions, same in (((1,), True), ((2,), False)):
        net = TextCNN(Config(filters=F_, regions=regions, dropout=0.0), V, 2).eval()
        assert torch.allclose(net(ids, keep), net(turned, keep)) == same
