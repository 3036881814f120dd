import {
  formatVersion,
  highestSupportedVersion,
  validateVersions,
} from "../../src/kubelet-rules/driver-versions";

test.each([
  [["1.0.0"], "1.0.0"],
  [["1.0.0", "1.2", "1.1.9"], "1.2"],
  [["2.0.0", "1.5.0", "10.0"], "1.5.0"],
  [["0.3.0", "1.0.0"], "1.0.0"],
  [["junk", "v1.3.0-rc.1"], "1.3.0"],
])("of %j takes %s", (versions, expected) => {
  expect(formatVersion(highestSupportedVersion(versions))).toBe(expected);
});

test.each([
  [["2.0.0"], "could not find a highest supported version from versions ([2.0.0]) reported: <nil>"],
  [
    ["abc", "1"],
    'could not find a highest supported version from versions ([abc 1]) reported: could not parse "abc" as version',
  ],
  [
    ["1"],
    'could not find a highest supported version from versions ([1]) reported: illegal version string "1"',
  ],
  [
    ["01.0"],
    'could not find a highest supported version from versions ([01.0]) reported: illegal zero-prefixed version component "01" in "01.0"',
  ],
  [["0.3.0"], "highest supported version reported is 0.3.0, must be v1.x"],
])("refuses %j", (versions, text) => {
  expect(() => highestSupportedVersion(versions)).toThrow(
    expect.objectContaining({ code: "REFUSED", message: text }),
  );
});

test.each([
  [
    ["2.0.0"],
    "could not find a highest supported version from versions ([2.0.0]) reported by this driver: <nil>",
  ],
  [["0.3.0"], "highest supported version reported by driver is 0.3.0, must be v1.x"],
])("refuses %j in the words of kubelets up to 1.28", (versions, text) => {
  expect(() => highestSupportedVersion(versions, "by-driver")).toThrow(text);
});

describe("against a driver that is registered under the name", () => {
  const validate = (offered: string, registered: readonly number[]) =>
    validateVersions("ValidatePlugin", "x.csi", [offered], registered);

  test.each([
    ["an equal version loses", "1.0.0", [1, 0, 0]],
    ["an equal version with fewer numbers loses", "1.0", [1, 0, 0]],
    ["a lower version loses", "1.0.0", [1, 1]],
  ])("%s", (_case, offered, registered) => {
    expect(() => validate(offered, registered)).toThrow(
      /^kubernetes\.io\/csi: ValidatePlugin for CSI driver "x\.csi" failed\. Another driver with the same name is already registered with a higher supported version: "1\.[01](\.0)?"$/,
    );
  });

  test("a higher version wins", () => {
    expect(validate("1.0.1", [1, 0, 0])).toEqual([1, 0, 1]);
  });
});

test("an empty list has a text of its own", () => {
  expect(() => validateVersions("RegisterPlugin", "x.csi", [], undefined)).toThrow(
    'kubernetes.io/csi: RegisterPlugin for CSI driver "x.csi" failed. Plugin returned an empty list for supported versions',
  );
});
