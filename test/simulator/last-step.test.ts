import { createEventLog } from "../../src/simulator/event-stream";
import { KUBELET_EVENTS, type KubeletEvent, tellLastStep } from "../../src/simulator/kubelet/events";
import { createTestNode } from "../support/registrar-node";

type Step = Parameters<ReturnType<typeof createEventLog<KubeletEvent>>["append"]>[0];

const socketPath = "/reg/x.sock";
const plugin = { socketPath, driverName: "x.csi", pluginType: "CSIPlugin", endpoint: "/x" };
const seen: Step = { kind: "socket-seen", socketPath, generation: 1, replaced: false };
const calling = (call: "NodeGetInfo" | "NotifyRegistrationStatus"): Step => ({
  kind: "calling",
  call,
  socketPath,
});
const registered: Step = { kind: "registered", ...plugin };
const notified: Step = {
  kind: "called",
  call: "NotifyRegistrationStatus",
  socketPath,
  durationMs: 1,
  result: { kind: "ok" },
};
const gone: Step = { kind: "deregistered", driverName: "x.csi", because: "socket-gone" };
const refusal = { kind: "failed", socketPath, error: "no such node", backoffMs: 1, retries: true } as const;

test.each<[told: string, ...Step[]]>([
  ["it has seen no socket in /reg"],
  [
    "it has seen /reg/x.sock and does not call: the fault never-call is active",
    seen,
    { kind: "waiting", socketPath, because: { kind: "never-call" } },
  ],
  ["it has seen /reg/x.sock and not called yet", seen],
  ["/reg/x.sock is gone", seen, { kind: "socket-gone", socketPath }],
  ["NodeGetInfo on /reg/x.sock has not ended yet", seen, calling("NodeGetInfo")],
  ["no such node", seen, refusal],
  // A registrar that is refused exits: its socket goes before or after kubelet has noted the failure.
  ["/reg/x.sock is gone; before that: no such node", seen, refusal, { kind: "socket-gone", socketPath }],
  ["no such node", seen, { kind: "socket-gone", socketPath }, refusal],
  ["it has registered x.csi", seen, refusal, registered],
  [
    "it has registered x.csi; before that: no such node",
    { ...refusal, socketPath: "/reg/y.sock" },
    registered,
  ],
  [
    "NotifyRegistrationStatus on /reg/x.sock has not ended yet",
    registered,
    calling("NotifyRegistrationStatus"),
  ],
  // What the registrar was told is no step of its own.
  ["it has registered x.csi", registered, calling("NotifyRegistrationStatus"), notified],
  ["it has deregistered x.csi: socket-gone", registered, gone],
])("says: %s", (told, ...steps) => {
  const log = createEventLog<KubeletEvent>("kubelet", KUBELET_EVENTS);
  steps.forEach(log.append);
  expect(tellLastStep(log.stream.history(), "/reg")).toBe(told);
});

test("a wait that was given up tells the last step", async () => {
  await using node = await createTestNode();
  const kubelet = await node.kubelet();
  await expect(kubelet.registered("x.csi", { signal: AbortSignal.abort() })).rejects.toThrow(
    `registered("x.csi") of the simulated kubelet did not happen: the caller gave up; it has seen no socket in ${node.pluginDir}`,
  );
});
