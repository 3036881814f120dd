import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { callFileSystem } from "../../src/unix/file-calls";
import { eventually } from "../support/eventually";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";
import { DRIVER } from "./support/controlled-registrations";
import {
  type FixtureOptions,
  FOREIGN_TAINT,
  IN_TROUBLE,
  STARTUP_TAINT,
  startFixture,
  startReadiness,
  WELL_AGAIN,
} from "./support/fixture";
import { type Fault, type ScriptedApiServer, startScriptedApiServer } from "./support/scripted-api-server";

const REMOVED = "Startup taint removed";
const TAINTS = [FOREIGN_TAINT, STARTUP_TAINT];
const failure = (code: number, message: string) => ({ kind: "status", code, message }) as const;

/** Node readiness of a node with a startup taint and another one, whose watch has begun. */
async function startTainted(options?: FixtureOptions, taints: readonly (typeof STARTUP_TAINT)[] = TAINTS) {
  const fixture = await startFixture(options, (server) => server.setTaints(taints));
  await fixture.isWatching();
  return fixture;
}

test("the taint is removed once kubelet has registered the driver, and no other taint is", () =>
  expectNothingLeft(async () => {
    await using fixture = await startTainted();
    const { server, registrations, log, readiness } = fixture;
    server.listed = [DRIVER];
    for (const state of ["publishing", "listening", "asked", "refused"] as const) registrations.set(state);
    expect(readiness.status().taints).toMatchObject([{ present: true, overdueAtMs: undefined }]);
    expect(fixture.kinds()).toEqual(["get-node", "watch"]);

    registrations.set("registered");
    const { severity, fields } = await log.when(REMOVED);
    const taint = `${STARTUP_TAINT.key}:NoSchedule`;
    const afterRegistration = expect.stringMatching(/^\d+(\.\d+)?s$/);
    expect([severity, fields]).toEqual(["info", { taint, csiDriverName: DRIVER, afterRegistration }]);
    expect(server.node?.spec.taints).toEqual([FOREIGN_TAINT]);
    expect(fixture.kinds().slice(2)).toEqual(["get-csinode", "patch-node"]);
    expect(readiness.status().taints).toMatchObject([
      { driverName: DRIVER, taint: STARTUP_TAINT.key, present: false, removals: 1 },
    ]);
  }));

test("the end of its scope closes it, and waits for that", async () => {
  await using fixture = await startTainted();
  const { readiness, server, registrations } = fixture;
  {
    await using _ends = readiness;
  }
  expect(registrations.countListeners()).toBe(0);
  await eventually(() => expect(server.watches).toBe(0));
});

test("a Node with an invalid taint fails the request, not the process", async () => {
  await using fixture = await startFixture(undefined, (api) => api.setTaints([null as never, STARTUP_TAINT]));
  const { server, log } = fixture;
  fixture.register(DRIVER);
  const { fields } = await log.when(IN_TROUBLE);
  expect(fields).toMatchObject({ doing: "reading the Node", check: CHECKS.unexpected });
  server.setTaints([STARTUP_TAINT]);
  await log.when(REMOVED);
});

test("a driver named under Kubernetes' domains removes no taint and sets no condition there", async () => {
  const startupTaints = ["{driver}/not-ready", "example.com/other"];
  const options = { startupTaints, condition: "{driver}/Ready", conditionDelayMs: 0 };
  const names = ["node.kubernetes.io", "node.cilium.io", "nfs.csi.k8s.io"];
  const taints = names.map((name) => ({ key: `${name}/not-ready`, effect: "NoExecute" }));
  await using fixture = await startTainted(options, taints);
  const { server, log, readiness } = fixture;
  fixture.register(...names);
  await log.when(REMOVED);
  await eventually(() => expect(server.node?.status.conditions).toHaveLength(2));
  expect(server.node?.spec.taints).toEqual(taints.slice(0, 2));
  const types = server.node?.status.conditions.map(({ type }) => type);
  expect(types).toEqual([`${DRIVER}/Ready`, "nfs.csi.k8s.io/Ready"]);
  const own = readiness.status().taints.filter(({ taint }) => taint.endsWith("/not-ready"));
  expect(own.map(({ driverName }) => driverName)).toEqual([DRIVER, names[2]]);
  const warning = "Driver name is in a domain of other programs, not changing its taints and conditions";
  const register = async (name: string, conditions: number) => {
    fixture.registrations.set("registered", name);
    await eventually(() => expect(server.node?.status.conditions).toHaveLength(conditions));
    return log.all(warning).map(({ fields }) => fields);
  };
  const others = ["new", "newer", "newest"].map((name) => `${name}.csi.example.com`);
  const told = (csiDriverName: string) => ({
    csiDriverName,
    names: "{driver}/not-ready, example.com/other, {driver}/Ready",
    check: "is this the CSI driver that you deployed? --deny-drivers keeps it out",
  });
  const both = told("node.kubernetes.io, node.cilium.io");
  expect(await register(others[0] ?? "", 3)).toEqual([both]);
  fixture.registrations.remove(names[0] ?? "");
  const one = told("node.cilium.io");
  for (const [at, other] of others.slice(1).entries())
    expect(await register(other, 4 + at)).toEqual([both, one]);
  fixture.registrations.remove(names[1] ?? "");
  expect(await register("last.csi.example.com", 6)).toEqual([both, one]);
});

const SET = "Node condition set";
const TYPE = `${DRIVER}/Registered`;
const QUICK = { condition: TYPE, conditionDelayMs: 50 };
const PATIENT = { condition: TYPE, conditionDelayMs: 3_600_000 };

const startListed = (options: FixtureOptions, prepare: (server: ScriptedApiServer) => void = () => {}) =>
  startFixture(options, (server) => {
    server.listed = [DRIVER];
    prepare(server);
  });

test.each([
  ["an hour back: False comes after the delay all the same", -3_600_000, QUICK, DRIVER, "listening"],
  ["two hours forward: the delay goes on", 7_200_000, PATIENT, "other.csi.example.com", "registered"],
] as const)("the wall clock is set %s", async (_what, stepMs, options, driver, state) => {
  await using fixture = await startListed({ ...options, condition: "{driver}/Registered" });
  const { server, registrations, log } = fixture;
  registrations.set("registered");
  await log.when(SET);
  registrations.set("listening");
  await new Promise(setImmediate); // The delay has begun.
  const now = Date.now;
  jest.spyOn(Date, "now").mockImplementation(() => now() + stepMs);
  server.listed = [DRIVER, driver];
  registrations.set(state, driver);
  const { fields } = await log.when(SET, 2);
  expect(fields).toMatchObject({ csiDriverName: driver, status: state === "registered" ? "True" : "False" });
});

const RULES = [
  '{apiGroups: [""], resources: [nodes], verbs: [get, watch, patch]}',
  '{apiGroups: [""], resources: [nodes/status], verbs: [patch]}',
  "{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get]}",
].join(", ");
const CHECKS = {
  forbidden: `bind the service account to a ClusterRole with these rules: [${RULES}]`,
  policy: "does the policy allow this taint, and is the pod's token bound to node node-1?",
  unauthorized: "is the token of this cluster, not expired, and does its service account still exist?",
  "not-found": 'is there a Node "node-1"? Its name must be the pod\'s spec.nodeName',
  conflict: "who else writes to this Node all the time, or what admission rule refuses the patch?",
  unreachable: "does the API server run, can this pod reach it, and does its certificate fit the CA here?",
  "no-credentials": "is the service account's token mounted (automountServiceAccountToken: true)?",
  unexpected: "is the API server healthy? kubectl get --raw '/readyz?verbose'",
};

test.each<[what: string, fault: Fault, kind: string, check: string]>([
  ["a right is missing", failure(403, "forbidden"), "forbidden", CHECKS.forbidden],
  ["the policy refuses", failure(403, "ValidatingAdmissionPolicy denied"), "forbidden", CHECKS.policy],
  ["the token does not count", failure(401, "Unauthorized"), "unauthorized", CHECKS.unauthorized],
  ["there is no such Node", failure(404, "not found"), "not-found", CHECKS["not-found"]],
  ["the patch is refused", failure(409, "another policy wrote it"), "conflict", CHECKS.conflict],
  ["no answer comes", { kind: "reset" }, "unreachable", CHECKS.unreachable],
])("%s: one warning says what to check, and the taints are removed", async (_what, fault, kind, check) => {
  const startedAt = performance.now();
  await using fixture = await startListed({ ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.setTaints([{ key: "a/b", effect: "NoSchedule" }]);
    server.script = (request) => (request.kind === "patch-status" ? fault : undefined);
  });
  const { server, registrations, log, readiness } = fixture;
  registrations.set("registered");
  await log.when("Startup taint removed");
  await log.when(IN_TROUBLE);
  const trouble = readiness.status().api.trouble;
  const doing = "setting the node's condition";
  expect(trouble).toMatchObject({ kind, doing, message: expect.any(String), failedAtMs: expect.any(Number) });
  await eventually(() => expect(readiness.status().api.failures[kind]).toBeGreaterThan(1));
  expect(readiness.status().api.trouble).toMatchObject({ kind, doing, failedAtMs: trouble?.failedAtMs });
  const warnings = log.records.filter(({ severity }) => severity === "warning");
  const fields = { doing, err: trouble?.message, check };
  expect(warnings.map(({ message, fields }) => ({ message, fields }))).toEqual([
    { message: IN_TROUBLE, fields },
  ]);
  server.script = () => undefined;
  const again = await log.when(WELL_AGAIN);
  expect([again.severity, again.fields]).toEqual(["info", { doing, after: expect.any(String) }]);
  const seconds = Number(/^(\d+)s$/.exec(String(again.fields.after))?.[1]);
  expect(seconds).toBeLessThanOrEqual(Math.ceil((performance.now() - startedAt) / 1000));
  expect(readiness.status().api.trouble).toBeUndefined();
});

test("trouble of another kind has its own beginning", async () => {
  const refuseWith = (fault: Fault) => (request: { readonly kind: string }) =>
    request.kind === "patch-status" ? fault : undefined;
  await using fixture = await startListed({ ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.script = refuseWith(failure(403, "forbidden"));
  });
  const { server, registrations, log, readiness } = fixture;
  registrations.set("registered");
  await log.when(IN_TROUBLE);
  const later = Number(readiness.status().api.trouble?.failedAtMs) + 60_000;
  jest.spyOn(Date, "now").mockReturnValue(later);
  server.script = refuseWith(failure(409, "modified"));
  await log.when(IN_TROUBLE, 2);
  expect(readiness.status().api.trouble).toMatchObject({ kind: "conflict", failedAtMs: later });
});

test("what the API server refuses for the condition holds up no taint", async () => {
  const asksForPatience = { ...failure(503, "busy"), retryAfter: "60" };
  await using fixture = await startListed({ ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.script = (request) => (request.kind === "patch-status" ? asksForPatience : undefined);
  });
  const { server, registrations, log } = fixture;
  await fixture.isWatching();
  registrations.set("registered");
  await log.when(IN_TROUBLE);
  server.setTaints([{ key: "a/b", effect: "NoSchedule" }]);
  await log.when(REMOVED);
  registrations.remove("nobody"); // No driver is newly registered.
  server.setTaints([{ key: "a/b", effect: "NoSchedule" }]);
  await log.when(REMOVED, 2); // A pass later.
  expect(fixture.kinds().filter((kind) => kind === "patch-status")).toHaveLength(1);
});

test("a refusal is not tried again because another watch begins, and the oldest trouble is the one told", async () => {
  await using fixture = await startListed({ ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.script = ({ kind }) => (/^patch/.test(kind) ? failure(403, kind) : undefined);
  });
  const { server, registrations, log, readiness } = fixture;
  await fixture.isWatching();
  let now = performance.now();
  jest.spyOn(performance, "now").mockImplementation(() => now); // No wait after a failure ends by itself.
  registrations.set("registered");
  await log.when(IN_TROUBLE);
  now += 1;
  server.setTaints([{ key: "a/b", effect: "NoSchedule" }]);
  const patches = () => fixture.kinds().filter((kind) => /^patch/.test(kind));
  await eventually(() => expect(patches()).toEqual(["patch-status", "patch-node"]));
  await eventually(() => expect(readiness.status().api.failures).toEqual({ forbidden: 2 }));
  expect(readiness.status().api.trouble?.message).toContain("patch-status");
  const { calls } = readiness.status().api;
  server.endWatches();
  await eventually(() => expect(fixture.kinds().filter((kind) => kind === "watch")).toHaveLength(2));
  server.setTaints([]);
  await eventually(() => expect(readiness.status().taints).toMatchObject([{ present: false }]));
  expect(readiness.status().api.calls).toBe(calls + 1);
  registrations.set("registered"); // Ends the waits after both failures, of which the condition's lasts.
  await eventually(() => expect(readiness.status().api.failures).toEqual({ forbidden: 3 }));
  expect(log.all(WELL_AGAIN)).toEqual([]);
});

test("the waits after failures grow, and are short again after a success", async () => {
  jest.spyOn(Math, "random").mockReturnValue(0);
  let now = performance.now();
  jest.spyOn(performance, "now").mockImplementation(() => now); // No wait after a failure ends by itself.
  const busy = failure(503, "busy");
  await using fixture = await startListed({ ...QUICK, conditionDelayMs: 0 }, (server) => {
    server.script = ({ kind }) => (kind === "patch-status" ? busy : undefined);
  });
  const { server, registrations, log, readiness } = fixture;
  await fixture.isWatching();
  const failed = (times: number) =>
    eventually(() => expect(readiness.status().api.failures).toEqual({ unavailable: times }));
  const pass = (ms: number) => {
    now += ms;
    registrations.remove("nobody"); // No driver is newly registered.
  };
  registrations.set("registered");
  for (const [nth, waitMs] of [500, 1_000, 2_000].entries()) {
    await failed(nth + 1);
    pass(waitMs);
  }
  await failed(4);
  server.script = () => undefined;
  pass(4_000);
  await log.when(SET);
  server.script = ({ kind }) => (kind === "patch-status" ? busy : undefined);
  registrations.set("refused");
  await failed(5);
  pass(500);
  await failed(6);
});

/** A path at which calls hang until it is disposed of: those that open it wait for a writer. */
async function hangingToken() {
  const folder = await createTempFolder();
  const path = folder.at("token");
  execFileSync("mkfifo", [path]);
  const ends: Promise<unknown>[] = [];
  return {
    token: { kind: "file", path } as const,
    hang: () => {
      const opened = open(path);
      ends.push(opened.then((file) => file.close()));
      return callFileSystem(path, () => opened);
    },
    [Symbol.asyncDispose]: async () => {
      const writer = openSync(path, constants.O_RDWR); // Kept, because a thread may open the path as a reader only now.
      await Promise.all(ends);
      closeSync(writer);
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("a token's file that hangs is logged, and close() ends at once", async () => {
  await using hanging = await hangingToken();
  const { token } = hanging;
  await expect(hanging.hang()).rejects.toThrow("ETIMEDOUT");
  await using server = await startScriptedApiServer();
  await using started = startReadiness({ access: { ...server.access, token }, startupTaints: ["a/b"] });
  const message = `ETIMEDOUT: the file system of ${token.path} does not answer`;
  const { fields } = await started.log.when(IN_TROUBLE);
  const check = CHECKS["no-credentials"];
  expect(fields).toEqual({ doing: "reading the Node", err: message, check });
  expect(started.readiness.status().api.trouble).toMatchObject({ kind: "no-credentials", message });
  expect(await started.readiness.close()).toEqual({ kind: "stopped" });
});

test("close ends while the token's file is being read", async () => {
  const hanging = await hangingToken();
  const { token } = hanging;
  // So many threads read files of local file systems.
  const reading = Promise.allSettled([hanging.hang(), hanging.hang()]);
  await using server = await startScriptedApiServer();
  const started = startReadiness({ access: { ...server.access, token } });
  expect(await started.readiness.close()).toEqual({ kind: "stopped" });
  await hanging[Symbol.asyncDispose]();
  expect(await reading).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
});
