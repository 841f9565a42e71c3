from headway.data.named.idx_pictures import FILES, idx_files
from headway.data.named.sources import Dataset, Package


def fashion_mnist() -> Dataset:
    """Fashion-MNIST: 70,000 pictures of clothes in the form of MNIST, and harder.

    Also called Fashion MNIST. Xiao, Rasul, Vollgraf 2017, https://arxiv.org/abs/1708.07747.
    """
    return Dataset(
        name="fashion-mnist",
        summary="70,000 pictures of clothes of 28 x 28 pixels, ten classes",
        licence="MIT",
        packages=(
            Package(
                "apt-get",
                "dataset-fashion-mnist",
                "0.0~git20200523.55506a9-1",
                "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
                30.9,
            ),
        ),
        files=tuple(f"{name}.gz" for name in FILES),
        make=idx_files,
        next_step="train images --folder {folder} --minutes 30 --out runs/fashion",
        checked={
            "train-images-idx3-ubyte.gz": "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
            "train-labels-idx1-ubyte.gz": "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
            "t10k-images-idx3-ubyte.gz": "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
            "t10k-labels-idx1-ubyte.gz": "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
        },
    )
