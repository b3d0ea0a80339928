"""Multiply-accumulates of one layer: what the families count alike."""


def dense_layer_macs(length: int, *, width: int, intermediate: int) -> int:
    r"""A transformer layer as BERT has it, on one text of `length` tokens.

    $$4 d^2 L + 2 d L^2 + 2 d\, d_{ff} L$$

    Query, key, value and output projection; scores and weighted sum, $d L^2$ each, whatever the
    number of heads; the two maps of the feed-forward part. Norms, softmax, activations and biases
    are not counted. One multiply-accumulate is two floating-point operations.

    >>> dense_layer_macs(16, width=768, intermediate=3072)
    113639424
    """
    projections = 4 * width**2 * length
    attention = 2 * width * length**2
    feed_forward = 2 * width * intermediate * length
    return projections + attention + feed_forward
