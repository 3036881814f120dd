import { podStatus, volumeAttachment } from "../../support/cluster-objects";
import { ago, expectSaid, running, said } from "./memory-cluster";
import { clusterOf, OURS } from "./policy-cluster";

const DROP = ["--image-policy", `--image=${OURS}`, "--drop", "--include=policy"];

test("the registrar of the whole node: drivers that it has not found, and pods of its own that do not run", async () => {
  const crashing = { kind: "crash-loop", restarts: 9, last: { at: ago(1), exitCode: 1 } } as const;
  const waiting = { kind: "waiting", reason: "ContainerCreating", message: "" } as const;
  const pods = "/api/v1/namespaces/storage/pods";
  const codes = async (pod?: string, status: object = {}) => {
    const cluster = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
    if (pod) await cluster.setStatus(`${pods}/${pod}`, status);
    const { findings } = await cluster.report();
    return findings.filter(({ status }) => status === "problem").map(({ code }) => code);
  };
  expect(await codes()).toEqual(["CSI101"]);
  const driver = running;
  expect(await codes("disk-node-node-1", podStatus({ driver: crashing }))).toEqual(["CSI101", "CSI203"]);
  for (const registrar of [crashing, waiting])
    expect(await codes("csi-registrar-node-1", podStatus({ registrar, driver }))).toContain("CSI216");
  const alone = await clusterOf({ inPod: null });
  await alone.setStatus(`${pods}/disk-node-node-1`, podStatus({ driver: crashing }));
  await expectSaid(alone, /^CSI203 problem/);
  const cluster = await clusterOf({ hasNodeWide: true });
  const attachment = volumeAttachment("a", "gone.csi", "node-1");
  await cluster.create("/apis/storage.k8s.io/v1/volumeattachments", attachment);
  expect(await said(cluster)).toContainEqual(
    expect.stringMatching(
      /^CSI207 problem: gone\.csi is needed, and the registrar of the whole node has not/,
    ),
  );
});

test("a driver that the registrar of the whole node has not registered", async () => {
  const cluster = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
  await cluster.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  expect(await said(cluster)).toContainEqual(
    expect.stringMatching(
      /^CSI204 problem: disk.* -> see the log of the registrar of the whole node there, and/,
    ),
  );
});
