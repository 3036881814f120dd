import { isDeepStrictEqual } from "node:util";
import { reportOnFiles } from "../../../../src/tools/doctor/files/report";
import { type Changes, daemonSet, OFFICIAL, readAs, said, WINDOWS } from "./one-daemon-set";

const reportOn = (...objects: readonly object[]) =>
  reportOnFiles({ files: ["a.yaml"], ...readAs("a.yaml", objects) }, {}).report;
const listed = (...objects: readonly object[]) =>
  reportOn(...objects).findings.flatMap(({ code, status, subject }) =>
    status === "ok" ? [] : `${code} ${status} ${subject}`,
  );

const inWindows = daemonSet({ ...WINDOWS, name: "win", image: OFFICIAL });
const unjudged = (status: string) => `CSI112 ${status} a.yaml: DaemonSet ns/win, container registrar`;

test("a registrar for Windows is skipped, and a file with it alone exits with 3", () => {
  expect(listed(inWindows)).toEqual([unjudged("unknown")]);
  expect(reportOn(inWindows)).toMatchObject({ healthy: false, summary: { unknown: 1, problem: 0 } });
  expect(listed(inWindows, daemonSet())).toEqual([unjudged("skipped")]);
  expect(reportOn(inWindows, daemonSet()).healthy).toBe(true);
});

describe("two objects of one name in a file", () => {
  const OVERWRITTEN = "CSI116 warning a.yaml: DaemonSet ns/x";

  test("are a warning, once", () => {
    expect(listed(daemonSet(), daemonSet(), daemonSet())).toEqual([OVERWRITTEN]);
    const said = {
      text: expect.stringMatching(/^is there 2 times: the last one overwrites the others when/),
    };
    expect(reportOn(daemonSet(), daemonSet()).findings).toContainEqual(expect.objectContaining(said));
    const other = { ...daemonSet(), spec: { selector: {}, template: { spec: { containers: [] } } } };
    expect(listed(daemonSet(), other)).toEqual([OVERWRITTEN]);
  });

  test.each<[what: string, other: object]>([
    ["name", daemonSet({ name: "y" })],
    ["namespace", { ...daemonSet(), metadata: { name: "x", namespace: "other" } }],
    ["kind", { ...daemonSet(), kind: "Deployment" }],
  ])("are none with another %s", (_what, other) => {
    expect(listed(daemonSet(), other)).not.toContain(OVERWRITTEN);
  });

  test.each(["namespace", "name"])("with one placeholder as %s may be one", (field) => {
    const open = (text: string) => ({
      ...daemonSet(),
      metadata: { name: "x", namespace: "ns", [field]: `{{ .${text} }}-x` },
    });
    const [unknown = "", ...more] = listed(open("a"), open("a"), open("b"));
    expect(unknown).toMatch(/^CSI116 unknown a\.yaml: DaemonSet .*{{ \.a }}-x/);
    expect(more.filter((one) => one.startsWith("CSI116"))).toEqual([]);
  });

  test("are one and a patch without a selector: only the former is an object", () => {
    const patch = { ...daemonSet(), spec: { template: { spec: { tolerations: [] } } } };
    expect(listed(daemonSet(), patch, patch)).toEqual([]);
    const ofRegistrar = { ...daemonSet(), spec: { template: daemonSet().spec.template } };
    expect(listed(daemonSet(), ofRegistrar)).toEqual([expect.stringMatching(/^CSI113 unknown/)]);
  });

  test("are not judged without a registrar", () => {
    const service = { kind: "Service", metadata: { name: "s" } };
    expect(listed(daemonSet(), service, service)).toEqual([]);
  });
});

/** Versions of one bundle: `-f a.yaml -f b.yaml`. */
test.each<[what: string, changes: Changes]>([
  ["a healthy one", {}],
  ["one on the node's network", { more: ["--http-endpoint=:2"], pod: { hostNetwork: true } }],
  ["a wrong flag", { more: ["--nope"] }],
  ["no namespace", { image: OFFICIAL, metadata: { name: "x" } }],
  ["a fault of the pod", { registry: "/elsewhere", pod: { securityContext: { runAsUser: 7 } } }],
])("an object that is in two files is one to each judge: %s", (_what, changes) => {
  const { metadata = daemonSet().metadata, ...fields } = changes;
  const object = { ...daemonSet(fields), metadata };
  const lines = (...files: readonly string[]) => {
    const objects = files.map((file) => readAs(file, [object]).objects).reduce((all, more) => all.with(more));
    const { findings } = reportOnFiles({ files, objects, gaps: [] }, {}).report;
    return findings.map(({ code, status, subject, text, fix }) =>
      [code, status, subject, text, fix].join(" "),
    );
  };
  const [same, others] = [lines("a", "b"), [...lines("a"), ...lines("b")]];
  const isCopy = (line: string) => /^CSI116 warning a: .* is there 2 times: /.test(line);
  expect(same.filter(isCopy)).toHaveLength(1);
  expect(same.filter((line) => !isCopy(line)).toSorted()).toEqual(others.toSorted());
});

describe("two DaemonSets with a registrar", () => {
  const TEXTS = [undefined, "a", "b", "$NS", "{{ .n }}"];
  /** What a text may be when the file is applied, in this place of it. */
  const valuesOf = (text: string | undefined, place: number, isName: boolean) =>
    ["a", "b"].flatMap((context) =>
      ["a", "b"].flatMap((variable) =>
        [0, 1, 2, 3].map((bits) => {
          if (text === undefined) return isName ? `generated ${place}` : context;
          if (text === "$NS") return variable;
          return text === "{{ .n }}" ? "ab"[(bits >> place) % 2] : text;
        }),
      ),
    );
  const pairs = TEXTS.flatMap((one) => TEXTS.map((other) => [one, other] as const));

  test.each(pairs.flatMap((names) => pairs.map((spaces) => ({ names, spaces }))))(
    "are one object, two, or either: %j",
    ({ names, spaces }) => {
      const objects = [0, 1].map((at) => ({
        ...daemonSet(),
        metadata: { name: names[at], namespace: spaces[at] },
      }));
      const [one, other] = objects.map(({ metadata: { name, namespace } }, at) => {
        const values = valuesOf(namespace, at, false);
        return valuesOf(name, at, true).flatMap((its, n) => values.map((value, m) => [n, m, its, value]));
      });
      const answers = new Set(one?.map((its, at) => isDeepStrictEqual(its, other?.[at])));
      const found = listed(...objects).flatMap((line) => /^CSI11[67] \w+/.exec(line) ?? []);
      if (answers.size > 1) expect(found).toEqual(["CSI116 unknown", "CSI117 unknown"]);
      else expect(found).toEqual([answers.has(true) ? "CSI116 warning" : "CSI117 warning"]);
    },
  );
});

describe("two registrars of one driver", () => {
  const TWIN = "CSI117 warning a.yaml: DaemonSet ns/y, container registrar";
  const pool = (name: string) => ({ pod: { nodeSelector: { pool: name } } });

  test("in pods that one node may have, or in one pod, are a warning, once", () => {
    expect(listed(daemonSet(), daemonSet({ name: "y", image: OFFICIAL }))).toEqual([TWIN]);
    expect(listed(daemonSet(), daemonSet({ name: "y", ...pool("a") }))).toEqual([TWIN]);
    const inZone = daemonSet({ name: "y", pod: { nodeSelector: { zone: "b" } } });
    expect(listed(daemonSet(pool("a")), inZone)).toEqual([TWIN]);
    const [registrar, driver] = daemonSet().spec.template.spec.containers;
    const containers = [registrar, { ...registrar, name: "second" }, driver];
    expect(listed(daemonSet({ pod: { containers } }))).toEqual([
      TWIN.replace("y, container registrar", "x, container second"),
    ]);
  });

  test.each<object>([
    { nodeSelector: { pool: "{{ .p }}" } },
    { ...pool("a").pod, affinity: { nodeAffinity: {}, podAffinity: { required: "{{ .a }}" } } },
  ])("are unknown where a placeholder decides whether one node may have both: %j", (pod) => {
    expect(listed(daemonSet(pool("a")), daemonSet({ name: "y", pod }))).toEqual([
      TWIN.replace("warning", "unknown"),
    ]);
    const apart = { ...pod, nodeSelector: { pool: "{{ .p }}", zone: "b" } };
    const inZone = { nodeSelector: { pool: "a", zone: "a" } };
    expect(listed(daemonSet({ pod: inZone }), daemonSet({ name: "y", pod: apart }))).toEqual([]);
  });

  test.each<[what: string, other: object]>([
    ["on other nodes", daemonSet({ name: "y", ...pool("b") })],
    ["of which one prints its version", daemonSet({ name: "y", more: ["--version"] })],
    ["on Windows", daemonSet({ name: "y", ...WINDOWS, image: OFFICIAL })],
  ])("%s are none", (_what, other) => {
    expect(listed(daemonSet(pool("a")), other)).not.toContainEqual(expect.stringMatching("CSI117"));
  });
});

type Requirement = readonly [operator: string, ...values: string[]];
const zone = (...[operator, ...values]: Requirement) => ({
  matchExpressions: [{ key: "zone", operator, values }],
});
const inZones = (...all: readonly Requirement[]) => {
  const nodeSelectorTerms = all.map((one) => zone(...one));
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
};
const fits = ([operator, ...values]: Requirement, its: string | undefined) =>
  operator.endsWith("In")
    ? (its !== undefined && values.includes(its)) === (operator === "In")
    : (its !== undefined) === (operator === "Exists");
const ZONES: readonly (readonly Requirement[])[] = [
  [["In", "a", "b"]],
  [["In", "b", "c"]],
  [["In", "c"]],
  [
    ["In", "a"],
    ["In", "c"],
  ],
  [["NotIn", "a"]],
  [["NotIn", "a", "b", "c"]],
  [["Exists"]],
  [["DoesNotExist"]],
  [["DoesNotExist"], ["In", "a"]],
];

test("two registrars of one driver are apart only if no node fits the affinities of both", () => {
  const told = ZONES.map((one) =>
    ZONES.map((other) => {
      const [x, y] = [one, other].map((all) => ({ pod: { affinity: inZones(...all) } }));
      const nodes = ["a", "b", "c", "d", undefined];
      const isFit = nodes.some((its) => [one, other].every((all) => all.some((each) => fits(each, its))));
      const expected = isFit ? [one === other ? "CSI117 warning" : "CSI117 unknown"] : [];
      const found = listed(daemonSet(x), daemonSet({ name: "y", ...y }));
      return [found.map((line) => line.split(" a.yaml", 1)[0]), expected];
    }),
  );
  for (const [found, expected] of told.flat()) expect(found).toEqual(expected);
});

test.each<readonly [what: string, x: object, y: object, status: string]>([
  [
    "prefer other nodes",
    { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{}] } },
    {},
    "warning",
  ],
  ["say nothing", { podAffinity: {}, nodeAffinity: {} }, {}, "warning"],
  [
    "have their parts in another order",
    inZones(["In", "a", "b"], ["Exists"]),
    inZones(["Exists"], ["In", "b", "a"]),
    "warning",
  ],
  [
    "avoid pods",
    { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } },
    {},
    "unknown",
  ],
])("two registrars of one driver whose affinities %s", (_what, x, y, status) => {
  const told = listed(daemonSet({ pod: { affinity: x } }), daemonSet({ name: "y", pod: { affinity: y } }));
  expect(told).toEqual([expect.stringMatching(`^CSI117 ${status} `)]);
});

describe("two registrars on the network of one node", () => {
  const onNode = (name: string, endpoint = ":2", pod = {}, more: Changes = {}) =>
    daemonSet({ name, more: [`--http-endpoint=${endpoint}`], pod: { hostNetwork: true, ...pod }, ...more });

  test.each([
    [":2", ":2"],
    [":2", "localhost:2"],
  ])("cannot serve %s and %s", (one, other) => {
    const pod = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } };
    const [first, ...more] = said(onNode("x", one, pod), onNode("y", other, pod));
    expect(first).toMatch(
      /^CSI109 problem: serves port 2 of the node's network, and so does .* ns\/x, container/,
    );
    // One clash is said once.
    expect(more).toEqual([]);
  });

  test.each<readonly [endpoint: string, pod: object]>([
    ["127.0.0.1:2", { nodeSelector: { pool: "{{ .p }}" } }],
    ["$(H):2", { nodeSelector: { pool: "a" } }],
  ])("may serve %s, or not, with %j", (endpoint, pod) => {
    const env = [{ name: "H", valueFrom: { configMapKeyRef: { name: "x", key: "h" } } }];
    const onPool = (name: string, own: object) => onNode(name, endpoint, own, { env });
    const unknown = expect.stringMatching(
      /^CSI109 unknown: .* so does .* ns\/x, .* cannot be seen here -> give/,
    );
    expect(said(onPool("x", { nodeSelector: { pool: "a" } }), onPool("y", pod))).toContainEqual(unknown);
    expect(said(onPool("x", pod), onPool("y", pod))).toContainEqual(unknown);
    expect(
      said(onPool("x", { nodeSelector: { pool: "a" } }), onPool("y", { ...pod, hostNetwork: false })),
    ).not.toContainEqual(unknown);
  });

  test("are unknown once for each, however many may be beside it", () => {
    const zones = ["a", "b", "c", "d"].map((zone) =>
      onNode(zone, ":2", {
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone }] },
        },
      }),
    );
    const ports = said(...zones).filter((line) => line.startsWith("CSI109"));
    const unknown = expect.stringMatching(/^CSI109 unknown: .* ns\/a, .* cannot be seen here/);
    expect(ports).toEqual([unknown, unknown, unknown]);
  });

  test("have a clash that one in an own network, and one before it, do not hide", () => {
    const others = [onNode("a", ":3"), onNode("b", ":2", { hostNetwork: false }), onNode("c")];
    const ports = said(...others, onNode("d"), onNode("d")).filter((line) => line.startsWith("CSI109"));
    const clash = expect.stringMatching(/^CSI109 problem: .* so does .* ns\/c, container/);
    expect(ports).toEqual([clash, clash]);
  });

  test.each<[what: string, other: object]>([
    ["another port", onNode("y", ":3")],
    ["another address", onNode("y", "127.0.0.2:2")],
    ["other nodes", onNode("y", "127.0.0.1:2", { nodeSelector: { pool: "b" } })],
    ["a network of its own", onNode("y", "127.0.0.1:2", { hostNetwork: false })],
    ["Windows", onNode("y", "127.0.0.1:2", WINDOWS.pod, { image: OFFICIAL })],
  ])("may serve %s", (_what, other) => {
    expect(said(onNode("x", "127.0.0.1:2"), other)).toEqual([]);
  });
});
