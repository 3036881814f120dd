import { runChecks } from "../../src/diagnostics/health-checks";
import { showNodeReadiness } from "../../src/diagnostics/node-readiness";
import type { NodeReadinessStatus } from "../../src/node-readiness/start-node-readiness";

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
