import { showNodeReadiness } from "../../src/diagnostics/node-readiness";
import { createRoutes, type RoutesOptions } from "../../src/diagnostics/routes";
import { createLogger, type LogRecord } from "../../src/logging/logger";
import type { DriverStatus } from "../../src/registrar/model/status";
import type { Registration } from "../../src/registrar/registration/registration";
import type { NodeRegistrarEvent, Registrations } from "../../src/registrar/registration/registrations";
import type { SelfCheck } from "../../src/registrar/registration/self-check";
import { OPTIONS, PROCESS_FACTS } from "./support";

const NOTHING: DriverStatus["counters"] = {
  ...{ lastGetInfoAtMs: undefined, lastStatusAtMs: undefined, kubeletError: undefined, publications: {} },
  ...{ getInfoCalls: 0, accepted: 0, refused: 0, takeovers: 0, driverReconnects: 0 },
};
const BUSY: DriverStatus["counters"] = {
  ...{ lastGetInfoAtMs: 2_000, lastStatusAtMs: 3_500, kubeletError: "no such topology" },
  ...{ getInfoCalls: 1, accepted: 2, refused: 3, takeovers: 4, driverReconnects: 5 },
  publications: { "driver-named": 1, "socket-gone": 6 },
};
const HISTORY: DriverStatus["history"] = [
  { from: "waiting", to: "publishing", reason: "driver-named", atMs: 1_500 },
  { from: "publishing", to: "listening", reason: "published", atMs: 1_625 },
  { from: "listening", to: "asked", reason: "get-info", atMs: 1_750 },
];

/** A registration of which no part is real; `name` is its driver's, if that has answered. */
function registrationOf(name: string, change: Partial<DriverStatus>, check: SelfCheck = { kind: "ok" }) {
  const status: DriverStatus = {
    ...{ state: "waiting", connected: false, trouble: undefined, outcome: undefined },
    ...{ history: HISTORY, counters: NOTHING, registrationSocketPath: undefined },
    identity: name === "" ? undefined : { name, vendorVersion: "1.\u202e0", manifest: {} },
    ...change,
  };
  const own = {
    csiAddress: `/csi/${name || "nameless"}.sock`,
    endpoint: `/host/${name}`,
    subscribe: () => {},
  };
  const directory = { pluginRegistrationPath: "/registration" };
  return {
    ...own,
    ...directory,
    status: () => status,
    selfCheck: async () => check,
  } as never as Registration;
}

const live = { connected: true, registrationSocketPath: "/registration/x-reg.sock" };
const registered = registrationOf("x.csi", { ...live, state: "registered", counters: BUSY });
const waiting = registrationOf("", { history: [] });
const missing: SelfCheck = { kind: "missing", text: "registration socket does not exist" };
const wrong: SelfCheck = { kind: "wrong", text: "invalid driver name\ny" };
const ended = { kind: "stopped" } as never;
const trouble = (kind: NonNullable<DriverStatus["trouble"]>["kind"]) => ({
  kind,
  text: `its trouble: ${kind}`,
});
const refused = { ...live, connected: false, state: "refused", counters: BUSY } as const;

const FLEETS: Readonly<Record<string, readonly Registration[]>> = {
  "a sidecar whose driver has not answered": [waiting],
  "a sidecar that is registered": [registered],
  "a sidecar that is refused, without its driver and its socket": [registrationOf("x.csi", refused, missing)],
  "a sidecar whose socket is another's": [registrationOf("x.csi", { ...live, state: "asked" }, wrong)],
  "a sidecar that stands by": [registrationOf("x.csi", { ...live, state: "standby" })],
  "a sidecar that has ended": [registrationOf("x.csi", { state: "stopped", outcome: ended }, missing)],
  "a sidecar that stops": [registrationOf("x.csi", { state: "stopping", trouble: trouble("failed") })],
  "a node": [
    ...[waiting, registered, registrationOf("refused.csi", refused, wrong)],
    registrationOf("", { trouble: trouble("no-answer") }),
    registrationOf("denied.csi", { trouble: trouble("not-wanted") }),
    registrationOf("x.csi", { trouble: trouble("not-wanted") }),
    registrationOf("held.csi", { trouble: trouble("renamed"), history: [] }),
    ...["failed.csi", ""].map((name) => registrationOf(name, { trouble: trouble("failed") })),
    registrationOf("short.csi", { trouble: trouble("no-descriptors") }),
    registrationOf("taken.csi", { ...live, state: "standby" }),
    registrationOf("ended.csi", { state: "stopped", outcome: ended }, wrong),
    registrationOf("two\nlines", { state: "publishing", trouble: trouble("not-published") }),
  ],
  "a node without drivers": [],
};

const READINESS = showNodeReadiness(() => ({
  nodeName: "node-1",
  api: {
    ...{ calls: 7, failures: { forbidden: 2, unreachable: 1 } },
    trouble: { kind: "forbidden", doing: "watching the Node", message: "no\nrights", failedAtMs: 4_000 },
  },
  taints: [
    {
      ...{ driverName: "x.csi", taint: "x.csi/agent-not-ready=1:NoSchedule", present: true, removals: 1 },
      ...{ overdueAtMs: undefined, hindrance: undefined, lastRemovalMs: 250 },
    },
    {
      ...{ driverName: "y.csi", taint: "y.csi/agent-not-ready:NoSchedule", present: true, removals: 0 },
      ...{ overdueAtMs: 6_000, hindrance: undefined, lastRemovalMs: undefined },
    },
  ],
  conditions: [
    { driverName: "x.csi", type: "x.csi/Registered", status: "True", reason: "Registered", writes: 1 },
    { driverName: undefined, type: "y/Registered", status: "False", reason: "Waiting", writes: 2 },
  ] as never,
  csiNode: [
    { driverName: "x.csi", missedAtMs: 5_000, deletedOwner: undefined, reregistrations: 2 },
    { driverName: "y.csi", missedAtMs: undefined, deletedOwner: undefined, reregistrations: 0 },
  ],
}));

/** What the endpoint answers for these registrations, and what it logs. */
function serve(all: readonly Registration[], isNodeWide: boolean, more: Partial<RoutesOptions>) {
  const records: LogRecord[] = [];
  const log = createLogger({ enabled: () => true, write: (record) => records.push(record) });
  let tell: (event: NodeRegistrarEvent) => void = () => {};
  const scope = isNodeWide ? "node-wide" : "one-driver";
  const fleet = { scope, all, subscribe: (to: typeof tell) => (tell = to) } as never as Registrations;
  const routes = createRoutes(fleet, { ...OPTIONS, ...more }, { log, facts: PROCESS_FACTS });
  for (const [at, registration] of all.entries()) {
    const call = { method: "/csi.v1.Identity/GetPluginInfo", code: at % 3, durationMs: 400 * at };
    tell({ kind: "driver-call", call, registration });
  }
  const signal = new AbortController().signal;
  return async (line: string) => {
    const [method = "", target = "", accept = "text/plain"] = line.split(" ");
    const { pathname, searchParams: query } = new URL(target, "http://h");
    const request = { method, path: pathname, query, accept, isLast: true };
    const answer = await routes.get(pathname)?.(request, signal);
    if (answer === undefined) return `> ${line}\nno such path\n`;
    const { status, headers, body } = answer;
    const logged = records
      .splice(0)
      .map(
        ({ severity, verbosity, message, error }) =>
          `log: ${severity} ${verbosity} ${message} ${error ?? ""}`,
      );
    const text = String(body).replace(/^(process_\w+_fds) [1-9]\d*$/gm, "$1 N");
    return [`> ${line}`, `${status} ${JSON.stringify(headers)}`, text.trimEnd(), ...logged, ""].join("\n");
  };
}

const inTurn = async (lines: readonly string[], answer: (line: string) => Promise<string>) => {
  const answers = [""];
  for (const line of lines) answers.push(await answer(line));
  return answers.join("\n");
};

const PAGES = ["healthz", "readyz?verbose", "statusz", "metrics"].map((path) => `GET /${path}`);
const DRIVERS = ["x", "held", "denied", "taken", "ended", "refused", "unknown"].map(
  (name) => `GET /readyz?verbose&driver=${name}.csi`,
);

test.each(Object.entries(FLEETS))("what the HTTP endpoint answers about %s", async (what, all) => {
  const isNodeWide = what.startsWith("a node");
  const answer = serve(all, isNodeWide, {});
  const answers = await inTurn([...PAGES, ...(isNodeWide ? DRIVERS : [])], answer);
  // Of the metrics what is not 0; the last test has all of it.
  expect(
    answers.replace(/^(?:# .*|\w*\{.*\} 0|.*_bucket.*|process_.*|nodejs_.*)\n+/gm, ""),
  ).toMatchSnapshot();
});

test("what it answers with every flag and node readiness about a driver that is away", async () => {
  const answer = serve([registrationOf("x.csi", { ...live, connected: false, state: "registered" })], false, {
    ...{ metricsPath: "/m", requireDriver: true, nodeReadiness: READINESS },
    profiledCommandLine: ["registrar", "--v=5"],
  });
  const queries = [
    "",
    "&require=node-readiness",
    "&exclude=driver&exclude=z",
    "&exclude=driver&driver=x.csi",
  ];
  const others = ["GET /statusz text/html,application/json", "POST /readyz", "HEAD /livez"];
  const profiles = ["", "cmdline", ...["0", "-1", "300.1", "x", ""].map((time) => `profile?seconds=${time}`)];
  const lines = [
    ...[
      ...queries.map((query) => `/readyz?verbose${query}`),
      "/readyz?exclude=driver",
      "/livez?verbose",
      "/m",
      "/statusz",
    ],
    ...profiles.map((path) => `/debug/pprof/${path}`),
  ];
  expect(await inTurn([...others, ...lines.map((path) => `GET ${path}`)], answer)).toMatchSnapshot();
});
