import { type HealthCheck, readinessChecks, runChecks } from "../../src/diagnostics/health-checks";
import type { RegistrationOutcome } from "../../src/registrar/model/outcome";
import type { DriverStatus } from "../../src/registrar/model/status";
import type { Registration } from "../../src/registrar/registration/registration";
import type { SelfCheck } from "../../src/registrar/registration/self-check";
import type { Registrations } from "../../src/registrar/registrations";

const passing = (name: string): HealthCheck => ({ name, run: async () => undefined });
const failing = (name: string, reason: string): HealthCheck => ({ name, run: async () => reason });
const plain = { verbose: false, exclude: [] };

describe("runChecks", () => {
  test("all is well: ok, and no more", async () => {
    expect(await runChecks("readyz", [passing("a"), passing("b")], plain)).toEqual({
      passed: true,
      body: "ok",
    });
  });

  test("verbose: a line for each, in their order", async () => {
    const report = await runChecks("readyz", [passing("a"), passing("b")], { ...plain, verbose: true });
    expect(report).toEqual({ passed: true, body: "[+]a ok\n[+]b ok\nreadyz check passed\n" });
  });

  test("a failure: its reason, and the others beside it", async () => {
    const report = await runChecks("readyz", [passing("a"), failing("b", "gone"), passing("c")], plain);
    expect(report).toEqual({
      passed: false,
      body: "[+]a ok\n[-]b failed: gone\n[+]c ok\nreadyz check failed\n",
    });
  });

  test("an excluded check is not run and does not count", async () => {
    const run = jest.fn(async () => "gone");
    const report = await runChecks("readyz", [passing("a"), { name: "b", run }], {
      verbose: true,
      exclude: ["b"],
    });
    expect(report).toEqual({ passed: true, body: "[+]a ok\n[+]b excluded: ok\nreadyz check passed\n" });
    expect(run).not.toHaveBeenCalled();
  });

  test("an exclusion that fits nothing is told of, and changes nothing", async () => {
    const report = await runChecks("readyz", [failing("a", "gone")], { verbose: false, exclude: ["x", "y"] });
    expect(report.passed).toBe(false);
    expect(report.body).toContain("warn: some health checks cannot be excluded: no matches for x, y\n");
  });
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
const registered = (name: string) =>
  registrarLike({
    state: "registered",
    connected: true,
    identity: identity(name),
    registrationSocketPath: `/${name}-reg.sock`,
  });

/** The names and reasons of what fails; undefined for what passes. */
async function judge(fleet: Registrations, { requireDriver = false, driver = null as string | null } = {}) {
  const checks = readinessChecks(fleet, { requireDriver, driver });
  return Object.fromEntries(await Promise.all(checks.map(async ({ name, run }) => [name, await run()])));
}

describe("readiness of a sidecar", () => {
  test("before the driver has answered", async () => {
    expect(await judge(only("one-driver", registrarLike({})))).toEqual({
      driver: "the CSI driver has not answered yet",
      socket: "there is no registration socket yet",
      registered: "state is waiting: the CSI driver has not told its name",
    });
  });

  test("once kubelet has registered the driver", async () => {
    expect(await judge(only("one-driver", registered("x.csi")))).toEqual({
      driver: undefined,
      socket: undefined,
      registered: undefined,
    });
  });

  test.each(["publishing", "listening", "asked", "refused", "standby", "stopping"] as const)(
    "not in state %s",
    async (state) => {
      const registrar = registrarLike({ state, connected: true, identity: identity("x.csi") });
      expect(await judge(only("one-driver", registrar))).toMatchObject({
        registered: expect.stringContaining(`state is ${state}`),
      });
    },
  );

  test("not when the socket does not answer", async () => {
    const registrar = registrarLike(registered("x.csi").status(), { kind: "missing", text: "it is gone" });
    expect(await judge(only("one-driver", registrar))).toMatchObject({ socket: "it is gone" });
  });

  test.each([
    [false, undefined],
    [true, "the connection to the CSI driver is lost"],
  ])("while the driver is away, with requireDriver %s: %s", async (requireDriver, driver) => {
    const registrar = registrarLike({ ...registered("x.csi").status(), connected: false });
    expect(await judge(only("one-driver", registrar), { requireDriver })).toMatchObject({ driver });
  });
});

test("that the driver is away is said although it does not count", async () => {
  const away = registrarLike({ ...registered("x.csi").status(), connected: false });
  const checks = readinessChecks(only("one-driver", away), { requireDriver: false, driver: null });
  const { passed, body } = await runChecks("readyz", checks, { ...plain, verbose: true });
  expect(body).toMatch(/^\[\+\]driver ok: the connection to the CSI driver is lost, which --require-driver/);
  expect(passed).toBe(true);
});

test("since when and why are told beside the state", async () => {
  const history = [
    { from: "registered", to: "standby", event: { kind: "socket-taken", alias: undefined }, at: 1_000 },
  ] as const;
  const standby = registrarLike({
    ...registered("x.csi").status(),
    state: "standby",
    history,
    registrationSocketPath: "/reg/x-reg.sock",
  });
  expect((await judge(only("one-driver", standby))).registered).toBe(
    "state is standby since 1970-01-01T00:00:01.000Z: another registrar of the driver holds /reg/x-reg.sock",
  );
});

describe("readiness of a whole node", () => {
  const fleet = only(
    "node-wide",
    registered("a.csi"),
    registrarLike({ state: "refused", connected: true, identity: identity("b.csi"), tally: refusedOnce }),
    registrarLike({}),
  );

  test("names each driver's checks, and does not wait for a driver that was never there", async () => {
    expect(await judge(fleet)).toMatchObject({
      "a.csi/registered": undefined,
      "b.csi/registered": "state is refused: kubelet refused: no such topology",
    });
    // Six of the two that count, and a line for the socket that does not.
    expect(Object.keys(await judge(fleet))).toHaveLength(7);
  });

  test("of one driver is that driver's", async () => {
    expect(Object.keys(await judge(fleet, { driver: "a.csi" }))).toEqual([
      "a.csi/driver",
      "a.csi/socket",
      "a.csi/registered",
    ]);
  });

  test.each([
    ["failed", ["b.csi/driver", "b.csi/socket", "b.csi/registered"]],
    ["stopped", ["/csi.sock"]],
  ])("of a driver whose registration has %s", async (kind, checks) => {
    const outcome = { kind, error: "a file is in the way" } as unknown as RegistrationOutcome;
    const over = registrarLike({ state: "stopped", identity: identity("b.csi"), outcome });
    expect(Object.keys(await judge(only("node-wide", over)))).toEqual(checks);
  });

  test("of a driver that is not there fails", async () => {
    expect(await judge(fleet, { driver: "c.csi" })).toEqual({
      "c.csi": "no CSI driver here has told this name",
    });
  });

  test("of a driver that another registrar serves is as for the whole node", async () => {
    const standby = registrarLike({ state: "standby", connected: true, identity: identity("d.csi") });
    expect(await judge(only("node-wide", standby))).toEqual({ "/csi.sock": undefined });
    expect(await judge(only("node-wide", standby), { driver: "d.csi" })).toEqual({ "/csi.sock": undefined });
    expect(await judge(only("one-driver", standby), { driver: "d.csi" })).toMatchObject({
      registered: expect.stringContaining("state is standby"),
    });
  });

  test("of a driver that is there and not to be registered says why", async () => {
    const text = "its name d.csi is withheld: it is not to be registered here";
    const denied = registrarLike({ identity: identity("d.csi"), trouble: { kind: "not-wanted", text } });
    expect(await judge(only("node-wide", denied), { driver: "d.csi" })).toEqual({
      "d.csi": `state is waiting: ${text}`,
    });
    const twin = only("node-wide", denied, registered("d.csi"));
    expect(await judge(twin, { driver: "d.csi" })).toMatchObject({ "d.csi/registered": undefined });
  });
});
