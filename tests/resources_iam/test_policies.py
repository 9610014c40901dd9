"""Policy documents compared by meaning; trust between its short form and a document."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.resources.iam.policies import (
    inline_in_words_of,
    normal_policy,
    read_policy,
    same_policy,
    trust_document,
    trust_in_words_of,
)

IRSA = {
    "irsa": {
        "provider": "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/ABC",
        "issuer": "oidc.eks.us-west-2.amazonaws.com/id/ABC",
        "serviceAccount": "kube-system/aws-node",
    }
}


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(**rest: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*", **rest}


SAME = [
    ("order of actions", policy(allow(Action=["s3:ListBucket", "s3:GetObject"])), policy(allow())),
    ("a list of one is the string", policy(allow(Resource=["*"])), policy(allow())),
    ("one statement without its list", {"Version": "2012-10-17", "Statement": allow()}, policy(allow())),
    ("actions ignore case", policy(allow(Action=["S3:getobject", "s3:ListBucket"])), policy(allow())),
    ("a Sid says nothing", policy(allow(Sid="Read")), policy(allow())),
    ("order of statements", policy(allow(), allow(Effect="Deny")), policy(allow(Effect="Deny"), allow())),
    ("an action twice", policy(allow(Action=["s3:GetObject", "s3:ListBucket", "s3:GetObject"])), policy(allow())),
    (
        'a condition\'s true is "true"',
        policy(allow(Condition={"Bool": {"kms:GrantIsForAWSResource": True}})),
        policy(allow(Condition={"Bool": {"kms:GrantIsForAWSResource": ["true"]}})),
    ),
    ("everybody in both spellings", policy(allow(Principal="*")), policy(allow(Principal={"AWS": "*"}))),
]
OTHER = [
    ("another effect", policy(allow(Effect="Deny")), policy(allow())),
    ("resources mind case", policy(allow(Resource="arn:aws:s3:::A")), policy(allow(Resource="arn:aws:s3:::a"))),
    ("one action less", policy(allow(Action="s3:GetObject")), policy(allow())),
    ("a condition more", policy(allow(Condition={"Bool": {"aws:SecureTransport": "true"}})), policy(allow())),
    ("an older language", {**policy(allow()), "Version": "2008-10-17"}, policy(allow())),
]


@pytest.mark.parametrize(("why", "one", "other"), SAME, ids=[case[0] for case in SAME])
def test_these_mean_the_same(why: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert same_policy(one, other), why


@pytest.mark.parametrize(("why", "one", "other"), OTHER, ids=[case[0] for case in OTHER])
def test_these_do_not(why: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not same_policy(one, other), why


_statement = st.fixed_dictionaries(
    {
        "Effect": st.sampled_from(["Allow", "Deny"]),
        "Action": st.lists(st.sampled_from(["s3:Get*", "S3:List*", "ec2:Describe*"]), min_size=1, max_size=4),
        "Resource": st.one_of(st.just("*"), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=3)),
    }
)


@given(statements=st.lists(_statement, max_size=4), shuffled=st.randoms())
def test_the_normal_form_is_one(statements: list[dict[str, Any]], shuffled: Any) -> None:
    """Normal is a fixed point, and no shuffling changes it."""
    normal = normal_policy(policy(*statements))
    assert normal_policy(normal) == normal
    mixed = list(statements)
    shuffled.shuffle(mixed)
    assert normal_policy(policy(*mixed)) == normal


TRUSTS: list[dict[str, Any]] = [
    {"services": ["sagemaker.amazonaws.com"]},
    {"services": ["eks.amazonaws.com"], "actions": ["sts:AssumeRole", "sts:TagSession"]},
    {"services": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]},
    IRSA,
]


@pytest.mark.parametrize("trust", TRUSTS, ids=str)
def test_trust_there_and_back(trust: dict[str, Any]) -> None:
    assert trust_in_words_of(trust, trust_document(trust)) == trust
    assert trust_in_words_of(None, trust_document(trust)) == trust, "the short form is found without a wish, too"


def test_a_trust_in_other_words_is_shown_in_ours() -> None:
    wanted = {"services": ["pods.eks.amazonaws.com"], "actions": ["sts:TagSession", "sts:AssumeRole"]}
    live = trust_document({"services": ["pods.eks.amazonaws.com"], "actions": ["sts:AssumeRole", "sts:TagSession"]})
    assert trust_in_words_of(wanted, live) == wanted


def test_a_trust_for_a_former_issuer_differs() -> None:
    """A31: the issuer id is part of the comparison."""
    former = {"irsa": {**IRSA["irsa"], "issuer": "oidc.eks.us-west-2.amazonaws.com/id/OLD"}}
    assert trust_in_words_of(IRSA, trust_document(former)) != IRSA


def test_a_trust_we_would_not_write_is_shown_whole() -> None:
    both = {
        "Version": "2012-10-17",
        "Statement": [
            *trust_document(TRUSTS[0])["Statement"],
            *trust_document(IRSA)["Statement"],
        ],
    }
    assert set(trust_in_words_of(TRUSTS[0], both)) == {"document"}
    assert same_policy(trust_document(trust_in_words_of(None, both)), both)


def test_inline_policies_keep_the_authors_spelling_where_they_mean_the_same() -> None:
    wanted = {"read": policy(allow(Action=["s3:ListBucket", "s3:GetObject"])), "gone": policy(allow())}
    seen = {"read": policy(allow()), "hand-made": policy(allow(Effect="Deny"))}
    shown = inline_in_words_of(wanted, seen)
    assert shown == {"read": wanted["read"], "hand-made": seen["hand-made"]}


@pytest.mark.parametrize("text", ["%7B%22Version%22%3A%222012-10-17%22%7D", '{"Version":"2012-10-17"}'])
def test_documents_come_as_text_too(text: str) -> None:
    assert read_policy(text) == {"Version": "2012-10-17"}
