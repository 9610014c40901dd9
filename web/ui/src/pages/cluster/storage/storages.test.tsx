import { expect, test } from "vitest";
import type { ClusterView, StorageWish } from "../../../api/schema";
import { json, person, problem, serve, show, until } from "../../../testing/service";
import { t } from "../../../texts";
import { Storages } from "./storages";

const shared: StorageWish = {
  name: "shared",
  bucket: "example-bucket",
  prefix: "data/shared/",
  region: "us-west-2",
  own: true,
  namespace: "training",
  read_only: false,
  capacity: "1200Gi",
  mount_options: [],
  where: "",
};
const view = { cluster: "prod", desired: { storages: [shared] } } as unknown as ClusterView;
const thing = { key: "Storage/prod/shared", type: "k8s.Storage", presence: "present", health: "healthy", message: "" };
const RESOURCES = { "GET /api/v1/clusters/prod/resources": { items: [thing], next: null, parts: [] } };
const OBJECTS = "GET /api/v1/clusters/prod/storages/shared/objects";
const folder = (items: object[], next: string | null = null) => ({ items, next, bucket: "b", prefix: "p", parts: [] });
const file = (name: string, bytes: number) => ({ kind: "file", name, path: name, bytes, modified: null });

test("a Storage says how it is, where its data is and how pods see it", async () => {
  serve(RESOURCES);
  const { page } = show(<Storages view={view} />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  const row = page.findTable()?.findRows()[0]?.getElement().textContent;
  for (const text of ["shared", "Mounted", "example-bucket/data/shared/", "shared in training", "1200Gi"]) {
    expect(row).toContain(text);
  }
});

test("what lies in it is read folder by folder and page by page", async () => {
  serve({
    ...RESOURCES,
    [`${OBJECTS}?limit=100&path=`]: folder([{ kind: "folder", name: "models", path: "models/" }]),
    [`${OBJECTS}?limit=100&path=models%2F`]: folder([file("one.bin", 2048)], "c1"),
    [`${OBJECTS}?limit=100&path=models%2F&cursor=c1`]: folder([file("two.bin", 10)]),
  });
  const { page, router } = show(<Storages view={view} />, { path: "/?tab=storage&storage=shared" });
  const inside = () => page.findAllTables()[1];
  await until(() => expect(inside()?.findRows()).toHaveLength(1));
  inside()?.find("tbody a")?.click();
  await until(() => expect(inside()?.getElement().textContent).toContain("2 KiB"));
  expect(router.state.location.search).toBe("?tab=storage&storage=shared&path=models%2F");
  inside()?.findFooterSlot()?.findButton()?.click();
  await until(() => expect(inside()?.findRows()).toHaveLength(2));
  expect(inside()?.findFooterSlot()?.findButton() ?? null).toBeNull();
});

test("a folder is read again by its button", async () => {
  const service = serve({ ...RESOURCES, [OBJECTS]: folder([file("one.bin", 2048)]) });
  const { page } = show(<Storages view={view} />, { path: "/?tab=storage&storage=shared" });
  await until(() => expect(page.findAllTables()[1]?.findRows()).toHaveLength(1));
  const listed = () => service.asked.filter(({ path }) => path.includes("/objects")).length;
  expect(listed()).toBe(1);
  page.find(`[aria-label="${t.storage.browse.again}"]`)?.click();
  await until(() => expect(listed()).toBe(2));
});

test("a folder that cannot be read says so, and offers another try", async () => {
  let isDenied = true;
  serve({
    ...RESOURCES,
    [OBJECTS]: () => (isDenied ? problem(422, "AccessDenied", "s3 says no") : folder([])),
  });
  const { page } = show(<Storages view={view} />, { path: "/?tab=storage&storage=shared" });
  await until(() => expect(page.findAlert()?.getElement().textContent).toContain("s3 says no"));
  isDenied = false;
  page.findAlert()?.findActionSlot()?.findButton()?.click();
  await until(() => expect(page.getElement().textContent).toContain(t.storage.browse.empty.title));
});

test("a Storage is added by a change, once its form is right", async () => {
  const service = serve({ ...RESOURCES, "POST /api/v1/changes": () => json({ id: "01j" }, 201) });
  const { page, whole, router } = show(<Storages view={view} />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  page
    .findAllButtons()
    .find((button) => button.getElement().textContent === t.storage.actions.add)
    ?.click();
  const submit = () => whole.findModal()?.findFooter()?.findAllButtons()[1]?.click();
  submit();
  await until(() => expect(whole.findModal()?.getElement().textContent).toContain(t.storage.add.nameBad));
  expect(service.asked.filter(({ method }) => method === "POST")).toEqual([]);
  whole.findModal()?.findContent().findInput()?.setInputValue("sets");
  submit();
  await until(() => expect(router.state.location.pathname).toBe("/changes/01j"));
  expect(service.asked.find(({ method }) => method === "POST")?.body).toMatchObject({
    title: t.storage.add.change("sets"),
    edits: [
      { edit: "put", cluster: "prod", document: { kind: "Storage", metadata: { name: "sets" }, spec: { s3: {} } } },
    ],
  });
});

test("who may only read sees it all, and why not more", async () => {
  serve(RESOURCES);
  const { page } = show(<Storages view={view} />, { who: person(["read"]) });
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  const add = page.findAllButtons().find((button) => button.getElement().textContent?.includes(t.storage.actions.add));
  expect(add?.isDisabled()).toBe(true);
});
