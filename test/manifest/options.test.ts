import { checkNamed, checkNodes, checkPinned } from "../../src/manifest/names";
import { type ManifestOptions, resolveManifestOptions } from "../../src/manifest/options";

const REQUIRED: ManifestOptions = {
  driverName: "x.csi.example.com",
  image: "registrar:v1",
  driverImage: "x:v2",
};
const resolve = (options: Partial<ManifestOptions> = {}) =>
  resolveManifestOptions({ ...REQUIRED, ...options });

test("what is not given follows from the driver's name and Kubernetes' defaults", () => {
  expect(resolve()).toEqual({
    ...REQUIRED,
    ...{ name: "x-csi-example-com-node", namespace: "kube-system", kubeletRoot: "/var/lib/kubelet" },
    ...{ httpPort: 9809, parts: ["csidriver", "daemonset"], pluginFolder: REQUIRED.driverName },
    driverArgs: ["--endpoint=unix:///csi/csi.sock", "--nodeid=$(NODE_NAME)"],
    pluginPath: "/var/lib/kubelet/plugins/x.csi.example.com",
    kubeletRegistrationPath: "/var/lib/kubelet/plugins/x.csi.example.com/csi.sock",
    ...{ attachRequired: false, podInfoOnMount: false, lifecycleModes: ["Persistent"] },
    ...{ fsGroupPolicy: "ReadWriteOnceWithFSType", storageCapacity: false, nodeAllocatableUpdatePeriod: 0 },
    ...{ preventPodSchedulingIfMissing: false, tokenAudiences: [], serviceAccountTokenInSecrets: false },
    storageClassName: REQUIRED.driverName,
  });
});

test("inline volumes need the driver's support for them, and it to be told about the pod", () => {
  expect(resolve({ parts: ["inline-pod"] })).toMatchObject({
    lifecycleModes: ["Persistent", "Ephemeral"],
    podInfoOnMount: true,
  });
  expect(resolve({ lifecycleModes: ["Ephemeral"], podInfoOnMount: false })).toMatchObject({
    lifecycleModes: ["Ephemeral"],
    podInfoOnMount: false,
  });
});

test("parts and modes come in their own order, each once", () => {
  expect(resolve({ parts: ["alerts", "csidriver", "alerts"] }).parts).toEqual(["csidriver", "alerts"]);
  expect(resolve({ lifecycleModes: ["Ephemeral", "Persistent", "Ephemeral"] }).lifecycleModes).toEqual([
    "Persistent",
    "Ephemeral",
  ]);
});

test.each([
  ["disk", "csi-disk-node"],
  ["csi.example.com", "csi-example-com-node"],
  ["scsi.example.com", "csi-scsi-example-com-node"],
  [`${"a".repeat(60)}.io`, `csi-${"a".repeat(54)}-node`],
  [`${"a".repeat(52)}--b`, `csi-${"a".repeat(52)}-node`],
  [`${"a".repeat(53)}.example`, `csi-${"a".repeat(53)}-node`],
])("the driver %s has a DaemonSet named %s", (driverName, name) => {
  expect(resolve({ driverName, pluginFolder: "x" }).name).toBe(name);
});

test.each<readonly [Partial<ManifestOptions>, RegExp]>([
  [{ driverName: "" }, /^--driver-name "" is not a driver name: it is empty$/],
  [{ driverName: "a_b" }, /^--driver-name "a_b" is not a driver name: the CSI specification/],
  [{ driverName: "x".repeat(64) }, /it has 64 characters/],
  [{ driverName: "X.csi" }, /^--driver-name "X.csi" cannot name a CSIDriver object/],
  [{ driverName: "a.-b" }, /cannot name a CSIDriver object/],
  [{ image: "" }, /^--image "" is not an image reference/],
  [{ driverImage: "a b" }, /^--driver-image "a b" is not an image reference/],
  [{ name: "a.b" }, /^--name "a.b" must be 1 to 63 lower case letters/],
  [{ name: "x".repeat(64) }, /^--name/],
  [{ namespace: "-" }, /^--namespace "-"/],
  [{ nodeAllocatableUpdatePeriod: 9 }, /^--node-allocatable-update-period "9" must be 10 seconds or more$/],
  [{ nodeAllocatableUpdatePeriod: 0 }, /^--node-allocatable-update-period "0"/],
  [{ preventPodSchedulingIfMissing: true, lifecycleModes: ["Ephemeral"] }, /^--prevent.* needs .* Persis/],
  [{ serviceAccountTokenInSecrets: true }, /^--service-account-token-in-secrets needs --token-audience$/],
  [{ tokenAudiences: ["a", "a"] }, /^--token-audience "a" is given twice$/],
  [{ storageClassName: "A" }, /^--storage-class "A" must be lower case letters/],
  [{ kubeletRoot: "var/lib" }, /^--kubelet-root "var\/lib" must be an absolute path/],
  [{ kubeletRoot: "/" }, /^--kubelet-root/],
  [{ kubeletRoot: "/var//" }, /^--kubelet-root/],
  [{ kubeletRoot: "/a/../b" }, /^--kubelet-root/],
  [{ kubeletRoot: "/a:b" }, /^--kubelet-root/],
  [{ kubeletRoot: "/a/." }, /^--kubelet-root/],
  [{ kubeletRoot: "/./a" }, /^--kubelet-root/],
  [{ parts: ["csidriver"], image: "A B" }, /^--image "A B"/],
  [{ nodeAllocatableUpdatePeriod: 10.5 }, /^--node-allocatable-update-period/],
  [{ pluginFolder: ".." }, /^--plugin-folder ".." must be the name of a directory/],
  [{ pluginFolder: "a/b" }, /^--plugin-folder/],
  [{ httpPort: 0 }, /^--http-port "0" must be from 1 to 65535/],
  [{ httpPort: 65_536 }, /^--http-port/],
  [{ httpPort: 1.5 }, /^--http-port/],
  [{ parts: ["inline-pod"], lifecycleModes: ["Persistent"] }, /^--include inline-pod needs .* Ephemeral$/],
  [{ parts: ["storageclass"], lifecycleModes: ["Ephemeral"] }, /^--include storageclass needs .* Persis/],
])("%j is refused", (options, message) => {
  expect(() => resolve(options)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  expect(() => resolve(options)).toThrow(message);
});

test.each<Partial<ManifestOptions>>([
  { httpPort: 1 },
  { httpPort: 65_535 },
  { nodeAllocatableUpdatePeriod: 10 },
  { tokenAudiences: ["a", "b"], serviceAccountTokenInSecrets: true },
  { parts: ["csidriver"], image: "", driverImage: "" },
])("%j is accepted", (options) => {
  expect(resolve(options)).toMatchObject(options);
});

test.each(["/k", "/k/"])("kubelet's root %s", (kubeletRoot) => {
  expect(resolve({ kubeletRoot, distribution: "k0s" }).kubeletRoot).toBe("/k");
});

test.each<readonly [name: string, isName: boolean]>([
  ["a", true],
  ["0a.b-c_d", true],
  ...["", "A", "-a", "aB", "a/b", "a:v1", "a b"].map((name) => [name, false] as const),
])("%j names an image: %s", (name, isName) => {
  const checked = expect(() => checkNamed("image name", "match-image", name));
  if (isName) checked.not.toThrow();
  else checked.toThrow(`--match-image ${JSON.stringify(name)} must be the last part of an image's name`);
});

const DIGEST = `sha256:${"0f".repeat(32)}`;

test.each([
  "x",
  "a/b__c/d--e.f:v1",
  "localhost:5000/registrar",
  "Example.COM/registrar:V1_-.",
  "[fd00::1]:5000/registrar:v1",
  `registrar:${"v".repeat(128)}`,
  `example.com/registrar:v1@${DIGEST}`,
  `registrar@sha512:${"0".repeat(128)}`,
])("the image %s is accepted", (image) => {
  expect(resolve({ image, driverImage: image })).toMatchObject({ image, driverImage: image });
});

test.each([
  ...["example.com/Foo:v1", "Foo:v1", "http://foo/x:v1", "/x:v1", "x/:v1", "a//b:v1", "x:v1/y:z", "a__.b:v1"],
  ...["foo:-v1", "foo:.v1", "foo:", "foo:v1:v2", `foo:${"v".repeat(129)}`, "foo:v1\n", "-a.com/foo:v1"],
  ...["foo@", "foo@sha256:zz", "foo@sha256:aa", `foo@${DIGEST}0`, `foo@${DIGEST.toUpperCase()}`],
  ...[`foo@${DIGEST}:v1`, `foo@md5:${"0".repeat(32)}`],
])("%j is no image", (image) => {
  const message = `--image ${JSON.stringify(image)} is not an image reference: give NAME:TAG or NAME@DIGEST, NAME in lower case`;
  expect(() => resolve({ image })).toThrow(message);
});

test.each([
  ["a:v1", true],
  ["registry:5000/a:v1", true],
  [`registry:5000/a@${DIGEST}`, true],
  ["a", false],
  ["registry:5000/a", false],
])("%s is pinned: %s", (image, isPinned) => {
  const checked = expect(() => checkPinned("image", image));
  if (isPinned) checked.not.toThrow();
  else checked.toThrow(`--image "${image}" has no tag and no digest`);
});

test.each([
  ["policy", 5_550, 12, 99_900, "a second policy with another --name can take the rest"],
  ["daemonset", 2_500, 20, 250_000, "then all at once, without a list"],
] as const)("a %s takes %i names of nodes with %i characters, and none that is longer", (...row) => {
  const [object, count, length, most, advice] = row;
  const nodes = Array.from({ length: count }, (_, at) => `${at}`.padStart(length, "x"));
  expect(() => checkNodes(nodes, object)).not.toThrow();
  expect(() => checkNodes([...nodes.slice(1), `${"x".repeat(length)}x`], object)).toThrow(
    expect.objectContaining({
      code: "INVALID_OPTION",
      message: `${count} nodes do not fit into the ${object}: their names take ${most + 1} of ${most} characters; name fewer, ${advice}`,
    }),
  );
});

test("a name that no node can have", () => {
  expect(() => checkNodes(["a.b", "a_b"], "policy")).toThrow(
    /^node "a_b" must be lower case letters, digits/,
  );
});

test("paths that are too long for a socket on the host are refused: 107 bytes pass", () => {
  const kubeletRoot = "/var/snap/microk8s/common/var/lib/kubelet";
  const folderOf = (bytes: number) => "f".repeat(bytes - `${kubeletRoot}/plugins//csi.sock`.length);
  expect(resolve({ kubeletRoot, pluginFolder: folderOf(107) }).kubeletRegistrationPath).toHaveLength(107);
  expect(() => resolve({ kubeletRoot, pluginFolder: folderOf(108) })).toThrow(/108 bytes.*--plugin-folder$/);
  const driverName = "d".repeat(60);
  expect(() => resolve({ kubeletRoot, driverName, pluginFolder: "x" })).toThrow(
    /^the registration socket would be .*plugins_registry\/d+-reg\.sock on the host: 128 bytes.*shorter --driver-name helps$/,
  );
});
