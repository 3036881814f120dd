import {
  inState,
  known,
  type Place,
  restartingIn,
  whyIn,
} from "../../../../src/tools/doctor/cluster/judge/state";
import type { ClusterTarget } from "../../../../src/tools/doctor/cluster/read/cluster";
import type { RegistrarPod } from "../../../../src/tools/doctor/cluster/read/pod";
import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { grouped } from "../../../../src/tools/doctor/findings/grouped";
import { trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { listFrom, looked, startReading } from "../../../../src/tools/doctor/findings/seen";
import { failedMount, volumeAttachment, waitingPod } from "../../../support/cluster-objects";
import { placesIn, replaceAt, valueAt } from "../../../support/places";
import { type MemoryCluster, makeCluster, NOW_MS, sickCluster } from "./memory-cluster";
import { DISK, FILES, STORAGE } from "./sick-cluster";
import { tooMuchIn, WORLDS } from "./too-much";

test("a state that is known without the pod does not say how the pod is", () => {
  const why = { kind: "object", text: "no" } as const;
  const pods = startReading<"pods">().list<RegistrarPod>([], [{ part: "pods", subject: "x", why }]);
  const state = looked(known({ kind: "registered", reason: null }));
  const asked = (place: Pick<Place, "state" | "pods">) =>
    [
      ...[inState("registered")(place), inState("restarting", "failed")(place)],
      ...[whyIn(place).contains(), restartingIn(place).contains()],
    ].map(trueOrNull);
  expect(asked({ state, pods })).toEqual([true, null, null, null]);
  expect(asked({ state, pods: listFrom<RegistrarPod>([]) })).toEqual([true, false, false, false]);
});

// Taking information away may turn a verdict into `unknown`, and nothing else.

interface OwnedPod {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace: string;
    readonly ownerReferences?: readonly { readonly name: string }[];
  };
  readonly spec: { readonly nodeName?: string };
}
/** What the text for people says that is not known, or does not say. */
function wrongIn(report: ClusterReport): readonly string[] {
  const text = renderClusterTable(report, { width: 1_000, colors: false });
  const { driver } = report.target;
  const codes = report.nodes.flatMap(({ code, reason }) => (reason === null || code === null ? [] : code));
  return [
    /[1-9][\d,]* unknown/.test(text) ? "" : "no word of what could not be read",
    /^No driver/m.test(text) ? "it says that there is no driver" : "",
    driver === null || [" ", "\n"].some((end) => text.includes(`${driver}${end}`))
      ? ""
      : `nothing of ${driver}`,
    ...codes.filter((code) => !new RegExp(`^(?:[a-zA-Z]+ +| +causes )${code}\\b`, "m").test(text)),
  ].filter(Boolean);
}

/** A value of each type of JSON; no other field has an equal one. */
const ODD = [7.25, true, "unlike", ["unlike"], { unlike: 1 }];
const typeOf = (value: unknown) => (Array.isArray(value) ? "list" : typeof value);

/** Fields that each object of an API server has, by its resource: Go's JSON has them without `omitempty`, or validation wants them. */
const ALWAYS: Readonly<Record<string, RegExp>> = {
  "": /^metadata\.(?:name|uid|creationTimestamp)$|^metadata\.ownerReferences\[\d+\]\.\w+$/,
  csidrivers: /^spec$/,
  csinodes: /^spec(?:\.drivers\[\d+\]\.name)?$/,
  daemonsets:
    /^metadata\.namespace$|^spec\.(?:selector|template)$|^status\.(?:current|desired)NumberScheduled$|^spec\.template\.spec\.(?:containers$|.*(?:name|mountPath|hostPath\.path)$)/,
  events: /^metadata\.namespace$|^involvedObject\.(?:kind|uid|name|namespace)$/,
  nodes: /^status(?:\.conditions(?:\[\d+\]\.(?:type|status))?)?$/,
  pods: /^metadata\.namespace$|^spec\.(?:containers(?:\[\d+\]\..*(?:name|mountPath))?|volumes\[\d+\]\.(?:name|hostPath\.path))$|^status(?:\.phase|\.conditions\[\d+\]\.(?:type|status)|\.containerStatuses\[\d+\]\.(?:name|state|ready|restartCount)|.*\.(?:exitCode|startedAt))?$/,
  volumeattachments: /^spec\.(?:attacher|nodeName)$/,
  /** Pods of phase Running. */
  running: /^spec\.nodeName$|^status\.containerStatuses$/,
};

/** Each field of each kind of object, once; `see` reports on the cluster in which it has another value. */
async function fieldsOf(cluster: MemoryCluster) {
  const stored: { path: string; object: object }[] = [];
  cluster.setView((path, object) => {
    stored.push({ path, object });
    return object;
  });
  await cluster.report();
  const fields = stored.flatMap(({ path, object }) =>
    placesIn(object)
      .filter(([first]) => first !== undefined)
      .map((place) => {
        const resource = path.split("/").at(-1) ?? "";
        const field = place
          .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
          .join("")
          .slice(1);
        const see = async (odd: unknown) => {
          cluster.setView((_path, one) => (one === object ? (replaceAt(one, place, odd) as object) : one));
          const report = await cluster.report();
          cluster.setView((_path, one) => one);
          return report;
        };
        const { status } = object as { status?: { phase?: string } };
        const phase = resource === "pods" && status?.phase === "Running" ? "running" : "";
        const isAlways = ["", resource, phase].some((one) => ALWAYS[one]?.test(field));
        return { resource, field, isAlways, type: typeOf(valueAt(object, place)), see };
      }),
  );
  const kinds = grouped(
    fields,
    ({ resource, field, isAlways }) => `${resource} ${field.replace(/\[\d+\]/g, "[]")} ${isAlways}`,
  );
  return [...kinds.values()].map(([one]) => one);
}

const FORBIDDEN = { kind: "forbidden", message: "you may not" } as const;
/** What operators with half of the rights may not list. */
const HALVES = [
  "pods daemonsets",
  "csinodes",
  "nodes events csidrivers",
  "volumeattachments",
  "csinodes nodes",
];

describe.each(WORLDS)("%s", (what, make) => {
  const world = WORLDS.findIndex(([one]) => one === what);
  let cluster: MemoryCluster;
  let whole: ClusterReport;
  /** Each read, and how many pages it has. */
  let reads: readonly (readonly [string, number])[];
  beforeAll(async () => {
    cluster = await make();
    whole = await cluster.report();
    reads = [...cluster.reads];
    expect(whole.partial).toEqual([]);
  });
  afterEach(() => cluster.setFault());

  test("each page in turn ends its list, has a broken object, or comes 20 minutes later than all others", async () => {
    for (const [read, pages] of reads)
      for (let page = 0; page < pages; page++)
        for (const what of [FORBIDDEN, "broken", "delayed"] as const) {
          cluster.setFault({ read, page, what });
          const report = await cluster.report();
          const place = [read, page, what];
          expect([place, tooMuchIn(report, whole)]).toEqual([place, []]);
          // A part that is not looked at may be broken.
          const isSame = JSON.stringify(report) === JSON.stringify(whole);
          if (what === "delayed" || isSame) expect([place, report]).toEqual([place, whole]);
          else expect([place, report.healthy, wrongIn(report)]).toEqual([place, false, []]);
        }
  });

  test("each field of each kind of object has a value of another type, or is missing: it says so, or is not read", async () => {
    const wrong: unknown[] = [];
    for (const { resource, field, type, isAlways, see } of await fieldsOf(cluster)) {
      // An object, or else a list; in each world another one of the others.
      const [first, ...more] = ODD.filter((odd) => typeOf(odd) !== type).reverse();
      const odds = [first, more[world % more.length]];
      for (const odd of isAlways ? [...odds, world % 2 === 0 ? undefined : null] : odds) {
        const report = await see(odd);
        if (JSON.stringify(report) === JSON.stringify(whole) && odd === first) break;
        if (JSON.stringify(report) === JSON.stringify(whole)) continue;
        const told = report.findings.filter(({ code }) => code === "CSI113");
        const words = odd === undefined || odd === null ? [" has no "] : [`${field} `, ": it has true "];
        const isTold = told.some(
          ({ text, fix, command }) =>
            words.some((word) => text.includes(word)) &&
            /^see (?:the object|one of them)/.test(`${fix}`) &&
            /^kubectl .*-o yaml$/.test(`${command}`),
        );
        const tooMuch = tooMuchIn(report, whole);
        if (!isTold || tooMuch.length > 0) wrong.push([resource, field, odd, isTold, tooMuch]);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("each pod of a DaemonSet is unread in turn: only states of its drivers, on its node if that is known, are unknown", async () => {
    const pods = cluster.find({ path: "/api/v1/pods", kind: "PodList" }) as readonly OwnedPod[];
    for (const { metadata, spec } of pods)
      for (const broken of [{ status: 7 }, { spec: 7 }, { metadata: { ...metadata, uid: 7 } }]) {
        const [owner] = metadata.ownerReferences ?? [];
        if (owner === undefined) continue;
        cluster.setView((_path, one) =>
          (one as OwnedPod).metadata.uid === metadata.uid ? { ...one, ...broken } : one,
        );
        const report = await cluster.report();
        const node = "spec" in broken ? undefined : spec.nodeName;
        const set = `${metadata.namespace}/${owner.name}`;
        const isElsewhere = (other: string | null) => node !== undefined && other !== node;
        const statesOf = ({ nodes }: ClusterReport) =>
          whole.drivers.flatMap(({ name, daemonSets }) =>
            nodes
              .filter((row) => row.driver === name && (isElsewhere(row.node) || !daemonSets?.includes(set)))
              .map((row) => [row.node, name, row.state]),
          );
        const place = [metadata.name, Object.keys(broken)];
        expect([place, tooMuchIn(report, whole)]).toEqual([place, []]);
        expect([place, statesOf(report)]).toEqual([place, statesOf(whole)]);
      }
    cluster.setView((_path, one) => one);
  });

  test("each node that does not report is named, whether something waits there or not", async () => {
    for (const status of ["Unknown", "False"])
      for (const node of new Set(whole.nodes.map((row) => row.node ?? ""))) {
        const conditions = [{ type: "Ready", status }];
        const isMeant = (path: string, { metadata }: { metadata?: { name?: string } }) =>
          path.endsWith("/nodes") && metadata?.name === node;
        cluster.setView((path, one) => (isMeant(path, one) ? { ...one, status: { conditions } } : one));
        const { healthy, findings, nodes } = await cluster.report();
        const told = findings.filter((one) => one.status === "unknown" && one.nodes.includes(node));
        const states = nodes.flatMap((row) => (row.node === node ? row.state : []));
        // Two pods are true without kubelet; what it says of a container is true while it says that its node is not ready.
        const known = status === "False" ? ["restarting", "duplicate"] : ["duplicate"];
        const isKnown = states.every((one) => known.includes(one));
        if (status === "Unknown") expect(states).not.toContain("restarting");
        expect([node, healthy, told.length > 0 || isKnown]).toEqual([node, false, true]);
        expect(states).not.toContain("registered");
      }
    cluster.setView((_path, one) => one);
  });

  test("a day later nothing has only just started, whatever is missing", async () => {
    const fields = (await fieldsOf(cluster)).filter(({ resource }) =>
      /^(?:pods|nodes|daemonsets)$/.test(resource),
    );
    cluster.setNow(NOW_MS + 24 * 60 * 60_000);
    const wrong: unknown[] = [];
    for (const { resource, field, type, see } of fields)
      for (const odd of type === "object" ? [undefined, {}] : [undefined]) {
        const { nodes } = await see(odd);
        if (nodes.some(({ state }) => state === "starting")) wrong.push([resource, field, odd]);
      }
    cluster.setNow(NOW_MS);
    expect(wrong).toEqual([]);
  });

  test("forbidden lists add no problem, also for one driver, one node, or one driver of a node", async () => {
    const nodes = [undefined, whole.nodes.findLast(({ state }) => state === "registered")?.node ?? ""];
    for (const node of nodes)
      for (const driver of [undefined, "nobody.csi", ...whole.drivers.map(({ name }) => name)]) {
        cluster.setFault();
        const all = await cluster.report({ node, driver });
        for (const lists of HALVES) {
          cluster.refuse(lists.split(" "), "you may not");
          const report = await cluster.report({ node, driver });
          const what = [node, driver, lists];
          expect([what, tooMuchIn(report, all), wrongIn(report)]).toEqual([what, [], []]);
        }
      }
  });

  test("a swap counts nothing that could not be read", async () => {
    const { target } = await cluster.swapReport("");
    for (const [read] of reads) {
      cluster.setFault({ read, page: 0, what: FORBIDDEN });
      const report = await cluster.swapReport("");
      const isUnread = read.includes("daemonsets");
      const counts = isUnread ? { swapped: null, problemsWithEither: null } : {};
      expect([read, report.target]).toEqual([read, { ...target, ...counts }]);
      const text = renderClusterTable(report, { width: 99, colors: false });
      expect(/^It is not known how many registrars/m.test(text)).toBe(isUnread);
    }
  });
});

test("a pod that could not be read blurs its own driver's findings alone", async () => {
  const cluster = await sickCluster();
  const saidOf = async (driver: string) =>
    (await cluster.report()).findings.flatMap(({ subject, code, text }) =>
      subject === driver ? `${code} ${text}` : [],
    );
  const disk = await saidOf(DISK);
  const isUnread = ({ path, object }: { path: string; object: { metadata: { name: string } } }) =>
    /\/pods$/.test(path) && /^files-node.*node-1$/.test(object.metadata.name);
  cluster.edit((stored) =>
    stored.map((one) => (isUnread(one) ? { ...one, object: { ...one.object, status: 7 } } : one)),
  );
  expect(disk).not.toEqual([]);
  expect(await saidOf(DISK)).toEqual(disk);
  expect((await saidOf(FILES)).join()).toMatch(/at least|not everything could be read/);
});

describe("an operator with half of the rights gets no false problem of the sick cluster", () => {
  const BACKUP = "backup.csi.example.com";
  const said = async (lists: readonly string[], target: Partial<ClusterTarget>) => {
    const cluster = await sickCluster();
    if (lists.length > 0) cluster.refuse(lists, "no");
    const text = renderClusterTable(await cluster.report(target), { width: 1_000, colors: false });
    return text.replace(/\n {4}/g, " ");
  };

  test.each<readonly [expected: RegExp, lists: readonly string[], Partial<ClusterTarget>]>([
    [
      /CSI204 backup\.csi.* is not in CSINode, .*; needed by at least 1 VolumeAttachment on 1 node/m,
      ["daemonsets"],
      {},
    ],
    [
      /CSI204 files\.csi.* is possibly registered: CSINodes could .*; needed by at least 1 pod/,
      ["csinodes"],
      {},
    ],
    [/^shares\.csi.* 4 of \? +no +storage\/shares-node$/m, ["nodes", "events"], {}],
    [/^csi-shares \(guess\) +\? of \? +\? +storage\/shares-node$/m, ["csinodes"], {}],
    [/CSI208 .* in no CSINode.*only its CSIDriver/s, ["volumeattachments"], { driver: BACKUP }],
    [/kubectl --kubeconfig='a'"'"' b' --context=c -n storage logs/, [], { kubeconfig: "a' b", context: "c" }],
  ])("%s without %p", async (expected, lists, target) => {
    expect(await said(lists, target)).toMatch(expected);
  });

  test.each(["volumeattachments", "pods", "events"])(
    "where one of the %s that may tell of need is unread, the others are at least so many",
    async (of) => {
      const cluster = await makeCluster({ inCsiNode: {} });
      for (const name of ["a", "b"]) {
        const pod = await cluster.create("/api/v1/namespaces/default/pods", waitingPod(name, "node-1"));
        await cluster.create("/api/v1/namespaces/default/events", failedMount(pod, DISK, "node-1"));
        await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(name, DISK, "node-1"));
      }
      cluster.edit((stored) =>
        stored.flatMap((one) => {
          const { name } = one.object.metadata as { readonly name: string };
          if (!/^b(?:\.mount)?$/.test(name)) return one;
          return one.path.endsWith(of) ? { ...one, object: { ...one.object, spec: 7, message: 7 } } : [];
        }),
      );
      const { findings } = await cluster.report();
      expect(findings.flatMap(({ code, text }) => (code === "CSI211" ? text : []))).toEqual([
        "has at least 1 pod (default/a) and at least 1 VolumeAttachment waiting for it",
      ]);
    },
  );
});
