import { fails, passes, readinessChecks, runChecks } from "../../src/diagnostics/health-checks";
import type { RegistrationOutcome } from "../../src/registrar/model/outcome";
import type { DriverStatus } from "../../src/registrar/model/status";
import type { Registration } from "../../src/registrar/registration/registration";
import type { SelfCheck } from "../../src/registrar/registration/self-check";
import type { Registrations } from "../../src/registrar/registrations";

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

/** Just enough of a registrar to be judged. */
function registrarLike(status: Partial<DriverStatus>, check: SelfCheck = { kind: "ok" }) {
  return {
    csiAddress: "/csi.sock",
    status: () => ({ state: "waiting", connected: false, history: [], tally: {}, ...status }),
    selfCheck: async () => check,
  } as unknown as Registration;
}
const refusedOnce = { refusal: "no such topology" } as DriverStatus["tally"];
const only = (scope: Registrations["scope"], ...all: readonly Registration[]) =>
  ({ scope, all }) as Registrations;
const identity = (name: string) => ({ name, vendorVersion: "v1", manifest: {} });
const registered = (name: string, change: Partial<DriverStatus> = {}, check?: SelfCheck) => {
  const socket = { registrationSocketPath: `/${name}-reg.sock` };
  return registrarLike(
    { state: "registered", connected: true, identity: identity(name), ...socket, ...change },
    check,
  );
};

/** The names and reasons of what fails; undefined for what passes. */
async function judge(fleet: Registrations, { requireDriver = false, driver = null as string | null } = {}) {
  const checks = readinessChecks(fleet, { requireDriver, driver });
  const judged = checks.map(async ({ name, run }) => {
    const { passed, text } = await run();
    return [name, passed ? undefined : text];
  });
  return Object.fromEntries(await Promise.all(judged));
}

const PASSING = { driver: undefined, socket: undefined, registered: undefined };
const away = registered("x.csi", { connected: false });
const LOST = "the connection to the CSI driver is lost";

test.each<[string, Registration, object, object?]>([
  [
    "before the driver has answered",
    registrarLike({}),
    {
      driver: "the CSI driver has not answered yet",
      socket: "there is no registration socket yet",
      registered: "state is waiting: the CSI driver has not reported its name yet",
    },
  ],
  ["once kubelet has registered the driver", registered("x.csi"), PASSING],
  [
    "while the socket does not answer",
    registered("x.csi", {}, { kind: "missing", text: "it is gone" }),
    { ...PASSING, socket: "it is gone" },
  ],
  ["while the driver is away", away, PASSING],
  ["while the driver is away and required", away, { ...PASSING, driver: LOST }, { requireDriver: true }],
])("readiness of a sidecar %s", async (_when, registrar, reasons, options = {}) => {
  expect(await judge(only("one-driver", registrar), options)).toEqual(reasons);
});

test.each(["publishing", "listening", "asked", "refused", "standby", "stopping"] as const)(
  "a sidecar in state %s is not ready",
  async (state) => {
    const reason = expect.stringContaining(`state is ${state}`);
    expect(await judge(only("one-driver", registered("x.csi", { state })))).toMatchObject({
      registered: reason,
    });
  },
);

test("that the driver is away is reported although it does not count", async () => {
  const checks = readinessChecks(only("one-driver", away), { requireDriver: false, driver: null });
  const { passed, body } = await runChecks("readyz", checks, new URLSearchParams("verbose"));
  expect(body).toContain(`[+]driver ok: ${LOST}, which --require-driver`);
  expect(passed).toBe(true);
});

test("the state comes with its beginning and reason", async () => {
  const event = { kind: "socket-taken", alias: undefined } as const;
  const history = [{ from: "registered", to: "standby", event, at: 1_000 }] as const;
  const standby = registered("x.csi", { state: "standby", history });
  expect((await judge(only("one-driver", standby))).registered).toBe(
    "state is standby since 1970-01-01T00:00:01.000Z: another registrar of the driver holds /x.csi-reg.sock",
  );
});

describe("readiness of a whole node", () => {
  const refused = registered("b.csi", { state: "refused", tally: refusedOnce });
  const fleet = only("node-wide", registered("a.csi"), refused, registrarLike({}));
  const checksOf = (name: string) => ["driver", "socket", "registered"].map((check) => `${name}/${check}`);
  const over = (kind: string) => {
    const outcome = { kind, error: "a file is in the way" } as unknown as RegistrationOutcome;
    return only("node-wide", registrarLike({ state: "stopped", identity: identity("b.csi"), outcome }));
  };
  const mute = registered("m.csi", {}, { kind: "wrong", text: "it does not answer" });
  const standby = registered("d.csi", { state: "standby" });
  const text = "the name lists exclude d.csi";
  const denied = registrarLike({ identity: identity("d.csi"), trouble: { kind: "not-wanted", text } });

  const WAIT = "2 driver sockets wait for file descriptors: the registrar has 90, its drivers need 150";
  const WAIT_FIX =
    "give the registrar at least 150 file descriptors: ulimit -n, LimitNOFILE of the container runtime";
  const starved: Registrations = {
    ...only("node-wide", registered("a.csi")),
    waitingSockets: {
      csiAddresses: ["/v.sock", "/w.sock"],
      descriptors: { waiting: 2, limit: 90, needed: 150 },
    },
  };

  test.each<[string, Registrations, string | null, readonly string[]]>([
    // The last line is for the socket that does not count.
    ["of all drivers", fleet, null, [...checksOf("a.csi"), ...checksOf("b.csi"), "/csi.sock", "descriptors"]],
    ["of one driver", fleet, "a.csi", checksOf("a.csi")],
    ["of a driver whose registration failed", over("failed"), null, [...checksOf("b.csi"), "descriptors"]],
    ["of a driver whose registration was stopped", over("stopped"), null, ["/csi.sock", "descriptors"]],
  ])("has the checks %s", async (_what, registrations, driver, checks) => {
    expect(Object.keys(await judge(registrations, { driver }))).toEqual(checks);
  });

  test.each<[string, Registrations, string | null, object]>([
    ["refused", fleet, null, { "b.csi/registered": "state is refused: kubelet refused: no such topology" }],
    ["whose socket is mute", only("node-wide", mute), "m.csi", { "m.csi/socket": "it does not answer" }],
    // Too much work for each driver of a node (issue 35).
    ["whose socket is not dialed", only("node-wide", mute), null, { "m.csi/socket": undefined }],
    ["which is not there", fleet, "c.csi", { "c.csi": "no CSI driver here has this name" }],
    ["for which there are no descriptors", starved, null, { descriptors: `${WAIT}; ${WAIT_FIX}` }],
    [
      "which may be without descriptors",
      starved,
      "c.csi",
      {
        "c.csi": expect.stringContaining(
          `it may be one of those that have not been asked their names: ${WAIT}`,
        ),
      },
    ],
    ["beside which others wait", starved, "a.csi", { "a.csi/registered": undefined }],
    ["which another registrar serves", only("node-wide", standby), "d.csi", { "/csi.sock": undefined }],
    ["which is not accepted", only("node-wide", denied), "d.csi", { "d.csi": `state is waiting: ${text}` }],
    [
      "with a denied twin",
      only("node-wide", denied, registered("d.csi")),
      "d.csi",
      { "d.csi/registered": undefined },
    ],
  ])("of a driver %s", async (_what, registrations, driver, reasons) => {
    expect(await judge(registrations, { driver })).toMatchObject(reasons);
  });
});
