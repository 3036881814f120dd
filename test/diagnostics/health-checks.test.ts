import { fails, passes, readinessChecks, runChecks } from "../../src/diagnostics/health-checks";
import type { DriverStatus, DriverTrouble } from "../../src/registrar/model/status";
import type { Registration } from "../../src/registrar/registration/registration";
import type { Registrations } from "../../src/registrar/registration/registrations";
import type { SelfCheck } from "../../src/registrar/registration/self-check";

const NO_MATCH = "warn: some health checks cannot be excluded: no matches for x, y";

// `a` passes, `b` fails; an excluded check is not run.
test.each<[names: string, query: string, body: string]>([
  ["a", "", "ok"],
  ["a", "verbose", "[+]a ok\nreadyz check passed\n"],
  ["a b a", "", "[+]a ok\n[-]b failed: gone\n[+]a ok\nreadyz check failed\n"],
  ["a b", "verbose&exclude=b", "[+]a ok\n[+]b excluded: ok\nreadyz check passed\n"],
  ["b", "exclude=x&exclude=y", `[-]b failed: gone\n${NO_MATCH}\nreadyz check failed\n`],
])("report: %s?%s", async (names, query, body) => {
  const run = jest.fn(() => fails("gone"));
  const checks = names.split(" ").map((name) => ({ name, run: name === "a" ? () => passes() : run }));
  const report = await runChecks("readyz", checks, new URLSearchParams(query));
  expect(report).toEqual({ passed: !body.includes("failed"), body });
  expect(run).toHaveBeenCalledTimes(body.includes("[-]b") ? 1 : 0);
});

function registrarLike(status: Partial<DriverStatus>, check: SelfCheck = { kind: "ok" }) {
  return {
    csiAddress: "/csi.sock",
    status: () => ({ state: "waiting", connected: false, history: [], counters: {}, ...status }),
    selfCheck: async () => check,
  } as unknown as Registration;
}
const identity = (name: string) => ({ name, vendorVersion: "v1", manifest: {} });
const registered = (name: string, change: Partial<DriverStatus> = {}, check?: SelfCheck) => {
  const own = { state: "registered", connected: true, registrationSocketPath: `/${name}-reg.sock` } as const;
  return registrarLike({ ...own, identity: identity(name), ...change }, check);
};

/** The lines of the report with `?verbose` but the last one, and whether all is well. */
async function reportOn(registrations: Registrations, driver: string | null, requireDriver = false) {
  const checks = readinessChecks(registrations, { requireDriver, driver });
  const { passed, body } = await runChecks("readyz", checks, new URLSearchParams("verbose"));
  expect(passed).toBe(!body.includes("[-]"));
  return body.split("\n").slice(0, -2).join("\n");
}

const away = registered("x.csi", { connected: false });
const LOST = "the connection to the CSI driver is lost";
const READY = "[+]driver ok\n[+]socket ok\n[+]registered ok";
const mute: SelfCheck = { kind: "missing", text: "it is gone" };
const STATES = ["publishing", "listening", "asked", "refused", "stopping"] as const;
const history = [{ from: "registered", to: "standby", reason: "socket-taken", atMs: 1_000 }] as const;

test.each<[string, Registration, RegExp | string, boolean?]>([
  [
    "before the driver has answered",
    registrarLike({}),
    /^\[-\]driver failed: .* not answered yet\n\[-\]socket failed: there is no registration socket yet\n\[-\]registered failed: state is waiting: .* has not reported its name yet$/,
  ],
  ["once kubelet has registered the driver", registered("x.csi"), READY],
  ["while the socket does not answer", registered("x.csi", {}, mute), /\n\[-\]socket failed: it is gone\n/],
  ["while the driver is away", away, READY.replace("ok", `ok: ${LOST}, which --require-driver would count`)],
  [
    "while the driver is away and required",
    away,
    READY.replace("+]driver ok", `-]driver failed: ${LOST}`),
    true,
  ],
  [
    "that stands by",
    registered("x.csi", { state: "standby", history }),
    /: state is standby since 1970-01-01T00:00:01.000Z: another registrar of the driver holds \/x.csi-reg.sock$/,
  ],
  ...STATES.map((state): [string, Registration, RegExp] => {
    return [
      `in state ${state}`,
      registered("x.csi", { state }),
      RegExp(`-]registered failed: state is ${state}`),
    ];
  }),
])("readiness of a sidecar %s", async (_when, registration, lines, requireDriver = false) => {
  const report = await reportOn({ scope: "one-driver", all: [registration] } as never, null, requireDriver);
  expect(report).toEqual(typeof lines === "string" ? lines : expect.stringMatching(lines));
});

const nodeWide = (...all: readonly Registration[]) => ({ scope: "node-wide", all }) as Registrations;
const refusedOnce = { kubeletError: "no such topology" } as DriverStatus["counters"];
const refused = registered("b.csi", { state: "refused", counters: refusedOnce });
const fleet = nodeWide(registered("a.csi"), refused, registrarLike({}));
const held = (kind: DriverTrouble["kind"]) =>
  nodeWide(registrarLike({ identity: identity("b.csi"), trouble: { kind, text: `it is ${kind}` } }));
const over = nodeWide(registrarLike({ state: "stopped", identity: identity("b.csi") }));
const silent = nodeWide(registered("m.csi", {}, mute));
const standby = nodeWide(registered("d.csi", { state: "standby" }));
const text = "the name lists exclude d.csi";
const denied = registrarLike({ identity: identity("d.csi"), trouble: { kind: "not-wanted", text } });
const ofAll = (name: string) => READY.replaceAll("]", `]${name}/`);

test.each<[string, Registrations, string | null, RegExp | string]>([
  ["all drivers", fleet, null, /^(?:\[\+\]a.*\n){3}(?:.*b.csi.*\n){3}\[\+\]\/csi.sock ok: does not count.*$/],
  ["one driver", fleet, "a.csi", ofAll("a.csi")],
  ...(["failed", "renamed", "no-descriptors"] as const).map((kind): [string, Registrations, null, string] => [
    `one that waits: ${kind}`,
    held(kind),
    null,
    `[-]b.csi/registered failed: state is waiting: it is ${kind}`,
  ]),
  ["one whose registration was stopped", over, null, "[+]/csi.sock ok: does not count, state is stopped"],
  [
    "one that is refused",
    fleet,
    "b.csi",
    /-\]b.csi\/registered failed: state is refused: .* no such topology$/,
  ],
  ["one whose socket is mute", silent, "m.csi", /\[-\]m.csi\/socket failed: it is gone/],
  // Too much work for each driver of a node.
  ["one whose socket is not dialed", silent, null, ofAll("m.csi")],
  [
    "one that is not there",
    fleet,
    "c.csi",
    "[-]c.csi failed: no CSI driver here has this name; 1 have not told one that is accepted",
  ],
  [
    "one which another registrar serves",
    standby,
    "d.csi",
    /^\[\+\]\/csi.sock ok: does not count, .* standby/,
  ],
  ["one that is not accepted", nodeWide(denied), "d.csi", `[-]d.csi failed: state is waiting: ${text}`],
  ["one with a denied twin", nodeWide(denied, registered("d.csi")), "d.csi", /\[\+\]d.csi\/registered ok\n/],
])("readiness of a whole node: %s", async (_what, registrations, driver, lines) => {
  const report = await reportOn(registrations, driver);
  expect(report).toEqual(typeof lines === "string" ? lines : expect.stringMatching(lines));
});
