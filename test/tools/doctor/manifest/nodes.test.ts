import { findingsOf } from "../../../../src/tools/doctor/findings/finding";
import { MANIFEST_CHECKS } from "../../../../src/tools/doctor/manifest/judge/checks";
import { readDeployments } from "../../../../src/tools/doctor/manifest/read/deployments";
import { CSI_DRIVER, daemonSet, expectSaid, said } from "./one-daemon-set";

const CHANGES = { args: ["--http-endpoint=:2"], pod: { hostNetwork: true } };

/** The codes for two DaemonSets of one driver and one port of the node, whose pods have these rules for nodes. */
function saidOfTwo(...rules: readonly object[]): readonly string[] {
  const two = rules.map((pod, n) =>
    daemonSet({ ...CHANGES, name: `n${n}`, pod: { hostNetwork: true, ...pod } }),
  );
  return said(...two, CSI_DRIVER).map((line) => line.slice(0, "CSI110".length));
}

const pool = (name: string) => ({ nodeSelector: { pool: name } });
const required = (...terms: readonly (readonly object[])[]) => {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
};
const has = (operator: string, ...values: readonly string[]) => ({ key: "pool", operator, values });

test.each<readonly [what: string, object, object]>([
  ["selectors", pool("a"), pool("b")],
  ["affinities", required([has("In", "a", "b")]), required([has("In", "c")])],
  ["a selector and an affinity", pool("a"), required([has("In", "b")])],
  ["what one asks for and the other rules out", pool("a"), required([has("NotIn", "a", "b")])],
  ["a label that one must not have", pool("a"), required([has("DoesNotExist")])],
  ["any value, and none", required([has("Exists")]), required([has("DoesNotExist")])],
  ["each choice of one", required([has("In", "a")], [has("In", "b")]), pool("c")],
])("nodes that exclude each other by %s are no fault", (_what, one, other) => {
  expect(saidOfTwo(one, other)).toEqual([]);
  expect(saidOfTwo(other, one)).toEqual([]);
});

test.each<readonly [what: string, object, object]>([
  ["one of them runs everywhere", pool("a"), {}],
  ["the labels are others", pool("a"), { nodeSelector: { arch: "b" } }],
  ["a value is the same", required([has("In", "a", "b")]), required([has("In", "b", "c")])],
  ["only some values are ruled out", required([has("In", "a", "b")]), required([has("NotIn", "a")])],
  ["one choice is the same", required([has("In", "a")], [has("In", "b")]), pool("b")],
  ["a value is to be filled in", pool("{{ .Values.pool }}"), pool("a")],
  ["nobody says that it must be", pool("a"), { affinity: { nodeAffinity: { preferred: [] } } }],
])("two of one driver are one too many where %s", (_what, one, other) => {
  expect(saidOfTwo(one, other)).toEqual(["CSI109", "CSI110"]);
});

const X = ["--drivername=x.csi"];
const named = (name: string, path: string, pod: object = {}, words = X) => {
  const args = [`--kubelet-registration-path=${path}/csi.sock`];
  const { containers } = daemonSet({ args }).spec.template.spec;
  const [registrar = {}] = containers;
  const driver = { name: "driver", args: words };
  const volumes = [
    { name: "plugin", hostPath: { path } },
    { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } },
  ];
  return daemonSet({ name, pod: { containers: [registrar, driver], volumes, ...pod } });
};
const PLUGINS = "/var/lib/kubelet/plugins";

test("two sockets of one driver: their registrars take the registration socket from each other", () => {
  const two = [named("a", `${PLUGINS}/x.csi`), named("b", `${PLUGINS}/other`)];
  expectSaid(said(...two, CSI_DRIVER), [
    /^CSI110 problem: both register a driver at \/var.*\/plugins_registry\/x\.csi-reg\.sock/,
  ]);
  const three = ["a", "a", "b"].map((name, n) => named(`${n}`, `${PLUGINS}/${n}`, pool(name)));
  expectSaid(said(...three, CSI_DRIVER), [/^CSI110 problem: both register a driver/]);
});

test("two of one driver at one path are said once, by their containers", () => {
  const two = ["a", "b"].map((name) => ({ file: `${name}.yaml`, object: named(name, `${PLUGINS}/x.csi`) }));
  const findings = findingsOf(MANIFEST_CHECKS, readDeployments(two)).filter(({ code }) => code === "CSI110");
  expect(findings).toMatchObject([
    {
      subject: "a.yaml: DaemonSet ns/a, container registrar and b.yaml: DaemonSet ns/b, container registrar",
      text: `both register ${PLUGINS}/x.csi/csi.sock`,
      objects: [{ name: "a" }, { name: "b" }],
    },
  ]);
});

test.each<readonly [what: string, object, one: string[], other: string[]]>([
  ["have other names", {}, X, ["--drivername=y.csi"]],
  ["do not tell their names", {}, [], []],
  ["put their sockets on no volume", { volumes: [] }, X, X],
])("drivers that %s may be two", (_what, pod, one, other) => {
  const two = [named("a", `${PLUGINS}/a`, pod, one), named("b", `${PLUGINS}/b`, pod, other)];
  expect(said(...two).filter((line) => line.startsWith("CSI110"))).toEqual([]);
});

test("two paths that are filled in later may be two", () => {
  const args = ["--kubelet-registration-path={{ .path }}"];
  expect(said(daemonSet({ args }), daemonSet({ name: "y", args })).join()).not.toContain("CSI110");
});

test.each(["Pod", "Deployment"])("a %s beside a DaemonSet of the same driver", (kind) => {
  const { spec, ...other } = daemonSet({ name: "other" });
  const one = { ...other, kind, spec: kind === "Pod" ? spec.template.spec : spec };
  expectSaid(said(daemonSet(), one, CSI_DRIVER), [/^CSI110/]);
  // Two of them may be on two nodes.
  expect(said(one, { ...one, metadata: { name: "third" } }, CSI_DRIVER)).toEqual([]);
});

test("two registrars of one driver in a Deployment's pod", () => {
  const [registrar] = daemonSet().spec.template.spec.containers;
  const containers = ["a", "b"].map((name) => ({ ...registrar, name }));
  const one = { ...daemonSet({ pod: { containers } }), kind: "Deployment" };
  expectSaid(said(one, CSI_DRIVER), [/^CSI110 problem: both register/]);
});

test("rules that take too long to compare", () => {
  const objects = [..."abcdefgh"].map((name) =>
    daemonSet({ name, pod: required(...Array(1_000).fill([has("In", name)])) }),
  );
  expectSaid(said(...objects, CSI_DRIVER), [
    /^CSI110 unknown: cannot be compared: .* too long -> give the files/,
  ]);
});

test("a path is the same with two slashes", () => {
  const args = ["--kubelet-registration-path=/var/lib/kubelet//plugins/x.csi/csi.sock"];
  expectSaid(said(daemonSet(), daemonSet({ name: "y", args }), CSI_DRIVER), [/^CSI110/]);
});

test.each([
  ["both", ["x", "y"]],
  ["all", ["x", "y", "z"]],
])("%s DaemonSets %j in a List", (all, names) => {
  const sets = names.map((name) => daemonSet({ ...CHANGES, name }));
  // The API server leaves the kind out of a typed list's items.
  const untyped = sets.map(({ kind: _, ...set }) => set);
  for (const lists of [
    [{ kind: "List", items: [...sets, CSI_DRIVER] }],
    [{ kind: "DaemonSetList", items: untyped }, CSI_DRIVER],
  ])
    expect(said(...lists)).toEqual([
      expect.stringContaining(`CSI109 problem: ${all} serve on port 2 of the node`),
      expect.stringMatching(new RegExp(`^CSI110 problem: ${all} register .*csi\\.sock`)),
    ]);
});

test("of three only those are named that are on one node", () => {
  const objects = ["a", "b", "b2"].map((name) => daemonSet({ name, pod: pool(name.charAt(0)) }));
  expectSaid(said(...objects, CSI_DRIVER), [/^CSI110 problem: both register/]);
});

test("one object that is given twice is no second one", () => {
  const one = daemonSet(CHANGES);
  expect(said(one, CSI_DRIVER, one)).toEqual([]);
  expectSaid(said(one, one, daemonSet({ ...CHANGES, name: "y" }), CSI_DRIVER), [
    /^CSI109 problem: both/,
    /^CSI110 problem: both/,
  ]);
});
