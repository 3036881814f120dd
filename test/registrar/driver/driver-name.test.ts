import { admitDriverName, admitPluginName, judgeDriverName } from "../../../src/registrar/driver/driver-name";
import { recordLog } from "../../support/recorded-log";

const LETTERS =
  "the CSI specification allows letters, digits, '-' and '.' only, with a letter or digit at both ends of each part";

test.each(["x", "7", "CSI-Driver.Example.COM", "a--b", "a".repeat(63)])("%s is valid", (name) => {
  expect(judgeDriverName(name)).toEqual({ kind: "valid" });
});

test.each([
  [`${"a".repeat(62)}_`, LETTERS],
  ["n".repeat(246), "it has 246 characters, the CSI specification allows 63"],
  ["a".repeat(64), "it has 64 characters, the CSI specification allows 63"],
  ["csi_driver", LETTERS],
  ["-csi", LETTERS],
  ["a.-b", LETTERS],
  ["csi.", LETTERS],
  ["csi%s", LETTERS],
  ["treiber.bär", LETTERS],
])("%j is unusual", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unusual", problem });
});

test.each([
  ["", "it is empty"],
  ["/", "it contains '/'"],
  ["../evil", "it contains '/'"],
  ["a\\b", "it contains a backslash"],
  ["a\0b", "it contains control characters"],
  [".", "it begins with a dot"],
  ["a..b", "it contains '..'"],
  ["csi\n", "it contains control characters"],
  ["csi\u001b[31m", "it contains control characters"],
  ["csi\u202e", "it contains control characters"],
  ["csi\u2028", "it contains control characters"],
  ["csi\u2029", "it contains control characters"],
  ["csi\ud800", "it contains control characters"],
  ["n".repeat(247), "it has 247 bytes, and a file's name leaves room for 246"],
  ["ü".repeat(124), "it has 248 bytes, and a file's name leaves room for 246"],
])("%j is unsafe", (name, problem) => {
  expect(judgeDriverName(name)).toEqual({ kind: "unsafe", problem });
});

test("an unusual name causes a warning, a valid one does not", () => {
  const log = recordLog();
  for (const name of ["csi.example.com", "csi_driver"]) admitDriverName(name, log.logger);
  const fields = { name: "csi_driver", problem: LETTERS };
  expect(log.records).toMatchObject([{ severity: "warning", fields }]);
});

test.each([
  ["DRAPlugin", "G_PU", "must be a DNS subdomain"],
  ["DRAPlugin", "a".repeat(64), "63 characters at most"],
  ["DevicePlugin", "gpu", "must be a resource"],
  ["DevicePlugin", "kubernetes.io/gpu", "must be a resource"],
  ["CSIPlugin", "../x", "CSI driver name \"../x\" is refused: it contains '/'"],
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
