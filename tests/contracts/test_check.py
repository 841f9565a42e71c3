"""`headway check`: each planted mistake is noticed by the contract that is there for it, and by no other."""

from types import SimpleNamespace

import broken
import broken_encoder
import broken_gpt
import pytest
import torch

import headway
from headway.cli import main
from headway.contracts import causal, mixers, models, writers
from headway.contracts.check import contracts_for, kinds_of
from headway.contracts.contract import Contract, title
from headway.contracts.examples import KINDS
from headway.core.errors import UnknownName, UsageError

# What sees the future breaks two contracts, since no step knows what comes next; all others break one.
PLANTED: dict[type, list[Contract]] = {
    broken.Decayed: [],
    broken.Forgetful: [causal.stepping_equals_forward],
    broken.Prophet: [causal.stepping_equals_forward, causal.the_future_leaves_the_past_alone],
    broken.Late: [mixers.the_present_is_seen],
    broken.Unmasked: [mixers.padding_does_not_change_the_answer],
    broken.Sociable: [mixers.company_does_not_matter],
    broken.Unused: [mixers.every_parameter_gets_a_gradient],
    broken.Noisy: [mixers.eval_is_deterministic],
    broken.Detached: [mixers.gradients_are_those_of_forward],
    broken.Peeking: [mixers.works_on_the_meta_device],
    broken.Strict: [mixers.works_in_bfloat16],
    broken.InPlace: [causal.the_state_is_a_value],
    broken.Transposed: [causal.rows_of_the_state_can_be_reordered],
    broken.Wide: [mixers.forward_keeps_the_shape],
    broken.Undeclared: [mixers.parameters_have_roles],
    broken.Differently: [mixers.constructor_takes_sizes_by_name],
    broken.Careless: [mixers.constructor_takes_sizes_by_name],
    broken.Everything: [mixers.declares_what_it_sees],
    broken.Rescaled: [models.company_does_not_matter],
    broken_gpt.Placeless: [writers.stepping_equals_forward],
    broken_gpt.Leaking: [writers.stepping_equals_forward, writers.the_future_is_not_seen],
    broken_gpt.Unsaved: [models.weights_survive],
    broken_gpt.Unkept: [models.configuration_survives_json],
    broken_gpt.Unused: [models.every_parameter_gets_a_gradient],
    broken_gpt.Noisy: [models.eval_is_deterministic],
    broken_gpt.Shuffled: [models.one_batch_is_learned_by_heart],
    broken_gpt.Boastful: [writers.the_past_reaches_as_far_as_the_memory],
    broken_gpt.Lazy: [writers.outside_of_training_every_position_is_predicted],
    broken_gpt.InPlace: [writers.the_state_is_a_value],
    broken_gpt.Nameless: [models.offers_what_is_called],
    broken_gpt.Misnamed: [models.constructor_takes_sizes_by_name],
    broken_encoder.Counting: [models.padding_does_not_change_the_answer],
    broken_encoder.Deaf: [models.every_token_is_read],
}


@pytest.mark.parametrize("thing", PLANTED, ids=lambda thing: f"{thing.__module__}-{thing.__name__}")
def test_a_mistake_is_noticed_by_its_contract(thing: type) -> None:
    found = headway.check(thing)
    assert [r.title for r in found.failures] == [title(contract) for contract in PLANTED[thing]], found
    assert found.ok is not bool(PLANTED[thing]) and all(r.message for r in found.failures)


def test_every_contract_was_seen_to_fail() -> None:
    every = {*mixers.DECLARATIONS, *mixers.EVERY, *causal.CONTRACTS, models.constructor_takes_sizes_by_name}
    every |= {*models.EVERY, *models.PADDED, *writers.WRITERS, *writers.LANGUAGE}
    assert every == {contract for found in PLANTED.values() for contract in found}


def test_the_text() -> None:
    found = headway.check(broken.Prophet)
    lines = found.text().split("\n")
    assert lines[0] == "Prophet (broken)" and lines[-1] == "  2 of 16 contracts fail" and repr(found) == found.text()
    assert "  ok     padding does not change the answer" in lines
    (future,) = (line for line in lines if "the future" in line)
    assert future.startswith("  FAILS  the future leaves the past alone: position 0 of row ")
    assert future.endswith(" when positions 1 to 6 were changed")
    assert (
        "every parameter gets a gradient: `gate.weight`, `gate.bias` got none\n" in headway.check(broken.Unused).text()
    )
    assert headway.check(broken.Decayed).text().endswith("\n  all 16 contracts hold")
    assert "  -      stepping equals forward: does not apply, it sees both sides\n" in headway.check("linformer").text()


def test_the_table_is_escaped() -> None:
    page = headway.check(broken.Everything)._repr_html_()
    assert (
        "<table>" in page and "FAILS" in page and "&#x27;everything&#x27;" in page and "1 of 2 contracts fails" in page
    )


def test_what_cannot_be_made_is_asked_for_nothing_else() -> None:
    found = headway.check(broken.Careless)
    assert "ZeroDivisionError: the width was divided by nothing (line " in found.failures[0].message
    assert {r.verdict for r in found.results[2:]} == {"does not apply"}
    assert (
        headway.check(broken.Differently).failures[0].message.startswith("models cannot know what to give it for `dim`")
    )


def test_an_error_of_the_layer_is_a_failure_and_its_traceback_is_kept_for_debugging(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "broken:Half"]) == 1
    shown = capsys.readouterr()
    assert "FAILS  stepping equals forward: RuntimeError: The size of tensor a (22) must match" in shown.out
    assert "Traceback" not in shown.out + shown.err
    assert main(["check", "broken:Half", "--debug"]) == 1
    shown = capsys.readouterr()
    assert "in cell" in shown.err and "stepping equals forward:" in shown.err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "GRU"]) == 0 and capsys.readouterr().out.startswith(
        "GRU (headway.layers.recurrences.gru)\n  ok "
    )
    assert main(["check", "lstn"]) == 2 and "did you mean `lstm`?" in capsys.readouterr().err
    assert main(["check", "broken:Decaid"]) == 2 and "did you mean `Decayed`?" in capsys.readouterr().err
    assert (
        main(["check", "no_such_module:Thing"]) == 2
        and "there is no module `no_such_module`" in capsys.readouterr().err
    )


def test_what_is_neither_is_told_what_to_declare() -> None:
    with pytest.raises(
        UsageError, match="`broken:Neither` is neither a mixer nor a model\nHint: a mixer declares `sees`"
    ):
        headway.check(broken.Neither)
    with pytest.raises(UsageError, match=r"`rotary` \(positions\) is neither a mixer nor a model"):
        headway.check("rotary")
    with pytest.raises(UnknownName, match="unknown mixer or model `transfomer`\nHint: did you mean `transformer`"):
        headway.check("transfomer")
    with pytest.raises(UsageError, match="no task trains a model that reads sounds and gives one vector\nHint: known"):
        kinds_of(SimpleNamespace(reads=("sounds",), gives=("one vector",)))
    with pytest.raises(UsageError, match="`reads` and `gives` should be tuples, not 'tokens'"):
        kinds_of(SimpleNamespace(reads="tokens", gives=("one vector",)))


@pytest.mark.parametrize("name", ["gpt", "transformer", "encoder", "cnn"])
def test_one_model_of_each_kind_passes(name: str) -> None:
    assert headway.check(name).ok


def test_each_kind_has_contracts() -> None:
    counts = [sum(len(group) for group, reason in contracts_for(kind) if not reason) for kind in KINDS]
    assert counts[:4] == [12, 12, 9, 9] and min(counts) >= 7


def test_a_check_leaves_the_random_numbers_and_the_precision_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    headway.check("gru")
    assert torch.equal(torch.rand(2), expected) and torch.get_default_dtype() == torch.float32
