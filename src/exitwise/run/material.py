"""What a run needs before its first step: texts as token ids, and a model around an encoder."""

from dataclasses import dataclass

from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase, set_seed

from exitwise.data import (
    EncodedTexts,
    Splits,
    TextDataset,
    encode_texts,
    length_limit,
    load_splits,
    position_limit,
)
from exitwise.encoders import layerwise
from exitwise.encoders.families import family_of
from exitwise.errors import ExitwiseError, RecipeError
from exitwise.inference.torch_engine import label_names, model_folder
from exitwise.modeling import MultiExitForSequenceClassification, from_classifier
from exitwise.recipe import Recipe
from exitwise.regimes import Stage


@dataclass(frozen=True)
class Material:
    """The data of a run, and the model as its first stage finds it."""

    splits: Splits
    tokenizer: PreTrainedTokenizerBase
    model: MultiExitForSequenceClassification
    train: EncodedTexts
    validation: dict[str, EncodedTexts]

    @property
    def first_validation(self) -> EncodedTexts:
        """The set that is measured after each epoch; MNLI's second waits for the end."""
        return next(iter(self.validation.values()))


def prepare(recipe: Recipe) -> Material:
    """Reads and checks the data, then loads the encoder: what is cheap to refuse comes first."""
    splits = load_splits(recipe.data, seed=recipe.seed)
    set_seed(recipe.seed)  # the exits are drawn here
    plan = planned_stages(recipe)
    model = build_model(recipe, splits.label_names, plan)
    for stage in plan:
        check_widths(stage, model)
    tokenizer = load_tokenizer(source_of(recipe))
    tokenizer.model_max_length = max_length_of(recipe, tokenizer, model)  # is saved with it

    def encode(texts: TextDataset) -> EncodedTexts:
        return encode_for(model, tokenizer, texts)

    return Material(
        splits=splits,
        tokenizer=tokenizer,
        model=model,
        train=encode(splits.train),
        validation={
            name: encode(texts).sorted_by_length()[0] for name, texts in splits.validation.items()
        },
    )


def build_model(
    recipe: Recipe, labels: tuple[str, ...], plan: tuple[Stage, ...]
) -> MultiExitForSequenceClassification:
    """The model of a recipe, its exits fresh except for what `start_from` brings.

    Only layers that the plan trains get an exit, so that no saved exit is a random one.
    """
    if recipe.encoder is not None:
        return MultiExitForSequenceClassification.from_encoder(
            recipe.encoder,
            labels=labels,
            exit=recipe.exit,
            last_exit=recipe.last_exit,
            exit_layers=sorted({layer for stage in plan for layer in stage.layers}),
            num_layers=recipe.num_layers,
        )
    model = from_classifier(
        source_of(recipe),
        exit=recipe.exit,
        exit_layers=None if recipe.regime else last_layer(recipe),
    )
    found = label_names(model)
    if found != labels:
        raise ExitwiseError(
            f"{recipe.start_from} answers {', '.join(found)}, the data have the labels "
            f"{', '.join(labels)}: the classes must be the same and in the same order"
        )
    return model


def planned_stages(recipe: Recipe) -> tuple[Stage, ...]:
    """The plan of a recipe for its encoder, of which only the configuration is read.

    Raises:
        RecipeError: the encoder has too few layers for the recipe.
        UnsupportedError: nobody can walk an encoder of this type.
    """
    config = AutoConfig.from_pretrained(source_of(recipe))
    if recipe.encoder is not None:
        family_of(config)
    num_layers = recipe.num_layers or config.num_hidden_layers
    if num_layers > config.num_hidden_layers:
        raise RecipeError(
            f"num_layers must be at most {config.num_hidden_layers}, all that {recipe.encoder} "
            f"has, found {num_layers}"
        )
    check_compression(recipe, getattr(config, "encoder_config", config).model_type, num_layers)
    if recipe.regime is None:
        return ()
    try:
        return recipe.regime.stages(num_layers)
    except ValueError as error:
        raise RecipeError(f"regime: {error}") from error


def check_compression(recipe: Recipe, model_type: str, num_layers: int) -> None:
    """Whether what makes the model smaller can do so with such an encoder."""
    if recipe.compression is None:
        return
    recipe.compression.check(model_type)
    try:
        recipe.compression.num_layers(num_layers)
    except ValueError as error:
        raise RecipeError(f"compression: {error}") from error


def check_widths(stage: Stage, model: MultiExitForSequenceClassification) -> None:
    """Whether the embeddings that a stage contrasts with its teacher's are of the same width.

    Raises:
        RecipeError: they are not.
    """
    contrast = stage.objective.auxiliary
    if stage.teacher is None or contrast is None or not contrast.needs_teacher:
        return
    expected = model.exit(stage.teacher).classifier.in_features
    for layer in stage.layers:
        width = model.exit(layer).classifier.in_features
        if width != expected:
            raise RecipeError(
                f"stage {stage.name} contrasts exit {layer}, of width {width}, with exit "
                f"{stage.teacher}, of width {expected}: give the exits that width (for MHA exits "
                f"exit.width={expected}), or an objective that contrasts no layers"
            )


def last_layer(recipe: Recipe) -> tuple[int]:
    """The deepest layer of the classifier that a recipe starts from."""
    return (AutoConfig.from_pretrained(source_of(recipe)).num_hidden_layers,)


def source_of(recipe: Recipe) -> str:
    """Where encoder and tokenizer come from; of a run, its model."""
    source = recipe.encoder or recipe.start_from
    assert source is not None
    return model_folder(source)


def load_tokenizer(name_or_path: str) -> PreTrainedTokenizerBase:
    """The tokenizer that belongs to an encoder."""
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(name_or_path)
    return tokenizer


def max_length_of(
    recipe: Recipe, tokenizer: PreTrainedTokenizerBase, model: MultiExitForSequenceClassification
) -> int:
    """The recipe's, within what the encoder takes; that of an earlier run does not bind."""
    config = model.encoder.config
    if recipe.encoder is None:
        return min(recipe.data.max_length, position_limit(config) or recipe.data.max_length)
    return min(recipe.data.max_length, length_limit(tokenizer, config))


def encode_for(
    model: MultiExitForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    texts: TextDataset,
) -> EncodedTexts:
    """Texts as the token ids that the model's encoder takes, within the tokenizer's length."""
    return encode_texts(
        tokenizer,
        texts.texts,
        texts.pairs,
        texts.labels,
        max_length=tokenizer.model_max_length,
        input_names=layerwise(model.encoder).input_names,
    )
