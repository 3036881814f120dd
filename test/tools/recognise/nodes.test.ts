import type { Tree } from "../../../src/kube-api/objects";
import { isOtherSidecar, tagOf } from "../../../src/tools/recognise/image";
import { foreignArchitecturesOf, isForWindows } from "../../../src/tools/recognise/nodes";

const needing = (...matchExpressions: readonly object[]): Tree => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  },
});
const OS = "kubernetes.io/os";

test.each<readonly [pod: Tree, container: Tree, isWindows: boolean]>([
  [{}, {}, false],
  [{ nodeSelector: { [OS]: "linux" } }, {}, false],
  [{ nodeSelector: { [OS]: "windows" } }, {}, true],
  [{ os: { name: "linux" }, nodeSelector: { [OS]: "windows" } }, {}, false],
  [needing({ key: "node.kubernetes.io/windows-build", operator: "In", values: ["10.0"] }), {}, true],
  [needing({ key: OS, operator: "NotIn", values: ["linux"] }), {}, true],
  [needing({ key: OS, operator: "NotIn", values: ["darwin"] }), {}, false],
  [needing({ key: OS, operator: "In", values: ["linux"] }), {}, false],
  [needing({ operator: "In", values: ["windows"] }), {}, false],
  [needing({ key: OS, values: ["windows"] }), {}, false],
  [{}, { securityContext: { windowsOptions: {} } }, true],
  [{}, { image: "example.com/csi-node-driver-win-registrar:v2" }, true],
  [{}, { image: "example.com/csi-node-driver-registrar:v2" }, false],
  [{}, { volumeMounts: [{ mountPath: "C:\\csi" }] }, true],
])("the pod %j with the container %j is for Windows: %s", (pod, container, isWindows) => {
  expect(isForWindows(pod, container)).toBe(isWindows);
});

test.each<readonly [pod: Tree, architectures: readonly string[]]>([
  [{ nodeSelector: { "kubernetes.io/arch": "arm64" } }, []],
  [{ nodeSelector: { "kubernetes.io/arch": "s390x", [OS]: "linux" } }, ["s390x"]],
  [{ nodeSelector: { "beta.kubernetes.io/arch": "ppc64le" } }, ["ppc64le"]],
  [needing({ key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm", "arm"] }), ["arm"]],
  [needing({ key: "kubernetes.io/arch", operator: "NotIn", values: ["arm"] }), []],
  [{ nodeSelector: { "{{ .Values.label }}": "riscv64" } }, ["{{ .Values.label }} riscv64"]],
  [{ nodeSelector: { "{{ .Values.label }}": "linux" } }, []],
])("the pod %j names the architectures %j, for which there is no image", (pod, architectures) => {
  expect(foreignArchitecturesOf(pod)).toEqual(architectures);
});

test("the other sidecars of kubernetes-csi are known by the end of their names", () => {
  const theirs = ["livenessprobe", "csi-attacher", "csi-provisioner-fips", "ose-csi-external-resizer-rhel10"];
  const others = ["my-unattacher", "csi-attacher-2", "csi-node-driver-registrar", "attacher-rhel", ""];
  expect([...theirs, ...others].filter(isOtherSidecar)).toEqual(theirs);
});

test.each([
  ["localhost:5000/x", undefined],
  ["localhost:5000/x:v1@sha256:0", "v1"],
  ["x@sha256:0", undefined],
])("the tag of %s is %s", (image, tag) => {
  expect(tagOf(image)).toBe(tag);
});
