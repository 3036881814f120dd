import { runChecks } from "../../src/diagnostics/health-checks";
import { showNodeReadiness } from "../../src/diagnostics/node-readiness";
import type { NodeReadinessStatus } from "../../src/node-readiness/start-node-readiness";
import { PROCESS_FACTS } from "./support";

const VIEW: NodeReadinessStatus = {
  nodeName: "node-1",
  api: { calls: 7, failures: { forbidden: 2 }, trouble: undefined },
  taints: [
    {
      ...{ driverName: "d", taint: "d/agent-not-ready:NoSchedule", present: true, removals: 1 },
      ...{ overdueAtMs: undefined, hindrance: undefined, lastRemovalMs: 250 },
    },
  ],
  conditions: [{ driverName: "d", type: "d/Registered", status: "True", reason: "Registered", writes: 1 }],
  csiNode: [{ driverName: "d", missedAtMs: 5, deletedOwner: undefined, reregistrations: 2 }],
};
const hindrance = "CSINode does not list the driver";
const OVERDUE = { ...VIEW, taints: VIEW.taints.map((taint) => ({ ...taint, overdueAtMs: 5, hindrance })) };
const trouble = {
  kind: "forbidden",
  doing: "watching the Node",
  message: "no\nrights",
  failedAtMs: 5,
} as const;
const IN_TROUBLE = { ...VIEW, api: { ...VIEW.api, trouble } };

test.each<[string, NodeReadinessStatus, string | undefined]>([
  ["all is well", VIEW, undefined],
  ["a taint is overdue", OVERDUE, `taint d/agent-not-ready:NoSchedule is still on the node: ${hindrance}`],
  ["the API server refuses", IN_TROUBLE, "watching the Node: no\nrights"],
])("the check when %s", async (_what, view, reason) => {
  const { passed, text } = await showNodeReadiness(() => view).check.run();
  expect([passed, text]).toEqual([reason === undefined, reason]);
});

test("/readyz?verbose shows node readiness, which counts only with ?require", async () => {
  const report = (query: string) =>
    runChecks("readyz", [showNodeReadiness(() => IN_TROUBLE).check], new URLSearchParams(query));
  expect(await report("")).toEqual({ passed: true, body: "ok" });
  expect(await report("verbose")).toEqual({
    passed: true,
    body: "[-]node-readiness failed (does not count): watching the Node: no\\nrights\nreadyz check passed\n",
  });
  const required = await report("require=node-readiness");
  expect(required.passed).toBe(false);
  expect(required.body).toContain("[-]node-readiness failed: ");
});

test("metrics", () => {
  const rows = Object.entries(showNodeReadiness(() => OVERDUE).metrics);
  const values = Object.fromEntries(
    rows.map(([name, { samples }]) => [name, samples(PROCESS_FACTS, {} as never)]),
  );
  for (const [name, { labelNames = [] }] of rows)
    for (const [, ...labels] of values[name] ?? [])
      expect([name, labels.length]).toEqual([name, labelNames.length]);
  const taint = ["d", "d/agent-not-ready"];
  expect(values).toEqual({
    registrar_startup_taint_overdue: [[true, ...taint]],
    registrar_startup_taint_removals_total: [[1, ...taint]],
    registrar_startup_taint_removal_seconds: [[0.25, ...taint]],
    registrar_node_condition: [[true, "d", "d/Registered"]],
    registrar_csinode_lacks_driver: [[true, "d"]],
    registrar_api_requests_total: [[7]],
    registrar_api_failures_total: [[2, "forbidden"]],
  });
});

test("the status page has readable times", () => {
  expect(showNodeReadiness(() => IN_TROUBLE).describe()).toMatchObject({
    node: "node-1",
    apiServer: { calls: 7, trouble: "forbidden", since: "1970-01-01T00:00:00.005Z" },
    csiNode: [{ driverName: "d", lackingSince: "1970-01-01T00:00:00.005Z", reregistrations: 2 }],
  });
});
