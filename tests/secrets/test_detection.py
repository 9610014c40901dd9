"""What looks like a secret is found, with its place; what GitOps is full of is not. Every value here is made up."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.secrets import Finding, find_secrets, is_secret_name, mask_secrets

# Put together here, so that no scanner takes this file for a leak.
RANDOM = "q7Zr2Xw9Kd4Tn8Vb3Mh6Yc1Lp5Gs0Jf2Ae7Ru4Wi"
HF = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
RANDOM40 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

# The kind, the text, and what the mask may begin with (nothing but its stars if empty).
SECRETS = [
    ("AWS access key id", "key: " + "AKIA" + "Q3EGZT5WJH7KX2NB", "AKIA"),
    ("AWS access key id", "AKIA" + "IOSFODNN7EXAMPLE", "AKIA"),
    ("AWS access key id", "x ASIA" + "IOSFODNN7EXAMPLE y", "ASIA"),
    ("AWS access key id", "was AKIA" + "ABCDEFGHIJKLMNOP", "AKIA"),
    ("AWS session token", "aws_session_token=IQoJb3JpZ2luX2VjE" + "A1b2C3d4" * 20, "IQoJ"),
    ("value of aws_secret_access_key", f"aws_secret_access_key = {RANDOM40}", ""),
    ("value of AWS_SECRET_ACCESS_KEY", "export AWS_SECRET_ACCESS_KEY=" + RANDOM, ""),
    ("value of SecretAccessKey", json.dumps({"SecretAccessKey": RANDOM40}), ""),
    ("value of secretAccessKey", json.dumps({"msg": json.dumps({"secretAccessKey": RANDOM40})}), ""),
    (
        "value of secretAccessKey",
        json.dumps({"msg": json.dumps({"body": json.dumps({"secretAccessKey": RANDOM40})})}),
        "",
    ),
    ("private key", "x: |\n  -----BEGIN RSA " + "PRIVATE KEY-----\n", "----"),
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE", "----"),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----", "----"),
    ("private key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----", "----"),
    ("Hugging Face token", "  - name: X\n    value: hf_" + RANDOM[:34], "hf_q"),
    ("Hugging Face token", f"HF_TOKEN={HF}", "hf_A"),
    ("Hugging Face token", f"cannot download with {HF}: 401", "hf_A"),
    ("Hugging Face token", "api_org_" + RANDOM[:34], "api_"),
    ("Hugging Face token", "hf_" + RANDOM[:20], "hf_q"),
    ("GitHub token", "x: ghp_" + RANDOM[:36], "ghp_"),
    ("GitHub token", "gh" + "p_" + "a1B2" * 9, "ghp_"),
    ("GitHub token", "gh" + "s_" + "a1B2" * 5, "ghs_"),
    ("GitHub token", "x: github_pat_" + RANDOM, "gith"),
    ("GitHub token", "github_" + "pat_" + "a1B2" * 20, "gith"),
    ("GitLab token", "x: glpat-" + RANDOM[:20], "glpa"),
    ("GitLab token", "glpat-" + "a1B2c3D4e5F6g7H8i9J0", "glpa"),
    ("GitLab token", "gldt-" + "a1B2c3D4e5F6g7H8i9J0", "gldt"),
    ("Slack token", "x: xoxb-" + "1234567890-abcdefghij", "xoxb"),
    ("Slack token", "xox" + "b-1234567890-abcdefgh", "xoxb"),
    ("Slack webhook", "https://hooks.slack" + ".com/services/T00000000/B00000000/" + RANDOM[:24], "hook"),
    ("InstantStart token", "Authorization: is_" + RANDOM + "-_a", "is_q"),
    ("API key", "x: sk-" + RANDOM, "sk-q"),
    ("API key", "sk-ant-" + "api03-a1B2c3D4e5F6g7H8i9J0", "sk-a"),
    ("Google API key", "AIza" + RANDOM[:35], "AIza"),
    ("NVIDIA API key", "x: nvapi-" + RANDOM, "nvap"),
    ("NVIDIA API key", "nvapi-" + "a1B2" * 12, "nvap"),
    ("npm token", "npm_" + RANDOM[:36], "npm_"),
    ("PyPI token", "pypi-AgE" + RANDOM, "pypi"),
    ("Docker token", "dckr_pat_" + RANDOM[:27], "dckr"),
    ("JSON web token", "x: eyJ" + "hbGciOiJI.eyJ" + "zdWIiOiIx." + "c2lnbmF0dXJl", "eyJh"),
    ("JSON web token", JWT, "eyJh"),
    ("authorization header", f"Authorization: Bearer {JWT}", ""),
    ("authorization header", f"curl -H 'authorization: basic {RANDOM}=='", ""),
    ("authorization header", "Authorization: Bearer correcthorse" + "battery", ""),
    ("EKS token", "k8s-aws-v1." + "aHR0cHM6Ly9zdHMuZXUtd2VzdC0x", "k8s-"),
    ("password in a URL", "x: postgres://me:" + "hunter22@db.example.com/x", ""),
    ("password in a URL", "https://bob:pa55" + "word@example.com/x.git", ""),
    ("password in a URL", "redis://:pa55" + "word@cache.example.com", ""),
    ("presigned URL", "https://b.s3.amazonaws.com/k?X-Amz-Signature=" + "0a" * 32, "X-Am"),
    ("presigned URL", "https://sts.amazonaws.com/?X-Amz-Signature=" + "0123456789abcdef", "X-Am"),
    ("signature of a request", "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=" + "0a" * 32, ""),
    ("value of HF_TOKEN", "HF_TOKEN: " + RANDOM, ""),
    ("value of HF_TOKEN", "- name: HF_TOKEN\n  value: q9X2" + "vB7nM4kL8sD1fG6h", ""),
    ("value of GRAFANA_TOKEN", json.dumps([{"name": "GRAFANA_TOKEN", "value": "q9X2" + "vB7nM4kL8sD1fG6h"}]), ""),
    ("value of password", "password: Tr0ub4dor&3", ""),
    ("value of password", "password: 'a{b;c[d9'", ""),
    ("value of password", "password: q7Z/r2Xw9Kd4Tn/8Vb3Mh6Yc1", ""),
    ("value of password", "password: my-Kd4Tn8Vb3Mh6", ""),
    ("value of dbPassword", '"dbPassword": "correct-horse"', ""),
    ("value of dbPassword", 'dbPassword: "' + "correct-Horse9-battery" + '"', ""),
    ("value of api-key", "api-key: " + RANDOM, ""),
    ("value of api_key", "api_key: " + RANDOM[:8], ""),
    ("value of token", "token: " + RANDOM[:20], ""),
    ("value of WANDB_API_KEY", "- name: WANDB_API_KEY\n  value: " + "0f3a9c" * 6 + "7b1d", ""),
    ("value of WANDB_API_KEY", '{"name": "WANDB_API_KEY", "value": "' + RANDOM + '"}', ""),
    ("value of WANDB_API_KEY", "WANDB_API_KEY: " + "0123456789abcdef0123456789abcdef01234567", ""),
    ("value of token", "bad secret: token: " + RANDOM[:20], ""),
    ("value of token", "İ token: " + RANDOM[:20], ""),
]


@pytest.mark.parametrize(("kind", "text", "prefix"), SECRETS, ids=[f"{case[0]} {n}" for n, case in enumerate(SECRETS)])
def test_found_and_masked(kind: str, text: str, prefix: str) -> None:
    """R10, D05: told once, with its kind and place; the mask shows at most what tells the kind."""
    (finding,) = find_secrets(f"# a\n{text}\n")
    assert finding.kind == kind
    assert finding.line >= 2
    assert finding.masked.partition("***")[0] == prefix
    assert finding.by_name == kind.startswith("value of")


HARMLESS = [
    ("a commit", "commit: 8f14e45fceea167a5a36dedd4bea2543a1b2c3d4"),
    ("a commit id", '{"rev":"8c1f2ab08c1f2ab08c1f2ab08c1f2ab08c1f2ab0"}'),
    ("a digest", "token: sha256:8f14e45fceea167a5a36dedd4bea2543a1b2c3d4e5f60718293a4b5c6d7e8f90"),
    ("a digest of an image", "image: x@sha256:" + "0a1b2c3d" * 8),
    ("a digest in JSON", '"digest":"' + "0a1b2c3d" * 8 + '"'),
    ("a ULID", "op: 01JA3Z5Q8W9X7Y6V4T2S1R0PNM"),
    ("an op's client token is its ulid", '{"op":"01JAZ5Q8T3W4X5Y6Z7A8B9C0D1","token":"01JAZ5Q8T3W4X5Y6Z7A8B9C0D1"}'),
    ("a ulid whatever its name", "lockToken=01JAZ5Q8T3W4X5Y6Z7A8B9C0D1"),
    ("an idempotency token", '"clientRequestToken": "2f1c4e1a-7d52-4a0e-9a3b-6f1de2c4b5a6"'),
    ("an idempotency token of two parts", '"token": "01JAZ5Q8T3W4X5Y6Z7A8B9C0D1-2"'),
    ("the next page", "nextToken=AAMA-EFRSURBSGhtb"),
    ("an ARN", "arn:aws:sagemaker:eu-west-1:111122223333:cluster/abc123def456"),
    ("an ARN of a secret", "secret: arn:aws:secretsmanager:us-west-2:111122223333:secret:hf-AbCdEf"),
    ("where a secret is", "secretArn: arn:aws:secretsmanager:eu-west-1:111122223333:secret:hf-token-AbCdEf"),
    ("where a token is", "token: arn:aws:secretsmanager:eu-west-1:111122223333:secret:hf-token-AbCdEf"),
    ("a role", "principal: arn:aws:iam::111122223333:role/engineers"),
    ("a reference", "tokenSecretRef: {name: huggingface-2024, key: HF_TOKEN}"),
    ("a reference to a key", "secretKeyRef:\n  name: huggingface-credentials\n  key: token"),
    ("a parameter elsewhere", "token: ssm:/prod/q7Zr2Xw9Kd4Tn8Vb3"),
    ("a list of names", "imagePullSecrets: [{name: registry-credentials}]"),
    ("a name of a secret", "secretName: huggingface-token-v2"),
    ("the name of a Kubernetes Secret", "tokenSecret: hf-token-for-downloads"),
    ("a name that Kubernetes made", "tokenSecret: prod-token-8f14e45fce"),
    ("a name as value", "secret: my-cluster-secret"),
    ("a variable", "HF_TOKEN: ${HF_TOKEN_FROM_ENVIRONMENT}"),
    ("the same variable", "HF_TOKEN: ${HF_TOKEN}"),
    ("a shell command", "TOKEN=$(curl -s http://169.254.169.254/latest/api/token)"),
    ("a placeholder with a number", "password: <your password here 123>"),
    ("a placeholder", "password: <your password>"),
    ("a word for a placeholder", "password: changeme"),
    ("a path of a password", "password: secrets/prod/db-password"),
    ("what was masked", "password: *** (11 characters), token=***"),
    ("what was hidden", "password: (hidden)"),
    ("a template", "api_key: {{ .Values.apiKey }}"),
    ("an empty value", "HF_TOKEN: ''"),
    ("a switch", "serviceAccountToken: true"),
    ("another switch", "automountServiceAccountToken: false"),
    ("the next field is not its value", "token:\n  expires: 2026-09-01T18:00:00Z"),
    ("a number of tokens", "max_tokens: 32768000"),
    ("models have tokens too", "max_tokens: 4096\ntokenizer: meta-llama/Llama-3.1-8B-Instruct"),
    ("a model's name", "tokenizer_token: meta-llama/Llama-3.1-8B-Instruct"),
    ("a word about tokens", "# a token bucket: 100 requests"),
    ("prose about secrets", "the access key has expired; the token was refused"),
    ("prose about authentication", "basic authentication is not supported by this endpoint"),
    ("an error of AWS", "AccessDenied: User arn:aws:sts::111122223333:assumed-role/prod/i-0abc is not authorized"),
    ("an address without password", "repository: https://example.com/charts.git"),
    ("an address with a port", "url: https://user:443/path"),
    ("an address with a masked password", "https://bob:***@example.com/x.git"),
    ("addresses with a user only", "git@github.com:example/config.git and ssh://git@example.com/x"),
    ("a port and a time", "http://127.0.0.1:3099/api/v1 at 10:03:22"),
    ("an OIDC issuer", "oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"),
    ("an S3 address", "s3://sagemaker-prod-111122223333-eu-west-1/lifecycle/on_create.sh"),
    ("a path", "tokenFile: /var/run/secrets/eks.amazonaws.com/serviceaccount/token"),
    ("a path as value", "token: /var/run/secrets/token-2024/Abc"),
    ("an image", "image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/train@sha256:8f14e45fceea167a5a36dedd4bea2543"),
    ("an instance", "nodes: [i-0123456789abcdef0]"),
    ("ids of AWS", "subnet-0a1b2c3d4e5f60718 vpc-0a1b2c3d4e5f60718 i-0a1b2c3d4e5f60718"),
    ("unique ids of IAM, which are no credentials", "AROAEXAMPLEROLEID1234 AIDAEXAMPLEUSERID12345"),
    ("base64 of something", "script: IyEvYmluL2Jhc2gKZWNobyBoZWxsbwo="),
    ("a resource", "nvidia.com/gpu: 8"),
    ("words with the letters of a mark", "task-runner disk-0a1b2c3d high-throughput weights xoxo"),
    ("plain words", "cluster prod: 12/16 nodes; subnet-0a1b2c3d4e5f is in use"),
    ("nothing", ""),
]


@pytest.mark.parametrize(("reason", "text"), HARMLESS, ids=[case[0] for case in HARMLESS])
def test_not_found(reason: str, text: str) -> None:
    assert find_secrets(text) == [], reason
    assert find_secrets(json.dumps({"msg": text})) == [], reason
    assert mask_secrets(text) == text


@given(st.text(alphabet="0123456789abcdef", min_size=64, max_size=64), st.uuids())
def test_ids_pass(digest: str, uuid: object) -> None:
    line = json.dumps(
        {"rev": digest[:40], "digest": digest, "token": str(uuid), "ref": f"arn:aws:eks:x:1:cluster/{uuid}"}
    )
    assert find_secrets(line) == []


def test_several_in_one_text_with_their_places() -> None:
    text = "a: 1\nx: hf_" + RANDOM[:34] + "\ny: glpat-" + RANDOM[:20] + "\n"
    assert [(found.kind, found.line, found.column) for found in find_secrets(text)] == [
        ("Hugging Face token", 2, 4),
        ("GitLab token", 3, 4),
    ]


def test_one_secret_is_told_once() -> None:
    found = find_secrets("HF_TOKEN: hf_" + RANDOM[:34] + "/more")
    assert [finding.kind for finding in found] == ["Hugging Face token"]


def test_place_and_mask() -> None:
    finding = find_secrets(f"a: b\nc:\n  d: {HF} # x")[0]
    assert (finding.line, finding.column) == (3, 6)
    assert finding.masked == "hf_A*** (37 characters)"
    assert find_secrets("password: Tr0ub4dor&3")[0].masked == "*** (11 characters)"


def test_names() -> None:
    assert all(map(is_secret_name, ("HF_TOKEN", "dbPassword", "api-key", "aws_secret_access_key", "clientSecret")))
    assert all(map(is_secret_name, ("db_pwd", "private_key", "accountKey", "token_value")))
    assert not any(
        map(is_secret_name, ("tokenizer", "max_tokens", "secretName", "tokenSecretRef", "passwordFile", "key"))
    )


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_looked_at(text: str) -> None:
    assert all(isinstance(finding, Finding) for finding in find_secrets(text))


UNITS = (
    *("a", "A", "name: token\n", "token: ", "token=", "token=\t", "eyJ", ".eyJaaaaaaaa", "://a:", "x" * 50 + "@"),
    *(
        "sk-",
        "sk-.",
        '"value": "',
        "-----BEGIN ",
        "-----BEGIN RSA ",
        "password:a1b2",
        'password:"',
        "secret" + "a" * 90,
    ),
    *("basic ", "authorization: basic ", "X-Amz-Signature=", "api_key", "name:\\\\'", "IQoJ", "glpat-"),
)


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_long(unit: str) -> None:
    """Patterns that go back and forth over their input would let one file stop everything."""
    started = time.thread_time()
    mask_secrets((unit * 200_000)[:200_000] + " token PRIVATE KEY-----")
    find_secrets("token: " + (unit * 200_000)[:4000] + "9b!")
    assert time.thread_time() - started < 5


def test_clean_text_costs_little() -> None:
    """A journal line and a document, in microseconds; the bound leaves room for a busy machine."""
    line = json.dumps(
        {"at": "2026-03-01T10:00:00.000Z", "say": "Create node group workers", "v": 1, "seq": 12, "op": "x"}
    )
    started = time.thread_time()
    for _ in range(1000):
        find_secrets(line)
    assert time.thread_time() - started < 1
