"""Tokens: their form, their age, and one more try after a 401."""

from __future__ import annotations

import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

import pytest

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import real_now
from reconciler.live.errors import CallRefused
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import EksTokens, Token, eks_token
from tests.live.aws_server import FakeAws
from tests.live.kube_server import TOKEN, Kubernetes, calm

NAMESPACE = Gvk("v1", "Namespace")


def _url(value: str) -> str:
    text = value.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def test_a_token_is_a_presigned_identity_that_names_the_cluster(session: AwsSession, aws: FakeAws) -> None:
    token = eks_token(session, "prod")
    url = urlparse(_url(token.value))
    query = {k: v[0] for k, v in parse_qs(url.query).items()}
    assert f"{url.scheme}://{url.netloc}" == aws.url  # AWS_ENDPOINT_URL is honoured
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-Expires"] == "60"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert "us-west-2/sts/aws4_request" in query["X-Amz-Credential"]
    assert timedelta(minutes=13) < token.expires - real_now() <= timedelta(minutes=14)


def test_a_token_does_not_show_itself() -> None:
    """D05."""
    assert "k8s-aws-v1" not in repr(Token("k8s-aws-v1.secret", real_now()))


def test_a_token_is_kept_for_thirteen_minutes(session: AwsSession) -> None:
    """E01: a run of sixteen minutes uses two."""
    now = real_now()
    moments = [now]
    tokens = EksTokens(session, "prod", now=lambda: moments[-1])
    first = tokens.current()
    moments.append(now + timedelta(minutes=12, seconds=59))
    assert tokens.current() == first
    moments.append(now + timedelta(minutes=13))
    tokens.current()
    moments.append(now + timedelta(minutes=25))
    second = tokens.current()
    moments.append(now + timedelta(minutes=25, seconds=1))
    assert tokens.current() == second


def test_two_threads_that_were_rejected_make_one_new_token(session: AwsSession) -> None:
    tokens = EksTokens(session, "prod")
    old = tokens.current()
    new = tokens.renewed(old)
    assert tokens.renewed("some older one") == new


class Rotating:
    """Hands out one token after another; counts how often it was asked for a new one."""

    def __init__(self, *values: str) -> None:
        self._values = list(values)
        self.renewals = 0

    def current(self) -> str:
        return self._values[0]

    def renewed(self, rejected: str) -> str:
        self.renewals += 1
        if len(self._values) > 1 and self._values[0] == rejected:
            self._values.pop(0)
        return self._values[0]


@pytest.mark.parametrize("change", [False, True], ids=["reading", "changing"])
def test_one_more_try_after_a_401(change: bool, kubernetes: Kubernetes) -> None:
    """E01: also in the middle of an apply, since a 401 means that nothing happened."""
    calm(kubernetes)
    tokens = Rotating("died", TOKEN)
    with KubeCluster(kubernetes.url, kubernetes.ca_pem, tokens, pause=lambda _: None) as kube:
        if change:
            meta = {"name": "after-401", "labels": {"by": "t"}}
            kube.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": meta}], op="OP1")
        else:
            assert kube.list(NAMESPACE)
    assert tokens.renewals == 1


def test_a_second_401_is_refused_and_never_not_found(kubernetes: Kubernetes) -> None:
    """E01."""
    calm(kubernetes)
    tokens = Rotating("died", "died too")
    with KubeCluster(kubernetes.url, kubernetes.ca_pem, tokens, pause=lambda _: None) as kube:
        with pytest.raises(CallRefused) as caught:
            kube.get(NAMESPACE, None, "default")
        assert caught.value.reason == "ExpiredToken"
    assert tokens.renewals == 1
