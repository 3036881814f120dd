import { createHash } from "node:crypto";
import { validateVersions } from "../../src/kubelet-rules/driver-versions";
import {
  authorityFor,
  behaviourOf,
  SIMULATED_VERSIONS,
  simulatedVersion,
  type VersionsWording,
} from "../../src/kubelet-rules/versions";

test.each([
  // As grpc-go encodes.
  ["encoded-path", "/kubelet/plugins_registry/x-reg.sock", "%2Fkubelet%2Fplugins_registry%2Fx-reg.sock"],
  ["encoded-path", "/a b/ü%", "%2Fa%20b%2F%C3%BC%25"],
  ["encoded-path", "-_.~!$&'()*+,;=:[]@", "-_.~!$&'()*+,;=:[]@"],
  ["path", "/a/b", "/a/b"],
  ["localhost", "/a/b", "localhost"],
] as const)("authority %s for %s", (style, path, expected) => {
  expect(authorityFor(style, path)).toBe(expected);
});

test("each kubelet since 1.13 maps to a simulated one that behaves the same", () => {
  for (const version of SIMULATED_VERSIONS) expect(simulatedVersion(version)).toBe(version);
  const asked = ["1.13", "v1.19.16", "1.21", "1.25.3", "1.26", "1.29.0", "v1.34", "1.35.4", "1.37", "1.100"];
  expect(asked.map(simulatedVersion)).toEqual(
    ["1.20", "1.20", "1.24", "1.24", "1.28", "1.33", "1.34", "1.35", "1.37", "1.37"], //
  );
  const vendors = ["1.36.1+k3s1", "v1.36.1-gke.100", "v1.34.1-eks-a737599", "v1.35.0-rc.1+rke2r1"];
  expect(vendors.map(simulatedVersion)).toEqual(["1.36", "1.36", "1.34", "1.35"]);
  const others = [
    "1.12",
    "2.0",
    "1",
    "",
    "1.30-rc.1",
    "1.36.1+",
    "1.36.1-a b",
    "x1.36",
    "1.36.1-\n",
    "1.12.1+k3s1",
  ];
  expect(others.map(simulatedVersion)).toEqual(others.map(() => undefined));
});

test("each kubelet behaves as npm run test:kubelet has seen it: if not, run it, and write the new sum", () => {
  const behaviours = JSON.stringify(SIMULATED_VERSIONS.map(behaviourOf));
  expect(createHash("sha256").update(behaviours).digest("hex").slice(0, 16)).toBe("568d233ad95632b1");
});

// As `HighestSupportedVersion` in apimachinery, from the last one to the first.
const OFFERED = [
  ...["1.2.0 v1.10 0.3.0 2.0.0 x", "1.10 1.9.9", "1.2 1.2.1", "1.2.1 1.2", "0.9 0.3.0", "1.0 1", "2.0.0"],
  ...["a b 2.0.0", "1", "01.0", "0.0", "v1.2-rc", "x1.2", ""],
];
const REGISTERED = ["1.2", "1.2.0", "1.2.1", "1.10", "1.1.9", "0.9"];

test("which of a driver's versions kubelet takes, or how it refuses all", () => {
  const judge = (offered: string, registered: string | undefined, wording: VersionsWording) => {
    const before = registered?.split(".").map(Number);
    const judged = validateVersions("RegisterPlugin", 'x"csi', offered.split(" "), before, wording);
    return `${wording}: ${typeof judged === "string" ? judged : `takes ${judged.join(".")}`}`;
  };
  const lines = [
    ...OFFERED.flatMap((offered) =>
      (["by-driver", "by-any"] as const).map((wording) => `${offered} ${judge(offered, undefined, wording)}`),
    ),
    ...REGISTERED.map((registered) => `1.2.0 after ${registered} ${judge("1.2.0", registered, "by-any")}`),
    `no version: ${validateVersions("ValidatePlugin", "x.csi", [], undefined, "by-any")}`,
  ];
  expect(["", ...lines, ""].join("\n")).toMatchSnapshot();
});
