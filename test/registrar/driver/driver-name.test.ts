import { judgeDriverName } from "../../../src/registrar/driver/driver-name";

test.each([
  "x",
  "7",
  "csi.example.com",
  "hostpath.csi.k8s.io",
  "CSI-Driver.Example.COM",
  "a-b",
  "a.-b",
  "a--b",
  "a".repeat(63),
])("%s is valid", (name) => {
  expect(judgeDriverName(name)).toEqual({ kind: "valid" });
});

test.each([
  ["a".repeat(64), "it has 64 characters, the CSI specification allows 63"],
  ["csi_driver", "the CSI specification allows"],
  ["-csi", "the CSI specification allows"],
  ["csi-", "the CSI specification allows"],
  ["csi.", "the CSI specification allows"],
  ["csi driver", "the CSI specification allows"],
  ["csi%s", "the CSI specification allows"],
  ["treiber.bär", "the CSI specification allows"],
])("%j is unusual", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unusual", problem: expect.stringContaining(problem) });
});

test.each([
  ["", "it is empty"],
  ["/", "it contains '/'"],
  ["/etc/passwd", "it contains '/'"],
  ["a/b", "it contains '/'"],
  ["../evil", "it contains '/'"],
  ["a\\b", "it contains a backslash"],
  ["a\0b", "it contains a NUL byte"],
  [".", "it begins with a dot"],
  ["..", "it begins with a dot"],
  [".hidden", "it begins with a dot"],
  ["a..b", "it contains '..'"],
  ["csi\ndriver", "it contains control characters"],
  ["csi\n", "it contains control characters"],
  ["csi\u001b[31m", "it contains control characters"],
  ["csi\u0085", "it contains control characters"],
  ["csi\u202e", "it contains control characters"],
  ["csi\u2028", "it contains control characters"],
  ["n".repeat(247), "it has 247 characters"],
  ["ü".repeat(124), "it has 124 characters"],
])("%j is unsafe", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unsafe", problem });
});
