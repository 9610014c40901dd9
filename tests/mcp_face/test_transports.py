"""The same server in memory, over stdio in a process of its own, and over HTTP; with clients of both eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from instantstart_mcp import catalogue
from instantstart_mcp.server import make_server
from instantstart_mcp.stdio import Where, door
from schemas.principals import Kind, Scope
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.facebox import ERAS, WAYS, Era, Told, Way, agent, talk

UNKNOWN: list[tuple[Callable[[Client], Awaitable[object]], str, str]] = [
    (lambda client: client.call_tool("cluster_gone", {}), "Unknown tool: cluster_gone", "a tool"),
    (lambda client: client.call_tool("a\x1b[31mb" + "c" * 500, {}), "Unknown tool: abc", "no screen is coloured"),
    (lambda client: client.get_prompt("gone"), "Unknown prompt: gone", "a prompt"),
    (lambda client: client.get_prompt("create_cluster", {"wish": "x"}), "Unknown argument: wish", "an argument"),
    (lambda client: client.read_resource("instantstart://skills/gone"), "Unknown resource", "a resource"),
    (
        lambda client: client.read_resource("instantstart://clusters/gone/plan"),
        "UnknownCluster",
        "a cluster in one",
    ),
    (lambda client: client.list_tools(cursor="x"), "cursor: tools/list", "a cursor that nobody gave"),
    (lambda client: client.list_resources(cursor="x"), "cursor: resources/list", "the same"),
    (lambda client: client.list_resource_templates(cursor="x"), "cursor: resources/templates/list", "the same"),
    (lambda client: client.list_prompts(cursor="x"), "cursor: prompts/list", "the same"),
]
FOR_AGENTS = {value.name for value in catalogue.TOOLS if value.needs in ("read", "propose")}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", WAYS)
def test_tools_answers_and_refusals_are_the_same(api: ApiBox, way: Way, era: Era) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers", 3)})
    api.rig.settle()

    async def script(client: Client) -> None:
        assert client.protocol_version.startswith("2025" if era == "legacy" else "2026")
        assert client.server_info is not None and client.server_info.name == "instantstart"
        assert "_untrusted" in (client.instructions or "")
        assert {tool.name for tool in (await client.list_tools()).tools} == FOR_AGENTS
        fleet = Told.of(await client.call_tool("cluster_list", {}))
        assert [row["cluster"] for row in fleet.data["items"]] == ["prod"]
        one = Told.of(await client.call_tool("cluster_get", {"cluster": "prod"}))
        assert one.data["condition"] == "Ready" and one.data["groups"][0]["count"] == 3
        none = Told.of(await client.call_tool("cluster_get", {"cluster": "nobody"}))
        assert none.error and none.data["error"] == "UnknownCluster" and none.data["status"] == 404
        bad = Told.of(await client.call_tool("cluster_get", {"clusterTag": "prod"}))
        assert bad.error and bad.data["error"] == "BadArguments"

    talk(api, script, way=way, era=era)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("ask", "told", "why"),
    UNKNOWN,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_nothing_has_is_an_error_of_the_protocol(
    api: ApiBox, era: Era, ask: Callable[[Client], Awaitable[object]], told: str, why: str
) -> None:
    """Not a failure of a tool, and no mistake of ours: found by the conformance suite and the Inspector."""

    async def script(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await ask(client)
        return caught.value

    error = talk(api, script, way="http", era=era)
    assert error.code == INVALID_PARAMS, why
    assert error.message.startswith(told) and len(error.message) < 200, why


class TestMounted:
    """What stands before /mcp."""

    @pytest.mark.parametrize(
        ("method", "headers", "status", "why"),
        [
            ("POST", {}, 401, "no token"),
            ("POST", {"Authorization": "Bearer is_unknown"}, 401, "a token that nobody gave"),
            ("POST", {"Authorization": "Basic {token}"}, 401, "another scheme"),
            ("POST", {"Cookie": "instantstart_session_3099=x"}, 401, "a cookie counts nothing here"),
            (
                "POST",
                {"Authorization": "Bearer {token}", "Origin": "http://localhost:1"},
                403,
                "a page of another port",
            ),
            ("POST", {"Authorization": "Bearer {token}", "Sec-Fetch-Site": "same-site"}, 403, "the same, by metadata"),
            ("POST", {"Authorization": "Bearer {token}", "Host": "attacker.example"}, 421, "DNS rebinding"),
            ("GET", {"Authorization": "Bearer {token}"}, 405, "there is no stream to get"),
            ("DELETE", {"Authorization": "Bearer {token}"}, 405, "there is no session to end"),
        ],
        ids=lambda value: value if isinstance(value, str) and " " in value else "",
    )
    def test_who_gets_in(self, api: ApiBox, method: str, headers: dict[str, str], status: int, why: str) -> None:
        given = {name: value.replace("{token}", agent(api)) for name, value in headers.items()}
        answer = httpx2.request(method, f"{api.url}/mcp", headers=given, json={}, trust_env=False, timeout=120)
        assert answer.status_code == status, why
        assert "resource_metadata" not in answer.headers.get("www-authenticate", "")

    @pytest.mark.parametrize(
        "path", ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]
    )
    def test_nothing_points_to_an_oauth_server(self, api: ApiBox, path: str) -> None:
        """A client that found one would begin a dance that nobody here dances."""
        answer = httpx2.get(
            f"{api.url}/.well-known/{path}", headers={"Accept": "application/json"}, trust_env=False, timeout=120
        )
        assert answer.status_code == 404

    def test_a_revoked_token_is_out_at_once(self, api: ApiBox) -> None:
        token = agent(api)

        async def script(client: Client) -> str:
            assert not Told.of(await client.call_tool("cluster_list", {})).error
            for record in api.house.access.tokens.all():
                api.house.access.tokens.revoke(record.id)
            try:
                await client.call_tool("cluster_list", {})
            except Exception as error:
                return f"{type(error).__name__}: {error}"
            return "served"

        assert talk(api, script, token=token, way="http") != "served"

    def test_a_body_that_is_too_large_is_refused(self, api: ApiBox) -> None:
        headers = {"Authorization": f"Bearer {agent(api)}", "Content-Type": "application/json"}
        answer = httpx2.post(f"{api.url}/mcp", content=b"x" * (5 << 20), headers=headers, trust_env=False, timeout=120)
        assert answer.status_code == 413


class TestService:
    """A service that is not there, or is somebody else."""

    def test_one_that_cannot_be_reached_is_told(self, api: ApiBox) -> None:
        async def script() -> Told:
            made = door(Where(url="http://127.0.0.1:9", token="is_x"))
            async with made.client, Client(make_server(made)) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} == FOR_AGENTS
                return Told.of(await client.call_tool("cluster_list", {}))

        told = anyio.run(script)
        assert told.error and told.data["error"] == "Unreachable"


@pytest.mark.parametrize(
    ("scopes", "kind", "offered"),
    [
        (("read",), "agent", {"read"}),
        (("read", "propose"), "agent", {"read", "propose"}),
        (("read", "propose"), "person", {"read", "propose"}),
        (("read", "approve"), "person", {"read", "approve", "decide"}),
        (("read", "operate"), "person", {"read", "operate", "decide"}),
    ],
)
def test_what_a_token_may_not_do_is_not_offered(
    api: ApiBox, scopes: tuple[Scope, ...], kind: Kind, offered: set[str]
) -> None:
    async def script(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    shown = talk(api, script, token=api.token(*scopes, kind=kind))
    assert shown == {value.name for value in catalogue.TOOLS if value.needs in offered}
