import type { ReportedFinding as Finding } from "../../../../src/tools/doctor/findings/report";
import { listFrom, truth } from "../../../../src/tools/doctor/findings/seen";
import { pathHere } from "../../../../src/tools/doctor/node/read/paths";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { claimedTooMuch } from "../findings/completions";
import {
  DRIVERS,
  factsOf,
  healthy,
  type More,
  own,
  PAIRS,
  PATHS,
  REGISTERED,
  SEVERAL,
} from "./changed-facts";
import { MACHINE } from "./changed-machine";
import { WHOLE } from "./doctor-node";
import { healthyRegistrations } from "./healthy-facts";

// What is said while a part of a node is hidden must hold whatever is there.

const CHANGES = Object.entries({ ...MACHINE, ...DRIVERS, ...PATHS, ...REGISTERED, ...PAIRS, ...SEVERAL });
const why = { kind: "errno", errno: "EACCES" } as const;
const unread = <Part extends string>(part: Part, subject: string) =>
  ({ kind: "unread", gap: { part, subject, why } }) as const;
const socketAt = <Part extends string>(part: Part, path: string) => ({
  ...unread(part, path),
  path: pathHere(path),
});
const [published] = healthyRegistrations();
const DRIVER = "/csi/csi.sock";

/** The parts of a node: what is seen where it is hidden, the fields that have it, and which changes are of it alone. */
const PARTS: Readonly<Record<string, readonly [hidden: More, fields: readonly (keyof More)[], of?: RegExp]>> =
  {
    "the registration directory": [
      { gaps: [unread("directory", "/registration").gap], registrations: [] },
      ["registrations", "directory", "folder"],
    ],
    "a registrar's answer": [
      {
        registrations: published
          ? [{ ...published, info: unread("GetInfo", published.socket.path), endpoint: undefined }]
          : [],
      },
      ["registrations"],
      /^(?:registered|listening|waiting|refused|standby|stopped|no name|another name|no versions|old versions|.*endpoint$|a registrar that)/,
    ],
    "the driver's socket": [
      { driver: { socket: socketAt("sockets", DRIVER), identity: undefined } },
      ["driver"],
    ],
    "its name": [
      { driver: { ...own, identity: unread("GetPluginInfo", DRIVER), nodeInfo: undefined } },
      ["driver"],
      /^its (?:name|node)|^it speaks/,
    ],
    "its node information": [
      { driver: { ...own, nodeInfo: unread("NodeGetInfo", DRIVER) } },
      ["driver"],
      /^its node/,
    ],
    "the processes": [{ gaps: [unread("processes", "/proc").gap] }, ["registrars", "kubelets"]],
    "other drivers": [{ gaps: [unread("sockets", "/plugins").gap] }, ["drivers", "dead"]],
    "kubelet's other directories": [{ isAlone: true }, ["drivers", "dead"]],
    "kubelet's socket": [
      { folder: { kubeletSocket: socketAt("directory", "/device-plugins/kubelet.sock") } },
      ["folder"],
      /^kubelet's socket/,
    ],
    "the mounts": [
      { folder: { place: unread("directory", "/proc/self/mountinfo") } },
      ["folder"],
      /^it is \//,
    ],
    "another root": [
      {
        host: {
          otherDirectories: listFrom([{ path: "/k0s", isThere: truth(unread("directory", "/k0s").gap) }]),
        },
      },
      ["host"],
    ],
  };

/** Of a whole node: what is said does not depend on the driver that was named. */
function lookAt({ driver = own, drivers = [], target = healthy.target, ...more }: More) {
  const all = { driver: undefined, drivers: [driver, ...drivers], target: { ...target, ...WHOLE } };
  const { findings, drivers: rows } = reportOn(factsOf({ ...more, ...all }));
  const claims = rows.flatMap(({ name, state, csiSocket }) =>
    name === null || state === "unknown"
      ? []
      : [`${name} ${state}`, ...(csiSocket === null ? [] : [`${name} ${csiSocket}`])],
  );
  // How it is known to be kubelet's directory depends on what is seen.
  const said = findings.map((one) =>
    one.code === "CSI010" && one.status === "ok" ? { ...one, text: "is kubelet's" } : one,
  );
  return [...said, ...claims.map((text) => ({ code: "", status: "ok", subject: "row", text }) as const)];
}

const MOST_PAIRS = 250;

test.each(Object.entries(PARTS))(
  "what is said without %s holds whatever is there",
  (_what, [hidden, fields, of = /^/]) => {
    const has = (more: More, some: readonly string[]) =>
      Object.keys(more).some((field) => some.includes(field));
    const completions = CHANGES.filter(
      ([what, more]) =>
        of.test(what) && Object.keys(more).every((field) => fields.includes(field as keyof More)),
    );
    // Of several sockets that were left behind there is one finding.
    const bases = CHANGES.filter(
      ([what, more]) => !/two dead ones/.test(what) && !has(more, ["gaps", ...fields]),
    );
    const pairs = bases.flatMap(([base, more]) =>
      completions.map(([completion, other]) => ({ what: `${base}; ${completion}`, more, other })),
    );
    expect(completions.length).toBeGreaterThan(1);
    const step = Math.ceil(pairs.length / MOST_PAIRS);
    // Not the same completions in each turn.
    const wrong = pairs
      .filter((_, at) => (at + Math.floor(at / completions.length)) % step === 0)
      .map(
        ({ what, more, other }) =>
          [what, claimedTooMuch(lookAt({ ...more, ...hidden }), lookAt({ ...more, ...other }))] as const,
      );
    const all = new Map(wrong.flatMap(([what, tooMuch]) => tooMuch.map((one) => [one, what])));
    expect([...all]).toEqual([]);
  },
);

const WHOLE_NODE = { target: { ...healthy.target, ...WHOLE } };
const ALONE = "; this node has no other driver";

test.each<readonly [what: string, other: More]>([
  ["of a named driver", {}],
  ["of all drivers", WHOLE_NODE],
  ["where no driver is seen", { ...WHOLE_NODE, driver: undefined, drivers: [] }],
])("what is not mounted adds no finding: %s", (of, other) => {
  const lookFor = (more: More, isAlone: boolean) =>
    reportOn(factsOf({ ...more, ...other, isAlone })).findings;
  const without = ({ code, subject, text }: Finding) => `${code} ${subject} ${text.replace(ALONE, "")}`;
  const keyOf = (one: Finding) => `${one.status} ${one.code} ${one.subject} ${one.text}`;
  let times = 0;
  for (const [what, more] of CHANGES) {
    const whole = lookFor(more, false);
    // It is wrong also beside another driver, and then no problem.
    const alone = whole.filter(({ text }) => text.endsWith(ALONE)).map(without);
    times += alone.length;
    const added = lookFor(more, true).filter(
      (one) =>
        !whole.map(keyOf).includes(keyOf(one)) &&
        !(/warning|skipped/.test(one.status) && alone.includes(without(one))),
    );
    expect([what, added.map(keyOf)]).toEqual([what, []]);
  }
  expect(times > 0).toBe(of === "where no driver is seen");
});
