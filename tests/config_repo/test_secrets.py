"""What looks like a secret is found; what GitOps is full of is not."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.config_repo.secrets import find_secrets, mask_secrets

# Written in pieces, so that no scanner of this repository stumbles over them.
HF = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
RANDOM40 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

FOUND = [
    ("AKIA" + "IOSFODNN7EXAMPLE", "AWS access key id"),
    ("x ASIA" + "IOSFODNN7EXAMPLE y", "AWS access key id"),
    (f"aws_secret_access_key = {RANDOM40}", "value of"),
    (json.dumps({"SecretAccessKey": RANDOM40}), "value of"),
    (json.dumps({"msg": json.dumps({"secretAccessKey": RANDOM40})}), "value of"),
    ("aws_session_token=IQoJb3JpZ2luX2VjE" + "A1b2C3d4" * 20, "AWS session token"),
    ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE", "private key"),
    ("-----BEGIN OPENSSH " + "PRIVATE KEY-----", "private key"),
    (f"HF_TOKEN={HF}", "Hugging Face token"),
    (f"cannot download with {HF}: 401", "Hugging Face token"),
    ("gh" + "p_" + "a1B2" * 9, "GitHub token"),
    ("github_" + "pat_" + "a1B2" * 20, "GitHub token"),
    ("glpat-" + "a1B2c3D4e5F6g7H8i9J0", "GitLab token"),
    ("xox" + "b-1234567890-abcdefgh", "Slack token"),
    ("sk-ant-" + "api03-a1B2c3D4e5F6g7H8i9J0", "API key"),
    ("nvapi-" + "a1B2" * 12, "NVIDIA API key"),
    (f"Authorization: Bearer {JWT}", "authorization header"),
    (JWT, "JSON web token"),
    ("k8s-aws-v1." + "aHR0cHM6Ly9zdHMuZXUtd2VzdC0x", "EKS token"),
    ("https://bob:pa55" + "word@example.com/x.git", "password in a URL"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Signature=" + "0a" * 32, "presigned URL"),
    ("password: Tr0ub4dor&3", "value of password"),
    ('"dbPassword": "correct-horse"', "value of dbPassword"),
    ("WANDB_API_KEY: " + "0123456789abcdef0123456789abcdef01234567", "value of WANDB_API_KEY"),
    ("- name: HF_TOKEN\n  value: q9X2" + "vB7nM4kL8sD1fG6h", "value of HF_TOKEN"),
    (json.dumps([{"name": "GRAFANA_TOKEN", "value": "q9X2" + "vB7nM4kL8sD1fG6h"}]), "value of GRAFANA_TOKEN"),
]

FINE = [
    ('{"op":"01JAZ5Q8T3W4X5Y6Z7A8B9C0D1","token":"01JAZ5Q8T3W4X5Y6Z7A8B9C0D1"}', "an op's client token is its ulid"),
    ('"clientRequestToken": "2f1c4e1a-7d52-4a0e-9a3b-6f1de2c4b5a6"', "an idempotency token"),
    ('{"rev":"8c1f2ab08c1f2ab08c1f2ab08c1f2ab08c1f2ab0"}', "a commit id"),
    ("image: x@sha256:" + "0a1b2c3d" * 8, "a digest"),
    ('"digest":"' + "0a1b2c3d" * 8 + '"', "a digest"),
    ("arn:aws:sagemaker:eu-west-1:111122223333:cluster/abc123def456", "an ARN"),
    ("secretArn: arn:aws:secretsmanager:eu-west-1:111122223333:secret:hf-token-AbCdEf", "where a secret is"),
    ("token: arn:aws:secretsmanager:eu-west-1:111122223333:secret:hf-token-AbCdEf", "where a secret is"),
    ("tokenSecret: hf-token-for-downloads", "the name of a Kubernetes Secret"),
    ("secretKeyRef:\n  name: huggingface-credentials\n  key: token", "a reference to one"),
    ("imagePullSecrets: [{name: registry-credentials}]", "a list of names"),
    ("HF_TOKEN: ${HF_TOKEN}", "a variable"),
    ("password: <your password>", "a placeholder"),
    ("api_key: {{ .Values.apiKey }}", "a template"),
    ("password: changeme", "a placeholder"),
    ("serviceAccountToken: true", "a switch"),
    ("automountServiceAccountToken: false", "a switch"),
    ("the access key has expired; the token was refused", "prose about secrets"),
    ("AccessDenied: User arn:aws:sts::111122223333:assumed-role/prod/i-0abc is not authorized", "an error of AWS"),
    ("s3://sagemaker-prod-111122223333-eu-west-1/lifecycle/on_create.sh", "an S3 address"),
    ("subnet-0a1b2c3d4e5f60718 vpc-0a1b2c3d4e5f60718 i-0a1b2c3d4e5f60718", "ids of AWS"),
    ("AROAEXAMPLEROLEID1234 AIDAEXAMPLEUSERID12345", "unique ids of IAM, which are no credentials"),
    ("git@github.com:example/config.git and ssh://git@example.com/x", "addresses without a password"),
    ("http://127.0.0.1:3099/api/v1 at 10:03:22", "a port and a time"),
    ("oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE", "an OIDC issuer"),
    ("max_tokens: 4096\ntokenizer: meta-llama/Llama-3.1-8B-Instruct", "models have tokens too"),
    ("tokenizer_token: meta-llama/Llama-3.1-8B-Instruct", "a model's name"),
    ("basic authentication is not supported by this endpoint", "prose"),
    ("", "nothing"),
]


@pytest.mark.parametrize(("text", "kind"), FOUND)
def test_found(text: str, kind: str) -> None:
    """R10"""
    findings = find_secrets(text)
    assert findings, text
    assert findings[0].kind.startswith(kind)


@pytest.mark.parametrize(("text", "reason"), FINE)
def test_fine(text: str, reason: str) -> None:
    assert find_secrets(text) == [], reason
    assert mask_secrets(text) == text


def test_place_and_mask() -> None:
    finding = find_secrets(f"a: b\nc:\n  d: {HF} # x")[0]
    assert (finding.line, finding.column) == (3, 6)
    assert finding.masked == "hf_A*** (37 characters)"
    assert mask_secrets(f"see {HF}!") == "see ***!"
    assert find_secrets("password: Tr0ub4dor&3")[0].masked == "*** (11 characters)"


def test_several_on_one_line() -> None:
    assert mask_secrets(f"{HF} and {JWT} and AKIA{'A' * 16}") == "*** and *** and ***"


@given(st.text(alphabet="0123456789abcdef", min_size=64, max_size=64), st.uuids())
def test_ids_pass(digest: str, uuid: object) -> None:
    line = json.dumps(
        {"rev": digest[:40], "digest": digest, "token": str(uuid), "ref": f"arn:aws:eks:x:1:cluster/{uuid}"}
    )
    assert find_secrets(line) == []


@given(
    st.text(max_size=30),
    st.text(alphabet=string.ascii_letters + string.digits, min_size=34, max_size=34),
    st.text(max_size=30),
)
def test_a_planted_token_never_survives_masking(before: str, body: str, after: str) -> None:
    masked = mask_secrets(f"{before} hf_{body} {after}")
    assert body not in masked


@given(st.text(max_size=300))
def test_masking_is_stable(text: str) -> None:
    once = mask_secrets(text)
    assert [f.kind for f in find_secrets(once)] == []
