import { checkNamed, checkPinned } from "../../../src/tools/manifest/names";
import {
  type ManifestOptions,
  type ResolvedManifestOptions,
  resolveManifestOptions,
} from "../../../src/tools/manifest/options";

const REQUIRED: ManifestOptions = {
  driverName: "x.csi.example.com",
  image: "registrar:v1",
  driverImage: "x:v2",
};
const resolve = (options: Partial<ManifestOptions> = {}) =>
  resolveManifestOptions({ ...REQUIRED, ...options });

test.each<readonly [given: Partial<ManifestOptions>, resolved: Partial<ResolvedManifestOptions>]>([
  [{ kubeletRoot: "/k", distribution: "k0s" }, { kubeletRoot: "/k" }],
  [{ kubeletRoot: "/k/" }, { kubeletRoot: "/k" }],
  [{ distribution: "k0s" }, { kubeletRoot: "/var/lib/k0s/kubelet" }],
  ...[{ httpPort: 1 }, { httpPort: 65_535 }].map((options) => [options, options] as const),
  // The DaemonSet's name.
  [{ driverName: "disk" }, { name: "csi-disk-node" }],
  [{ driverName: "csi.example.com" }, { name: "csi-example-com-node" }],
  [{ driverName: "scsi.example.com" }, { name: "csi-scsi-example-com-node" }],
  [{ driverName: `${"a".repeat(60)}.io` }, { name: `csi-${"a".repeat(54)}-node` }],
  [{ driverName: `${"a".repeat(52)}--b` }, { name: `csi-${"a".repeat(52)}-node` }],
  [{ driverName: `${"a".repeat(53)}.e.com` }, { name: `csi-${"a".repeat(53)}-node` }],
])("%j becomes %j", (given, resolved) => {
  expect(resolve(given)).toMatchObject(resolved);
});

const DIGEST = `sha256:${"0f".repeat(32)}`;
const NO_PIN = "has no tag and no digest";
const NO_IMAGE = "is not an image reference: give NAME:TAG or NAME@DIGEST, NAME in lower case";

test.each([
  ...["a/b__c/d--e.f:v1", "Example.COM/registrar:V1_-.", "[fd00::1]:5000/registrar:v1"],
  ...[
    `registrar:${"v".repeat(128)}`,
    `example.com/registrar:v1@${DIGEST}`,
    `a@sha384:${"0".repeat(96)}`,
    `a@sha512:${"0".repeat(128)}`,
  ],
])("the image %s is accepted", (image) => {
  expect(() => checkPinned("image", image)).not.toThrow();
});

test.each([
  ...["example.com/Foo:v1", "Foo:v1", "http://foo/x:v1", "/x:v1", "x/:v1", "a//b:v1", "x:v1/y:z", "a__.b:v1"],
  ...["foo:-v1", "foo:.v1", "foo:", "foo:v1:v2", `foo:${"v".repeat(129)}`, "foo:v1\n", "-a.com/foo:v1"],
  ...["foo@", "foo@sha256:zz", "foo@sha256:aa", `foo@${DIGEST}0`, `foo@${DIGEST.toUpperCase()}`],
  ...[`foo@${DIGEST}:v1`, `foo@md5:${"0".repeat(32)}`],
])("%j is not an image", (image) => {
  expect(() => checkNamed("image", "image", image)).toThrow(`--image ${JSON.stringify(image)} ${NO_IMAGE}`);
});

test.each(["a", "localhost:5000/registrar"])("%s is an image that is not pinned", (image) => {
  expect(resolve({ image, driverImage: image })).toMatchObject({ image, driverImage: image });
  expect(() => checkPinned("image", image)).toThrow(`--image "${image}" ${NO_PIN}`);
});

test.each(["", "A", "-a", "aB", "a/b", "a:v1", "a b"])("%j is not an image's name", (name) => {
  expect(() => checkNamed("image name", "match-image", "0a.b-c_d")).not.toThrow();
  expect(() => checkNamed("image name", "match-image", name)).toThrow(/^--match-image .* must be the last/);
});

test("a name that makes a socket's path on the host too long is refused: 107 bytes pass", () => {
  const kubeletRoot = "/var/snap/microk8s/common/var/lib/kubelet";
  const nameOf = (bytes: number) => "d".repeat(bytes - `${kubeletRoot}/plugins_registry/-reg.sock`.length);
  expect(() => resolve({ kubeletRoot, driverName: nameOf(107) })).not.toThrow();
  expect(() => resolve({ kubeletRoot, driverName: nameOf(108) })).toThrow(
    /d+-reg\.sock, 108 bytes of 107: shorten --driver-name$/,
  );
});
