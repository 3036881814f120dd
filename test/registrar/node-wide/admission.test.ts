import { createAdmission } from "../../../src/registrar/node-wide/admission";
import { recordLog } from "../../support/recorded-log";

const NAME = "disk.csi.example.com";
const OTHER = "file.csi.example.com";

/** Asks, and keeps book of who got a name. */
function observe(admission: ReturnType<typeof createAdmission>) {
  const log = recordLog();
  const granted: string[] = [];
  const withheld: string[] = [];
  const addressOf = (who: string) => `/plugins/${who}/csi.sock`;
  return {
    log,
    granted,
    withheld,
    request: async (who: string, name = NAME) => {
      const requested = admission.request(name, addressOf(who), log.logger, ({ kind, text }) =>
        withheld.push(`${kind}: ${text}`),
      );
      void requested.then(() => granted.push(`${who} ${name}`));
      await settled();
    },
    release: async (who: string) => {
      admission.release(addressOf(who));
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("the first driver of a name gets it, others wait and are reported", async () => {
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

test("a name that the lists exclude is not granted, and both the log and the driver's trouble say so", async () => {
  const { request, granted, log, withheld } = observe(createAdmission({ deny: [NAME] }));
  await request("one", NAME);
  await request("two", OTHER);
  await request("three", OTHER);
  expect(granted).toEqual([`two ${OTHER}`]);
  const [said] = log.all("CSI driver is excluded by the name lists");
  expect(said?.fields.because).toBe("it is among those denied");
  expect(withheld).toEqual([
    `not-wanted: the name lists exclude ${NAME}`,
    `name-withheld: another driver on this node has the name ${OTHER}`,
  ]);
});

test("a denied driver does not hold a name that another may have", async () => {
  const { request, release, granted } = observe(createAdmission({ deny: [OTHER] }));
  await request("first", OTHER);
  await request("first", NAME);
  await release("first");
  expect(granted).toEqual([`first ${NAME}`]);
});
