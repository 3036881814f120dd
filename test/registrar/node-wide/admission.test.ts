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

/** Step `1` is driver 1's request for NAME, `1:x` for the name x; `-1` gives up what driver 1 has or waits for. */
test.each<[string, steps: string, granted: readonly string[]]>([
  ["a name that is given up goes to the next in line", "1 2 3 -1 -2", ["1", "2", "3"]],
  ["whoever asked for another name before", `4:${OTHER} 1 2 -1`, [`4:${OTHER}`, "1", "2"]],
  ["who waits and gives up is passed over", "1 2 3 -2 -1", ["1", "3"]],
  ["who comes back under another name gives up the former", `1 2 1:${OTHER}`, ["1", "2", `1:${OTHER}`]],
  ["a name that was given up can be had again", "1 -1 -1 2", ["1", "2"]],
])("%s", async (_what, steps, expected) => {
  const { request, release, granted } = observe(createAdmission());
  for (const step of steps.split(" ")) {
    const [who = "", name] = step.split(":");
    await (step.startsWith("-") ? release(step.slice(1)) : request(who, name));
  }
  expect(granted).toEqual(
    expected.map((grant) => grant.split(":")).map(([who, name = NAME]) => `${who} ${name}`),
  );
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
  const said = log.all("CSI driver is excluded by the name lists");
  expect(said.map(({ fields }) => fields.because)).toEqual(because);
});

test("a name that is not wanted is not kept from a driver that has a right to it", async () => {
  const { request, release, granted } = observe(createAdmission({ deny: [OTHER] }));
  await request("first", OTHER);
  await request("first", NAME);
  await release("first");
  expect(granted).toEqual([`first ${NAME}`]);
});
