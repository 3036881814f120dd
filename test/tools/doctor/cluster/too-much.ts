import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import { claimedTooMuch } from "../findings/completions";
import { clusterOf } from "./admitted-cluster";
import { makeHealthy, makeReplaced } from "./healthy-cluster";
import { type MemoryCluster, sickCluster } from "./memory-cluster";
import { makePair } from "./pair-cluster";

export const WORLDS: readonly (readonly [what: string, make: () => Promise<MemoryCluster>])[] = [
  ["a healthy cluster", makeHealthy],
  ["a sick cluster", sickCluster],
  ["a cluster where other pods took the places of some", makeReplaced],
  ["a cluster with a driver that is named by elimination", makePair],
  [
    "a cluster whose registrars a policy removed",
    () => clusterOf({ inPod: null, inOthers: [{}], hasNodeWide: true }),
  ],
];

type Row = Readonly<Record<string, unknown>>;

/** What a report says that one with all information does not: null, `unseen` and a name that is a guess say nothing. */
export function tooMuchIn(report: ClusterReport, whole: ClusterReport): readonly string[] {
  const guesses = report.drivers.flatMap(({ name, guessed }) => (guessed ? name : []));
  const othersOf = (kind: "drivers" | "nodes" | "registrars", keys: readonly string[], fields: object) =>
    report[kind].flatMap((row: Row) => {
      if (guesses.includes(String(row.driver ?? row.name))) return [];
      const same = (whole[kind] as readonly Row[]).find((one) => keys.every((key) => one[key] === row[key]));
      const others = Object.entries(fields).filter(([field, none]) => {
        const text = JSON.stringify(row[field]);
        return row[field] !== null && text !== JSON.stringify(same ? same[field] : none);
      });
      // CSINode has it, whatever its pod and node do.
      // Two pods are true of a node that is away, too.
      const isAway = same?.state === "duplicate";
      const mayBe = [
        ...["unseen", same?.state, same?.csiNode ? "registered" : undefined],
        isAway ? "node-away" : undefined,
      ];
      const isOther = kind === "nodes" && same !== undefined && !mayBe.includes(row.state);
      return [...others, ...(isOther ? ["state"] : [])].map((what) => `${what} of ${JSON.stringify(row)}`);
    });
  const lackOf = (kind: "drivers" | "nodes" | "registrars") =>
    report[kind].length < whole[kind].length && !report.partial.includes(kind) ? `${kind} lack some` : [];
  return [
    ...(["drivers", "nodes", "registrars"] as const).flatMap(lackOf),
    ...claimedTooMuch(report.findings, whole.findings),
    ...othersOf("drivers", ["name"], { daemonSets: [], nodes: 0, registered: 0, csiDriver: false }),
    ...othersOf("nodes", ["node", "driver"], { csiNode: false, waitingPods: [], volumeAttachments: 0 }),
    ...othersOf("registrars", ["daemonSet"], { driver: "", pods: [] }),
  ];
}
