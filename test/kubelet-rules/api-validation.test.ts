import { invalidCsiNodeDriver, invalidLabels } from "../../src/kubelet-rules/api-refusals";
import {
  isExtendedResource,
  isLabel,
  isQualifiedName,
  isSubdomain,
} from "../../src/kubelet-rules/api-validation";
import { behaviourOf } from "../../src/kubelet-rules/versions";

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
  ["a label's value", (value: string) => !label("a", value)(), ["", "Name_1.x"], ["a b", "-a"]],
  ["a qualified name", isQualifiedName, ["Name_1.x", "example.com/name"], NO_NAMES],
])("the names of %s", (_, judge, good, bad) => {
  expect(good.filter((name) => !judge(name))).toEqual([]);
  expect(bad.filter(judge)).toEqual([]);
});

const label = (key: string, value: string) => () => invalidLabels("n", { [key]: value });
const driver = (name: string, nodeId: string) => () => invalidCsiNodeDriver("n", { name, nodeId });
test("a key of three parts is refused in the words of each version", () => {
  const wanted = "must consist of alphanumeric .* with an optional DNS subdomain prefix and '/' \\(e\\.g\\. ";
  expect(label("a/b/c", "")()).toMatch(new RegExp(`"a/b/c": a valid label key ${wanted}`));
  const old = invalidLabels("n", { "a/b/c": "" }, behaviourOf("1.28"));
  expect(old).toMatch(new RegExp(`"a/b/c": a qualified name ${wanted}`));
});

/** As many letters, each of two bytes. */
const wide = (length: number) => "\u00e9".repeat(length);

// The bounds are of bytes, as a Go string has its length.
test.each<[what: string, refusal: () => string | undefined, tooLong: readonly string[]]>([
  ["a value of 63 bytes", label("a", LONG), []],
  ["a value of 64", label("a", `${LONG}a`), ["labels", "63"]],
  ["a value of 62, wide", label("a", wide(31)), []],
  ["a value of 64, wide", label("a", wide(32)), ["labels", "63"]],
  ["a key of 63", label(LONG, ""), []],
  ["a key of 64", label(`${LONG}a`, ""), ["labels", "63"]],
  ["a key of 64, wide", label(wide(32), ""), ["labels", "63"]],
  ["a prefix of 253", label(`${"a".repeat(253)}/a`, ""), []],
  ["a prefix of 254", label(`${"a".repeat(254)}/a`, ""), ["labels", "253"]],
  ["a prefix of 254, wide", label(`${wide(127)}/a`, ""), ["labels", "253"]],
  ["a name of 63", driver(LONG, "1"), []],
  ["a name of 64", driver(`${LONG}a`, "1"), ["drivers[0].name", "63"]],
  ["a name of 64, wide", driver(wide(32), "1"), ["drivers[0].name", "63"]],
  ["a name of 254", driver("a".repeat(254), "1"), ["drivers[0].name", "63", "drivers[0].name", "253"]],
  ["a node ID of 256", driver("a", "n".repeat(256)), []],
  ["a node ID of 257", driver("a", "n".repeat(257)), ["drivers[0].nodeID", "256"]],
  ["a node ID of 258, wide", driver("a", wide(129)), ["drivers[0].nodeID", "256"]],
])("what the API server finds too long of %s", (_what, refusal, tooLong) => {
  const parts =
    /(?:metadata|spec)\.(\S+): (?:Invalid value: "[^"]*": (?:(?:prefix|name) part )?must be (?:no more than )?|Too long: may not be more than )(\d+) /g;
  expect([...(refusal() ?? "").matchAll(parts)].flatMap(([, ...found]) => found)).toEqual(tooLong);
});
