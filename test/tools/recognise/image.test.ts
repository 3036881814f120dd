import { isOtherSidecar, tagOf } from "../../../src/tools/recognise/image";

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
