"""Multiply-accumulates of one layer: what the families count alike."""


def dense_layer_macs(
    length: int, *, width: int, intermediate: int, attention_width: int | None = None
) -> int:
    r"""A transformer layer as BERT has it, on one text of `length` tokens.

    $$4 d\, d_a L + 2 d_a L^2 + 2 d\, d_{ff} L$$

    Query, key, value and output projection; scores and weighted sum, $d_a L^2$ each, with $d_a$
    the width of all heads together (`attention_width`), which is d where no head was removed; the
    two maps of the feed-forward part. Norms, softmax, activations and biases are not counted. One
    multiply-accumulate is two floating-point operations.

    >>> dense_layer_macs(16, width=768, intermediate=3072)
    113639424
    """
    heads = width if attention_width is None else attention_width
    projections = 4 * width * heads * length
    attention = 2 * heads * length**2
    feed_forward = 2 * width * intermediate * length
    return projections + attention + feed_forward
