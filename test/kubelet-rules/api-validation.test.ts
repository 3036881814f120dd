import {
  isExtendedResource,
  isLabel,
  isLabelValue,
  isQualifiedName,
  isSubdomain,
} from "../../src/kubelet-rules/api-validation";

const LONG = "a".repeat(63);

// What kubelet 1.37's own functions answer, IsExtendedResourceName, IsDNS1123Subdomain and so on.

const RESOURCES = ["example.com/gpu", "example.com/GPU_1.x", "example.com/g", `example.com/${LONG}`];
const LONG_RESOURCES = [100, 240].map((length) => `${"a".repeat(length)}.com/gpu`);
const NO_RESOURCES = [
  ...[
    `${"a".repeat(241)}.com/gpu`,
    `example.com/${LONG}a`,
    "gpu",
    "",
    "/gpu",
    "example.com/",
    "example.com/a/b",
  ],
  ...["Example.com/gpu", "example..com/gpu", "-example.com/gpu", "example.com/-gpu", "example.com/g\n"],
  ...["kubernetes.io/gpu", "x.kubernetes.io/gpu", "notkubernetes.io/gpu", "requests.example.com/gpu"],
];
const NO_NAMES = ["a/b/c", "Example.com/name", "/name", "name/", "example.com/-name", ""];

test.each([
  ["a device plugin's resource", isExtendedResource, [...RESOURCES, ...LONG_RESOURCES], NO_RESOURCES],
  [
    "a subdomain",
    isSubdomain,
    ["gpu.example.com", "a".repeat(253)],
    ["a".repeat(254), "GPU", "a_b", "a.", ""],
  ],
  ["a label", isLabel, ["gpu", LONG], [`${LONG}a`, "a.b", "GPU", "-a", ""]],
  ["a label's value", isLabelValue, ["Name_1.x", LONG], ["a b", "-a", "", `${LONG}a`]],
  ["a qualified name", isQualifiedName, ["Name_1.x", "example.com/name"], NO_NAMES],
])("the names of %s", (_, judge, good, bad) => {
  expect(good.filter((name) => !judge(name))).toEqual([]);
  expect(bad.filter(judge)).toEqual([]);
});
