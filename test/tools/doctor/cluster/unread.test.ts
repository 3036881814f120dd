import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { csiDriver, daemonSet, volumeAttachment } from "../../../support/cluster-objects";
import { createTempFolder, type TempFolder } from "../../../support/temp-folder";
import { clusterOf } from "./admitted-cluster";
import { createMemoryCluster, loadRecorded, type MemoryCluster, WELL } from "./memory-cluster";
import { FAULT_KINDS, type Fault, startServedCluster } from "./served-cluster";
import { addNode, DISK, deploy, FILES, STORAGE } from "./sick-cluster";

// Taking information away may turn a verdict into `unknown`, and nothing else.

/** Three nodes with two drivers, volumes of one, and nothing that is wrong. */
async function makeHealthy(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  const nodes = ["node-1", "node-2", "node-3"];
  for (const name of nodes) {
    const ids = { [DISK]: `i-${name}`, [FILES]: `i-${name}` };
    await addNode(cluster, name, ids);
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(`of-${name}`, DISK, name));
  }
  for (const driver of [DISK, FILES]) {
    await cluster.create(`${STORAGE}/csidrivers`, csiDriver(driver));
    await deploy(cluster, daemonSet(driver), nodes, () => WELL);
  }
  return cluster;
}

const WORLDS: readonly (readonly [what: string, make: () => Promise<MemoryCluster>])[] = [
  ["a healthy cluster", makeHealthy],
  ["the recorded sick cluster", async () => loadRecorded()],
  [
    "a cluster whose registrars a policy removed",
    () => clusterOf({ inPod: null, inOthers: [{}], hasNodeWide: true }),
  ],
];

const isBad = ({ status }: { status: string }) => status === "problem" || status === "warning";
const keyOf = ({ code, subject }: ClusterReport["findings"][number]) => `${code} ${subject}`;

/** What a report says that one with all information does not. */
function tooMuchIn(report: ClusterReport, whole: ClusterReport): readonly string[] {
  const nodesOf = new Map<string, readonly string[]>();
  for (const one of whole.findings.filter(isBad))
    nodesOf.set(keyOf(one), [...(nodesOf.get(keyOf(one)) ?? []), ...one.nodes]);
  const bad = report.findings
    .filter((one) => isBad(one) && !one.nodes.every((name) => nodesOf.get(keyOf(one))?.includes(name)))
    .concat(report.findings.filter((one) => isBad(one) && !nodesOf.has(keyOf(one))));
  const rowOf = (name: string) => whole.drivers.find((row) => row.name === name);
  const counts = report.drivers.flatMap(({ name, nodes, registered, csiDriver }) => {
    const row = rowOf(name);
    const isSame = [
      nodes === null || row === undefined || nodes === row.nodes,
      registered === null || registered === row?.registered,
      csiDriver === null || csiDriver === row?.csiDriver,
    ];
    return isSame.every(Boolean) ? [] : `${name}: ${registered} of ${nodes}, csiDriver ${csiDriver}`;
  });
  const placeOf = (one: ClusterReport["nodes"][number]) =>
    whole.nodes.find(({ node, driver }) => node === one.node && driver === one.driver);
  const states = report.nodes.flatMap((one) => {
    const state = placeOf(one)?.state;
    // CSINode has it, whatever its pod and node do; a driver whose name is not known has a row of its own.
    const isListed = placeOf(one)?.csiNode === true;
    const mayBe = ["unseen", state, ...(isListed ? ["registered"] : state ? [] : ["node-away"])];
    const isFewer = one.waitingPods?.length !== (placeOf(one)?.waitingPods?.length ?? 0);
    const isWrong = !mayBe.includes(one.state) || (one.waitingPods !== null && isFewer);
    return isWrong ? `${one.node} ${one.driver} ${one.state}, waiting ${one.waitingPods}` : [];
  });
  const pods = report.registrars.flatMap(({ daemonSet, pods }) => {
    const row = whole.registrars.find((one) => one.daemonSet === daemonSet);
    return pods === null || JSON.stringify(pods) === JSON.stringify(row?.pods) ? [] : `pods of ${daemonSet}`;
  });
  return [...bad.map((one) => `${keyOf(one)} ${one.text} ${one.nodes}`), ...counts, ...states, ...pods];
}

describe.each(WORLDS)("%s", (_what, make) => {
  let folder: TempFolder;
  let served: Awaited<ReturnType<typeof startServedCluster>>;
  let whole: ClusterReport;
  /** Each read, and how many pages it has. */
  let reads: readonly (readonly [string, number])[];
  beforeAll(async () => {
    folder = await createTempFolder();
    const cluster = await make();
    served = await startServedCluster(cluster, folder.at("api.sock"), cluster.now());
    whole = await served.report();
    reads = [...served.reads];
  });
  afterAll(async () => {
    served[Symbol.dispose]();
    await folder[Symbol.asyncDispose]();
  });

  test.each([0, 1])("each list in turn fails for good: what depends on it is unknown (%d)", async (turn) => {
    const { length } = FAULT_KINDS;
    for (const [at, [read, pages]] of reads.entries()) {
      const kind = turn === 0 ? "forbidden" : (FAULT_KINDS[at % length] ?? "cut");
      const page = turn === 0 ? pages - 1 : 0;
      const report = await served.report({ kind, read, page });
      expect([kind, read, tooMuchIn(report, whole)]).toEqual([kind, read, []]);
      const names = report.drivers.map(({ name }) => name);
      const described = whole.drivers.flatMap(({ name, csiDriver }) => (csiDriver ? name : []));
      if (!read.includes("csidrivers")) expect(names).toEqual(expect.arrayContaining(described));
      const text = renderClusterTable(report, { width: 100, colors: false });
      expect([read, report.healthy, /^Not everything could be read|^\d+ problem/m.test(text)]).toEqual([
        ...[read, false, true],
      ]);
      expect(report.findings).toContainEqual(expect.objectContaining({ code: "CSI212" }));
    }
  });

  test("each list in turn fails once: nothing changes", async () => {
    const passing: readonly Fault["kind"][] = [
      ...FAULT_KINDS.filter((kind) => kind !== "forbidden" && kind !== "absent"),
      "expired, go on",
      "delay",
    ];
    for (const [at, [read, pages]] of reads.entries()) {
      const kind = passing[at % passing.length] ?? "cut";
      const fault = { kind, read, page: Math.min(pages - 1, 1), isPassing: true };
      expect([fault, await served.report(fault)]).toEqual([fault, whole]);
    }
  });
});
