import { truth } from "../../../../src/tools/doctor/findings/seen";
import type { NodeGap, NodePart } from "../../../../src/tools/doctor/node/read/facts";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { WHOLE } from "./doctor-node";
import { type Changes, healthyFacts, healthyRegistrations } from "./healthy-facts";

// A list that lacks something says nothing of what is not in it. Each input of the judges loses each of its things in turn.

const DENIED = { kind: "errno", errno: "EACCES" } as const;
const gapOf = (part: NodePart): NodeGap => ({ part, subject: `the hidden of ${part}`, why: DENIED });
const ownership = { mode: 0o755, uid: 0, gid: 0 };
const target = { ...WHOLE, pluginRegistrationPath: "/var/lib/kubelet/plugins_registry" };
const accepting = (name: string, inode: string) => ({
  ...{ kind: "accepting" as const, path: `/var/lib/kubelet/plugins/${name}/csi.sock`, inode, ownership },
});
const driverOf = (name: string, inode = "1:9") => ({
  socket: accepting(name, inode),
  identity: { kind: "answered", value: { name, vendorVersion: "1", manifest: {} } } as const,
});
const dead = (name: string) => ({
  fits: false,
  socket: { ...accepting(name, "1:8"), kind: "dead" as const, explanation: "" },
});
const leftOf = (name: string) => ({
  socket: { ...dead(name).socket, path: `/registration/${name}-reg.sock` },
  ...{ info: undefined, report: undefined, endpoint: undefined },
});
const kubelet = (isHere: boolean) => ({
  pid: 1,
  is: () => truth(false),
  isHere: truth(isHere),
  isDeaf: truth(false),
  directory: "/k/plugins_registry",
});
const registrarOf = (registersIn: "here" | "elsewhere", path: string) => ({
  ...{ pid: 2, isNodeWide: false, directory: "/other", registersIn, endpoint: path },
  socket: { kind: "missing" as const, path },
});

const WORLDS: Readonly<Record<string, Changes>> = {
  healthy: {},
  "a driver without a registrar": {
    target,
    driver: undefined,
    found: [driverOf("y.csi")],
    registrations: [],
  },
  "two drivers of one name": {
    ...{ target, driver: undefined, registrations: [] },
    found: [driverOf("y.csi"), driverOf("y.csi", "1:7")],
  },
  "a driver that ended": { target, driver: undefined, registrations: [], deadSockets: [dead("y.csi")] },
  "a registrar that ended": { target, driver: undefined, registrations: [leftOf("y.csi")] },
  "a registrar that waits": {
    ...{ target, driver: undefined, registrations: [] },
    ...{ registrars: [registrarOf("here", "/csi/csi.sock")], kubelets: [kubelet(true)] },
  },
  "a registrar of another root": {
    ...{ target, driver: undefined },
    ...{ registrars: [registrarOf("elsewhere", "/csi/csi.sock")], kubelets: [kubelet(true)] },
  },
  "a root that no kubelet watches": { target, kubelets: [kubelet(false)] },
  "no registration": { registrations: [] },
};

const LISTS = {
  registrations: "directory",
  found: "sockets",
  deadSockets: "sockets",
  registrars: "processes",
  kubelets: "processes",
} as const;

const badIn = (changes: Changes) => {
  const { findings, healthy } = reportOn(healthyFacts(changes));
  const bad = findings.filter(({ status }) => status === "problem" || status === "warning");
  return { healthy, bad: bad.map(({ code, subject }) => `${code} ${subject}`), findings };
};

test.each(Object.entries(WORLDS))(
  "%s: a hidden part adds no problem, and is reported once",
  (_what, world) => {
    const whole = badIn(world);
    const registrations = world.registrations ?? healthyRegistrations();
    for (const [list, part] of Object.entries(LISTS) as [keyof typeof LISTS, NodePart][]) {
      const items: readonly unknown[] = { ...world, registrations }[list] ?? [];
      // Nothing of it is lost, then each item in turn.
      for (const at of [-1, ...items.keys()]) {
        const rest = items.filter((_, index) => index !== at);
        const seen = badIn({ ...world, [list]: rest, gaps: [gapOf(part)] });
        expect([list, at, seen.bad.filter((one) => !whole.bad.includes(one))]).toEqual([list, at, []]);
        expect(seen.healthy).toBe(false);
        const said = seen.findings.filter(({ subject }) => subject === gapOf(part).subject);
        expect(said).toMatchObject([{ status: "unknown", text: expect.stringContaining("EACCES") }]);
      }
    }
  },
);

test.each([
  ["a driver without a registrar", "registrations", "for which there is no registration socket"],
  ["a driver that ended", "found", "this node has no other driver"],
  ["a driver that ended", "registrations", "this node has no other driver"],
  ["a registrar that ended", "found", "this node has no other driver"],
  ["a root that no kubelet watches", "kubelets", "is not what kubelet"],
  ["no registration", "registrations", "has no registration socket"],
] as const)("%s: with a gap in %s doctor does not report that it %s", (world, list, claim) => {
  const claims = (gaps: readonly NodeGap[]) =>
    badOrUnknown({ ...WORLDS[world], gaps }).filter((text) => text.includes(claim));
  expect(claims([])).toHaveLength(1);
  expect(claims([gapOf(LISTS[list])])).toEqual([]);
});

const badOrUnknown = (changes: Changes) => reportOn(healthyFacts(changes)).findings.map(({ text }) => text);
