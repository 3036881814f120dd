import {
  isExtendedResource,
  isLabel,
  isQualifiedName,
  isSubdomain,
} from "../../src/kubelet-rules/resource-name";

// What kubelet 1.37's own functions answer, IsExtendedResourceName and IsDNS1123Subdomain.

test.each([
  ["example.com/gpu", true],
  ["example.com/GPU_1.x", true],
  ["example.com/g", true],
  [`${"a".repeat(100)}.com/gpu`, true],
  [`${"a".repeat(240)}.com/gpu`, true],
  [`${"a".repeat(241)}.com/gpu`, false],
  [`example.com/${"g".repeat(63)}`, true],
  [`example.com/${"g".repeat(64)}`, false],
  ["gpu", false],
  ["", false],
  ["/gpu", false],
  ["example.com/", false],
  ["example.com/a/b", false],
  ["Example.com/gpu", false],
  ["example..com/gpu", false],
  ["-example.com/gpu", false],
  ["example.com/-gpu", false],
  ["example.com/g\n", false],
  ["kubernetes.io/gpu", false],
  ["x.kubernetes.io/gpu", false],
  ["notkubernetes.io/gpu", false],
  ["requests.example.com/gpu", false],
])("%j as a resource of a device plugin: %s", (name, is) => {
  expect(isExtendedResource(name)).toBe(is);
});

test.each([
  ["gpu.example.com", true],
  ["a".repeat(253), true],
  ["a".repeat(254), false],
  ["GPU", false],
  ["a_b", false],
  ["a.", false],
  ["", false],
])("%j as a subdomain: %s", (name, is) => {
  expect(isSubdomain(name)).toBe(is);
});

test.each([
  ["gpu", true],
  ["a".repeat(63), true],
  ["a".repeat(64), false],
  ["a.b", false],
  ["GPU", false],
  ["-a", false],
  ["", false],
])("%j as a label: %s", (name, is) => {
  expect(isLabel(name)).toBe(is);
});

test.each([
  ["Name_1.x", true],
  ["example.com/name", true],
  ["a/b/c", false],
  ["Example.com/name", false],
  ["/name", false],
  ["name/", false],
  ["example.com/-name", false],
  ["", false],
])("%j as a qualified name: %s", (name, is) => {
  expect(isQualifiedName(name)).toBe(is);
});
