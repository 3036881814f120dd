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

const CSI_DRIVERS: readonly (readonly [what: string, expected: string | undefined, ...objects: object[]])[] =
  [
    [
      "one of two is missing",
      "has the driver b.csi without a CSIDriver object, and there is one for a.csi -> apply one",
      driver("a.csi"),
      driver("b.csi"),
      ...csiDrivers("a.csi"),
    ],
    [
      "the folder has almost the same name",
      "has the driver disk.exmaple.com without a CSIDriver object, and there is one for disk.example.com -> use",
      driver("disk.exmaple.com"),
      ...csiDrivers("disk.example.com"),
    ],
    [
      "the driver calls itself otherwise",
      "has the driver a.csi without a CSIDriver object, and there is one for other.org -> apply one",
      driver("x", "a.csi"),
      ...csiDrivers("other.org"),
    ],
    ["the folder may have any name", undefined, driver("lvm-localpv"), ...csiDrivers("local.csi.openebs.io")],
    ["its flag", undefined, driver("csi-nfsplugin", "nfs.csi.k8s.io"), ...csiDrivers("nfs.csi.k8s.io")],
    ["a template", undefined, driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi", "{{ .name }}")],
  ];

const ROWS = CSI_DRIVERS.map(([what, expected, ...objects]) => [what, expected, objects] as const);

test.each(ROWS)("CSIDriver objects: %s", (_what, expected, objects) => {
  const lines = said(...objects).filter((line) => line.startsWith("CSI111"));
  expect(lines).toEqual(expected ? [expect.stringContaining(`CSI111 warning: ${expected}`)] : []);
});

test("without a CSIDriver in the files", () => {
  expectSaid(said(daemonSet()), [/^CSI111 unknown: has no CSIDriver/]);
});

test.each<readonly [spec: object | null, expected: string | undefined]>([
  [{ serviceAccountTokenInSecrets: false }, "has serviceAccountTokenInSecrets without tokenRequests"],
  [{ serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: "" }] }, undefined],
  ...[9, "5", 10.5, true].map(
    (value) =>
      [
        { nodeAllocatableUpdatePeriodSeconds: value },
        `CSI118 problem: has nodeAllocatableUpdatePeriodSeconds ${JSON.stringify(value)}, which is invalid -> write a whole number from 10 on`,
      ] as const,
  ),
  [{ nodeAllocatableUpdatePeriodSeconds: 10, fsGroupPolicy: "None", volumeLifecycleModes: null }, undefined],
  [{ preventPodSchedulingIfMissing: "yes" }, 'has preventPodSchedulingIfMissing "yes", which is invalid'],
  [
    { serviceAccountTokenInSecrets: 1, tokenRequests: [null] },
    "has serviceAccountTokenInSecrets 1, which is invalid",
  ],
  [{ fsGroupPolicy: "Foo" }, 'has fsGroupPolicy "Foo", which is invalid -> write one of Read'],
  [{ fsGroupPolicy: "{{ .policy }}", tokenRequests: "$(REQUESTS)" }, undefined],
  [
    { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["persistent"] },
    'has volumeLifecycleModes ["persistent"], which is invalid -> write a list of Persistent and',
  ],
  [{ volumeLifecycleModes: "Persistent" }, 'has volumeLifecycleModes "Persistent", which is invalid'],
  [{ tokenRequests: true }, "has tokenRequests true, which is invalid"],
  [{ tokenRequests: ["x"] }, 'has tokenRequests ["x"], which is invalid'],
  [{ tokenRequests: [{ audience: 1 }] }, 'has tokenRequests [{"audience":1}], which is invalid'],
  [{ tokenRequests: [{ audience: "" }, {}] }, 'has tokenRequests [{"audience":""},{}], which is invalid'],
  // The API server takes null for the defaults.
  [null, undefined],
  [{ preventPodSchedulingIfMissing: true }, undefined],
  [{ preventPodSchedulingIfMissing: true, volumeLifecycleModes: [] }, undefined],
  [
    { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Ephemeral"] },
    "CSI118 warning: has preventPodSchedulingIfMissing, which does nothing for inline",
  ],
  [{ preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Ephemeral", "Persistent"] }, undefined],
])("a CSIDriver with %j", (spec, expected) => {
  const lines = said(driver("a.csi"), { kind: "CSIDriver", metadata: { name: "a.csi" }, spec });
  const found = lines.filter((line) => line.startsWith("CSI118"));
  expect(said({ kind: "CSIDriver", metadata: { name: "a.csi" }, spec })).toEqual(found);
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
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
