import { expect, test } from "vitest";
import type { ClusterView, EventView } from "../../../api/schema";
import { serve, show, until } from "../../../testing/service";
import { t } from "../../../texts";
import { Events } from "./events";

const view = { cluster: "prod", desired: { groups: [{ name: "gpu" }] } } as unknown as ClusterView;
const EVENTS = "GET /api/v1/clusters/prod/events";

function event(more: Partial<EventView>): EventView {
  return {
    id: "1",
    at: "2026-03-01T09:00:00Z",
    first: "2026-03-01T09:00:00Z",
    source: "kubernetes",
    level: "warning",
    reason: "BackOff",
    message: "restarting failed container",
    about: "Pod/train-0",
    namespace: "training",
    group: "",
    instance: "",
    count: 1,
    ...more,
  };
}

test("an event says what, about which, where, how often, and leads to the log of a pod", async () => {
  serve({ [EVENTS]: { items: [event({ count: 4, instance: "i-1234abcd" })], next: null, parts: [] } });
  const { page } = show(<Events view={view} />);
  await until(() => expect(page.getElement().textContent).toContain("restarting failed container"));
  for (const text of ["BackOff", "Pod train-0", "training", "i-1234abcd", "4 times since"]) {
    expect(page.getElement().textContent).toContain(text);
  }
  expect(page.find("a")?.getElement().getAttribute("href")).toBe("/clusters/prod/pods/training/train-0");
});

test("HyperPod's reason is but what it is about: its level stands there instead", async () => {
  const told = event({ source: "hyperpod", level: "error", reason: "Instance", about: "Instance/i-1234abcd" });
  serve({ [EVENTS]: { items: [told], next: null, parts: [] } });
  const { page } = show(<Events view={view} />);
  await until(() => expect(page.find("strong")?.getElement().textContent).toBe(t.happenings.levels.error));
  expect(page.find("a")).toBeNull();
});

test("what is chosen is asked of the service and stands in the address; where nothing is like it, there is a way back", async () => {
  const service = serve({ [EVENTS]: { items: [], next: null, parts: [] } });
  const { page, router } = show(<Events view={view} />, { path: "/?tab=events&level=error" });
  await until(() => expect(page.getElement().textContent).toContain(t.happenings.noMatch));
  page.findAllSelects()[1]?.openDropdown();
  page.findAllSelects()[1]?.selectOptionByValue("gpu");
  await until(() => expect(router.state.location.search).toBe("?tab=events&level=error&group=gpu"));
  const asked = () => service.asked.map(({ path }) => path).filter((path) => path.includes("/events"));
  await until(() => expect(asked().at(-1)).toContain("group=gpu"));
  expect(asked().at(-1)).toContain("level=error");
  await until(() => expect(page.getElement().textContent).toContain(t.happenings.noMatch));
  page
    .findAllButtons()
    .find((button) => button.getElement().textContent === t.common.clearFilter)
    ?.click();
  await until(() => expect(page.getElement().textContent).toContain(t.happenings.none));
});

test("a source that cannot be seen is told beside what the other says", async () => {
  const parts = [
    { name: "hyperpod-events", observed_at: null, unknown_since: "2026-03-01T09:00:00Z", message: "denied" },
  ];
  serve({ [EVENTS]: { items: [event({})], next: null, parts } });
  const { page } = show(<Events view={view} />);
  await until(() => expect(page.findAlert()?.getElement().textContent).toContain("denied"));
  expect(page.getElement().textContent).toContain("restarting failed container");
});
