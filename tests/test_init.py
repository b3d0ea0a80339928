"""What `import exitwise` gives, and what it leaves alone until it is needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import exitwise

ENCODER = {
    "model_type": "bert",
    "vocab_size": 16,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_import_is_light() -> None:
    heavy = "{'torch', 'transformers', 'numpy', 'sklearn', 'datasets'}"
    assert run(f"import sys, exitwise; print({heavy} & set(sys.modules))") == "set()"


@pytest.mark.parametrize("name", exitwise.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(exitwise, name).__name__ == name
    assert name in dir(exitwise)


def test_type_checkers_find_each_name_where_it_is() -> None:
    tree = ast.parse(Path(exitwise.__file__).read_text())
    checking = next(
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CH" in ast.dump(node.test)
    )
    homes = {
        alias.name: node.module
        for node in checking.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert homes == exitwise._HOME
    assert sorted({*homes, "ExitwiseError"}) == exitwise.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'exitwise' has no attribute 'Trainer'"):
        _ = exitwise.Trainer


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_one_line_that_names_the_extra(package: str) -> None:
    code = f"""
import sys
sys.modules[{package!r}] = None  # as if it were not installed
import exitwise
try:
    exitwise.MultiExitConfig
except exitwise.ExitwiseError as error:
    print(error)
"""
    assert run(code) == f"{package} is not installed: pip install 'exitwise[train]'"


@pytest.mark.field_case(71)
def test_the_auto_classes_know_the_model_after_the_import() -> None:
    code = f"""
import sys, exitwise
def hooks():
    return [each for each in sys.meta_path if type(each).__module__.startswith("exitwise")]
print(len(hooks()))
from transformers import AutoConfig
config = AutoConfig.for_model("exitwise", encoder={ENCODER!r})
from transformers import AutoModelForSequenceClassification
print(type(config).__name__, type(AutoModelForSequenceClassification.from_config(config)).__name__)
module = sys.modules["transformers.models.auto.configuration_auto"]
print(len(hooks()), type(module.__loader__).__name__)
"""
    expected = ["1", "MultiExitConfig MultiExitForSequenceClassification", "0 SourceFileLoader"]
    assert run(code).splitlines() == expected


@pytest.mark.parametrize(
    "first",
    [
        "import transformers.modeling_utils",
        pytest.param("from transformers import AutoTokenizer", marks=pytest.mark.slow),
        pytest.param("import exitwise.encoders", marks=pytest.mark.slow),
        "import exitwise.modeling",
    ],
)
@pytest.mark.field_case(71)
def test_they_know_it_whatever_is_imported_first(first: str) -> None:
    """The Auto classes are imported from the middle of modules that the model needs whole."""
    code = f"""
import exitwise
{first}
from transformers import AutoConfig
print(type(AutoConfig.for_model("exitwise", encoder={ENCODER!r})).__name__)
"""
    assert run(code) == "MultiExitConfig"


@pytest.mark.field_case(71)
def test_they_know_it_at_once_if_they_were_there_before() -> None:
    code = f"""
import sys
from transformers import AutoConfig
import exitwise
print(type(AutoConfig.for_model("exitwise", encoder={ENCODER!r})).__name__)
"""
    assert run(code) == "MultiExitConfig"


def test_a_module_can_still_be_run_as_a_program() -> None:
    command = [sys.executable, "-W", "error", "-m", "exitwise.registry"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tokenizers_of_transformers_can_be_used_without_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
import exitwise
from transformers import AutoConfig
print("exitwise.modeling" in sys.modules)
"""
    assert run(code) == "False"
