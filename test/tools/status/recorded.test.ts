import { reportOn } from "../../../src/tools/doctor/node/report";
import { byOutcome } from "../../support/recorded";
import {
  DRIVERS,
  driverAt,
  factsOf,
  type More,
  own,
  PAIRS,
  PATHS,
  PLUGINS,
  REGISTERED,
  SEVERAL,
} from "../doctor/node/changed-facts";
import { MACHINE } from "../doctor/node/changed-machine";
import { healthyRegistrations } from "../doctor/node/healthy-facts";

// What the command prints of a healthy node of which one fact is another, and its exit code, recorded: `npx jest -u
// test/tools/status/recorded` writes it anew. The text of a gap is in the recording of doctor.

const GATHER = "../../../src/tools/doctor/node/read/gather";
let texts: string[] = [];
const printTo = (name: string) => (text: string) => {
  texts.push(`${name} ${text.trimEnd()}`);
  return 0;
};
const PRINTING = { print: printTo("out"), printError: printTo("err") };
let more: More = {};
let looked: ReturnType<typeof factsOf> | undefined;
jest.doMock("../../../src/runtime/print", () => PRINTING);
jest.doMock(GATHER, () => ({
  ...jest.requireActual<object>(GATHER),
  gatherFacts: async (target: object) => {
    const { driver, drivers = [], ...facts } = more;
    const found = [...("driver" in more && !driver ? [] : [driver ?? own]), ...drivers];
    looked = factsOf({
      ...facts,
      target: target as never,
      driver: undefined,
      drivers: found,
    });
    return looked;
  },
}));
const DIRECTORY = "../../../src/tools/doctor/node/read/directory";
const { resolveTarget } =
  jest.requireActual<typeof import("../../../src/tools/doctor/node/read/directory")>(DIRECTORY);
// There is a socket at the registrar's default address: status is of the whole node all the same.
const ALL_THERE = { exists: async () => true, mayBeDirectory: async () => true };
jest.doMock(DIRECTORY, () => ({
  ...jest.requireActual<object>(DIRECTORY),
  resolveTarget: (...[flags, env]: Parameters<typeof resolveTarget>) => resolveTarget(flags, env, ALL_THERE),
}));

async function statusOf(facts: More, ...words: readonly string[]) {
  const { runStatus } = await import("../../../src/tools/status/command");
  [more, texts] = [facts, []];
  const code = await runStatus(["--plugin-registration-path=/registration", ...words]);
  return [`exits with ${code}`, ...texts].join("\n");
}

test.each<readonly [what: string, changes: Readonly<Record<string, More>>]>([
  ["its machine", MACHINE],
  ["its driver", DRIVERS],
  ["its paths", PATHS],
  ["its registration", REGISTERED],
])("%s, in a table", async (_what, changes) => {
  const rows: (readonly [string, string])[] = [];
  for (const [what, facts] of Object.entries(changes)) rows.push([what, await statusOf(facts)]);
  expect(byOutcome(rows)).toMatchSnapshot();
});

const CHANGES = Object.entries({ ...MACHINE, ...DRIVERS, ...PATHS, ...REGISTERED, ...PAIRS, ...SEVERAL });
/** With the driver at each endpoint that cannot be seen. */
const seen = ({ registrations = healthyRegistrations(), ...facts }: More): More => ({
  ...facts,
  registrations: registrations.map((one) => {
    const isHidden = one.endpoint?.socket.kind === "unread" && one.endpoint.socket.errno === undefined;
    return isHidden ? { ...one, endpoint: own } : one;
  }),
});

test("status exits with 0 only where doctor does, and with 1 only where doctor says why", async () => {
  const wrong: string[] = [];
  const exits = new Set<string>();
  for (const [what, facts] of CHANGES)
    for (const changed of [facts, seen(facts)]) {
      const said = await statusOf(changed);
      const exit = Number(/\d+/.exec(said)?.[0]);
      const { summary, healthy, drivers } = reportOn(looked as never);
      const isSaid = summary.problem + summary.unknown + summary.warning > 0 || drivers.length === 0;
      const isRight = exit === 0 ? healthy : exit === 1 ? isSaid : summary.problem === 0 || /err /.test(said);
      if (!isRight) wrong.push(`${what}: ${said}`);
      exits.add(`${exit} where doctor ${healthy ? "is content" : "is not"}`);
    }
  expect(wrong).toEqual([]);
  expect([...exits].sort()).toEqual([
    "0 where doctor is content",
    "1 where doctor is content",
    "1 where doctor is not",
    "3 where doctor is not",
  ]);
});

const gap = (kind: "directory" | "sockets") => ({
  gaps: [{ part: kind, subject: "/it", why: { kind: "errno", errno: "EIO" } as const }],
});
const SOME: Readonly<Record<string, More>> = {
  "no driver": { driver: undefined, registrations: [] },
  "no driver, and a gap": { driver: undefined, registrations: [], ...gap("sockets") },
  "no directory": { directory: { kind: "missing", path: "/registration" } },
  "an unread directory": {
    gaps: [{ part: "directory", subject: "/registration", why: { kind: "errno", errno: "EACCES" } }],
  },
  "two drivers": { drivers: [driverAt(`${PLUGINS}/y.csi/csi.sock`, "y\n.csi", {}, "1:7")] },
  "two drivers, and a gap": {
    ...gap("sockets"),
    drivers: [driverAt(`${PLUGINS}/y.csi/csi.sock`, "y.csi", {}, "1:7")],
  },
};

test.each(["--output=json", "--output=text"])("%s", async (output) => {
  const rows: (readonly [string, string])[] = [];
  for (const [what, facts] of Object.entries(SOME)) rows.push([what, await statusOf(facts, output)]);
  for (const words of [
    ["--allow-drivers=y.csi"],
    ["--deny-drivers=x.csi"],
    ["--nope"],
    ["--host-root=/nowhere"],
  ])
    rows.push([words.join(" "), await statusOf({}, ...words, output)]);
  expect(byOutcome(rows)).toMatchSnapshot();
});

test("the table fits the terminal", async () => {
  const widestAt = async (columns?: number) => {
    Object.assign(process.stdout, { columns });
    const said = await statusOf(SOME["two drivers"] ?? {});
    Reflect.deleteProperty(process.stdout, "columns");
    return Math.max(...said.split("\n").map(({ length }) => length));
  };
  expect(await widestAt(60)).toBeLessThan(await widestAt());
});
