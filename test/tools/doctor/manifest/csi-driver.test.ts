import { daemonSet, expectSaid, said } from "./one-daemon-set";

const csiDrivers = (...names: readonly string[]) =>
  names.map((name) => ({ kind: "CSIDriver", metadata: { name } }));
/** A DaemonSet with a driver of this socket's folder, and of this name where a flag tells it. */
const driver = (folder: string, name?: string) => {
  const path = `/var/lib/kubelet/plugins/${folder}`;
  const args = ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}/csi.sock`];
  const [registrar] = daemonSet({ container: { args } }).spec.template.spec.containers;
  const containers = [
    registrar,
    { name: "driver", args: name === undefined ? [] : [`--drivername=${name}`] },
  ];
  return daemonSet({ name: folder, plugin: { hostPath: { path } }, pod: { containers } });
};

test.each<readonly [what: string, expected: string | undefined, objects: readonly object[]]>([
  [
    "one of two is missing",
    "b.csi without a CSIDriver object, and there is one for a.csi -> apply one",
    [driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi")],
  ],
  [
    "the folder has almost the same name",
    "disk.exmaple.com without a CSIDriver object, and there is one for disk.example.com -> use one name for both",
    [driver("disk.exmaple.com"), ...csiDrivers("disk.example.com")],
  ],
  [
    "the driver calls itself otherwise",
    "a.csi without a CSIDriver object, and there is one for other.org -> apply one",
    [driver("x", "a.csi"), ...csiDrivers("other.org")],
  ],
  ["the folder may have any name", undefined, [driver("lvm-localpv"), ...csiDrivers("local.csi.openebs.io")]],
  ["its flag", undefined, [driver("csi-nfsplugin", "nfs.csi.k8s.io"), ...csiDrivers("nfs.csi.k8s.io")]],
  ["a template", undefined, [driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi", "{{ .name }}")]],
])("CSIDriver objects: %s", (_what, expected, objects) => {
  const lines = said(...objects).filter((line) => line.startsWith("CSI111"));
  expect(lines).toEqual(expected ? [expect.stringContaining(`warning: has the driver ${expected}`)] : []);
});

test("without a CSIDriver in the files", () => {
  expectSaid(said(daemonSet()), [/^CSI111 unknown: has no CSIDriver/]);
});

const INLINE_ONLY = { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Ephemeral"] };
const POLICIES = "ReadWriteOnceWithFSType, File, None";

test.each<readonly [field: string, values: readonly unknown[], fix: string]>([
  ["nodeAllocatableUpdatePeriodSeconds", [9, "5", 10.5, true], "a whole number from 10 on, without quotes"],
  ["preventPodSchedulingIfMissing", ["yes"], "true or false, without quotes"],
  ["serviceAccountTokenInSecrets", [1], "true or false"],
  ["fsGroupPolicy", ["Foo"], `one of ${POLICIES}`],
  ["volumeLifecycleModes", [["persistent"], "Persistent"], "a list of Persistent and Ephemeral"],
  ["tokenRequests", [true, ["x"], [{ audience: 1 }], [{ audience: "" }, {}]], "a list such as"],
])("the API server refuses a CSIDriver's %s with %j", (field, values, fix) => {
  for (const value of values) {
    const spec = { tokenRequests: [null], [field]: value };
    const expected = `CSI118 problem: has ${field} ${JSON.stringify(value)}, which is invalid -> write ${fix}`;
    expect(said({ kind: "CSIDriver", metadata: { name: "a.csi" }, spec })).toEqual([
      expect.stringContaining(expected),
    ]);
  }
});

test.each<readonly [spec: object | null, expected: string | undefined]>([
  [
    { serviceAccountTokenInSecrets: false },
    "problem: has serviceAccountTokenInSecrets without tokenRequests",
  ],
  [{ serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: "" }] }, undefined],
  [{ nodeAllocatableUpdatePeriodSeconds: 10, fsGroupPolicy: "None", volumeLifecycleModes: null }, undefined],
  [{ fsGroupPolicy: "{{ .policy }}", tokenRequests: "$(REQUESTS)" }, undefined],
  // The API server takes null for the defaults.
  [null, undefined],
  [{ preventPodSchedulingIfMissing: true }, undefined],
  [{ preventPodSchedulingIfMissing: true, volumeLifecycleModes: [] }, undefined],
  [INLINE_ONLY, "warning: has preventPodSchedulingIfMissing, which does nothing for inline volumes"],
  [{ ...INLINE_ONLY, volumeLifecycleModes: ["Ephemeral", "Persistent"] }, undefined],
])("a CSIDriver with %j", (spec, expected) => {
  const csiDriver = { kind: "CSIDriver", metadata: { name: "a.csi" }, spec };
  const found = said(driver("a.csi"), csiDriver).filter((line) => line.startsWith("CSI118"));
  expect(said(csiDriver)).toEqual(found);
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(`CSI118 ${expected}`)]);
});

test.each<readonly [expected: string | undefined, changes: object]>([
  ['has name "Disk.csi", which is invalid -> write', { metadata: { name: "Disk.csi" } }],
  ['has name "", which is invalid', { metadata: null }],
  ["has name 5, which is invalid", { metadata: { name: 5 } }],
  ['has name "xxx', { metadata: { name: "x".repeat(64) } }],
  [undefined, { metadata: { name: "x".repeat(63) } }],
  [undefined, { metadata: { name: "<driver>" } }],
  ['has fsGroupPolicy "Foo"', { apiVersion: "storage.k8s.io/v1", spec: { fsGroupPolicy: "Foo" } }],
  [undefined, { apiVersion: "storage.k8s.io/v1beta1", spec: { fsGroupPolicy: "Foo" } }],
])("of a CSIDriver alone: %s", (expected, changes) => {
  expect(said({ kind: "CSIDriver", metadata: { name: "a.csi" }, ...changes })).toEqual(
    expected === undefined ? [] : [expect.stringContaining(`CSI118 problem: ${expected}`)],
  );
});
