import { createAdmission } from "../../../src/registrar/node-wide/admission";
import type { NameLists } from "../../../src/registrar/node-wide/name-lists";
import { recordLog } from "../../support/recorded-log";

const NAME = "disk.csi.example.com";
const OTHER = "file.csi.example.com";

/** Asks, and keeps book of who got a name. */
function observe(admission: ReturnType<typeof createAdmission>) {
  const log = recordLog();
  const granted: string[] = [];
  const owners = new Map<string, { readonly csiAddress: string }>();
  const ownerOf = (who: string) => {
    const owner = owners.get(who) ?? { csiAddress: `/plugins/${who}/csi.sock` };
    owners.set(who, owner);
    return owner;
  };
  return {
    log,
    granted,
    request: async (who: string, name = NAME) => {
      void admission.request(name, ownerOf(who), log.logger).then(() => granted.push(`${who} ${name}`));
      await settled();
    },
    release: async (who: string) => {
      admission.release(ownerOf(who));
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("the first to ask gets the name, others wait and are reported", async () => {
  const { request, granted, log } = observe(createAdmission());
  await request("first");
  await request("second");
  await request("third", OTHER);
  expect(granted).toEqual([`first ${NAME}`, `third ${OTHER}`]);
  expect(log.all("Another CSI driver on this node has the name, waiting")).toMatchObject([
    { severity: "error", fields: { csiDriverName: NAME, other: "/plugins/first/csi.sock" } },
  ]);
});

test("a name that is given up goes to the next in line", async () => {
  const { request, release, granted } = observe(createAdmission());
  for (const who of ["first", "second", "third"]) await request(who);
  await release("first");
  expect(granted).toEqual([`first ${NAME}`, `second ${NAME}`]);
  await release("second");
  expect(granted).toEqual([`first ${NAME}`, `second ${NAME}`, `third ${NAME}`]);
});

test("a name that is given up goes to who waits for it, whoever asked for another before", async () => {
  const { request, release, granted } = observe(createAdmission());
  await request("other", OTHER);
  for (const who of ["first", "second"]) await request(who);
  await release("first");
  expect(granted).toEqual([`other ${OTHER}`, `first ${NAME}`, `second ${NAME}`]);
});

test("who waits and gives up is passed over", async () => {
  const { request, release, granted } = observe(createAdmission());
  for (const who of ["first", "second", "third"]) await request(who);
  await release("second");
  await release("first");
  expect(granted).toEqual([`first ${NAME}`, `third ${NAME}`]);
});

test("a driver that comes back under another name gives up the former one", async () => {
  const { request, granted } = observe(createAdmission());
  await request("first");
  await request("second");
  await request("first", OTHER);
  expect(granted).toEqual([`first ${NAME}`, `second ${NAME}`, `first ${OTHER}`]);
});

test("a name that was given up can be had again", async () => {
  const { request, release, granted } = observe(createAdmission());
  await request("first");
  await release("first");
  await release("first");
  await request("second");
  expect(granted).toEqual([`first ${NAME}`, `second ${NAME}`]);
});

const NOT_ALLOWED = "it is not among those allowed";
const DENIED = "it is among those denied";

test.each<[string, NameLists, readonly string[], readonly string[]]>([
  ["no list", {}, [NAME, OTHER], []],
  ["a name in allow", { allow: [NAME] }, [NAME], [NOT_ALLOWED]],
  ["an empty allow", { allow: [] }, [], [NOT_ALLOWED, NOT_ALLOWED]],
  ["a name in deny", { deny: [NAME] }, [OTHER], [DENIED]],
  ["a name in both", { allow: [NAME, OTHER], deny: [NAME] }, [OTHER], [DENIED]],
])("with %s", async (_, lists, wanted, because) => {
  const { request, granted, log } = observe(createAdmission(lists));
  await request("one", NAME);
  await request("two", OTHER);
  expect(granted.map((grant) => grant.split(" ")[1])).toEqual(wanted);
  const said = log.all("CSI driver is not to be registered by this registrar");
  expect(said.map(({ fields }) => fields.because)).toEqual(because);
});

test("a name that is not wanted is not kept from a driver that has a right to it", async () => {
  const { request, release, granted } = observe(createAdmission({ deny: [OTHER] }));
  await request("first", OTHER);
  await request("first", NAME);
  await release("first");
  expect(granted).toEqual([`first ${NAME}`]);
});
