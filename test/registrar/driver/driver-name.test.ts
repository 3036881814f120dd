import { admitDriverName, admitPluginName, judgeDriverName } from "../../../src/registrar/driver/driver-name";
import { recordLog } from "../../support/recorded-log";

const LETTERS =
  "the CSI specification allows letters, digits, '-' and '.' only, with a letter or digit at both ends";

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
  [`${"a".repeat(62)}_`, LETTERS],
  ["n".repeat(246), "it has 246 characters, the CSI specification allows 63"],
  ["a".repeat(64), "it has 64 characters, the CSI specification allows 63"],
  ["csi_driver", LETTERS],
  ["-csi", LETTERS],
  ["csi-", LETTERS],
  ["csi.", LETTERS],
  ["csi driver", LETTERS],
  ["csi%s", LETTERS],
  ["treiber.bär", LETTERS],
])("%j is unusual", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unusual", problem });
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
  ["n".repeat(247), "it has 247 bytes, and a file's name leaves room for 246"],
  ["ü".repeat(124), "it has 248 bytes, and a file's name leaves room for 246"],
])("%j is unsafe", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unsafe", problem });
});

describe("admitDriverName", () => {
  const warningsOf = (name: string) => {
    const log = recordLog();
    admitDriverName(name, log.logger);
    return log.records.map(({ severity, fields }) => ({ severity, fields }));
  };

  test("warns of an unusual name only", () => {
    const fields = { name: "csi_driver", problem: LETTERS };
    expect(warningsOf("csi.example.com")).toEqual([]);
    expect(warningsOf("csi_driver")).toEqual([{ severity: "warning", fields }]);
  });

  test("refuses an unsafe one", () => {
    expect(() => warningsOf("a/b")).toThrow(
      expect.objectContaining({
        code: "UNSAFE_DRIVER_NAME",
        message: "CSI driver name \"a/b\" is refused: it contains '/'",
      }),
    );
  });
});

test.each([
  ["DRAPlugin", "G_PU", "must be a DNS subdomain"],
  ["DRAPlugin", "a".repeat(64), "63 characters at most"],
  ["DevicePlugin", "gpu", "must be a resource"],
  ["DevicePlugin", "kubernetes.io/gpu", "must be a resource"],
  ["DevicePlugin", "../x/gpu", "must be a resource"],
  ["CSIPlugin", "../x", "is refused: it contains '/'"],
  ["CSIPlugin", "a\u202e\u200bb", String.raw`CSI driver name "a\u202e\u200bb" is refused`],
  ["DRAPlugin", "a\u202eb", String.raw`DRA driver name "a\u202eb" must be`],
  ["DevicePlugin", "a\u202eb", String.raw`device plugin name "a\u202eb" must be`],
] as const)("a %s is not called %s", (type, name, message) => {
  expect(() => admitPluginName(type, name, recordLog().logger)).toThrow(
    expect.objectContaining({ code: "UNSAFE_DRIVER_NAME", message: expect.stringContaining(message) }),
  );
});

test.each([
  ["DRAPlugin", "gpu.Example.com"],
  ["DRAPlugin", "a".repeat(63)],
  ["DevicePlugin", "example.com/gpu"],
] as const)("a %s may be called %s", (type, name) => {
  admitPluginName(type, name, recordLog().logger);
});
