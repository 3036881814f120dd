import { createFileVerbosity, parseVmodule } from "../../src/logging/vmodule";

describe("parseVmodule", () => {
  test.each([
    ["", []],
    [",", []],
    ["a=1", [{ pattern: "a", verbosity: 1 }]],
    ["a=1,", [{ pattern: "a", verbosity: 1 }]],
    ["a=01", [{ pattern: "a", verbosity: 1 }]],
    ["a=0", [{ pattern: "a", verbosity: 0 }]],
    ["a =2147483647", [{ pattern: "a ", verbosity: 2147483647 }]],
    [
      "csi*=2,a[=3",
      [
        { pattern: "csi*", verbosity: 2 },
        { pattern: "a[", verbosity: 3 },
      ],
    ],
  ])("%j", (text, rules) => {
    expect(parseVmodule(text)).toEqual(rules);
  });

  // What the official registrar v2.17 prints after `invalid value "..." for flag -vmodule: `.
  test.each([
    ["a", '"a" does not have the pattern=N format'],
    ["a=", '"a=" does not have the pattern=N format'],
    ["=1", '"=1" does not have the pattern=N format'],
    ["a=b=1", '"a=b=1" does not have the pattern=N format'],
    ["a=1,b", '"b" does not have the pattern=N format'],
    ["a=x", 'parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax'],
    ["a=-1", 'parsing verbosity in "a=-1": strconv.ParseUint: parsing "-1": invalid syntax'],
    ["a=+1", 'parsing verbosity in "a=+1": strconv.ParseUint: parsing "+1": invalid syntax'],
    ["a= 1", 'parsing verbosity in "a= 1": strconv.ParseUint: parsing " 1": invalid syntax'],
    ["a=0x1", 'parsing verbosity in "a=0x1": strconv.ParseUint: parsing "0x1": invalid syntax'],
    [
      "a=2147483648",
      'parsing verbosity in "a=2147483648": strconv.ParseUint: parsing "2147483648": value out of range',
    ],
  ])("%j is refused in component-base's words", (text, message) => {
    expect(() => parseVmodule(text)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message }));
  });
});

// Outcomes of klog v2.140 for a call in csi_driver.go.
test.each([
  ["csi_driver=3", 3],
  ["csi*=3", 3],
  ["csi?driver=3", 3],
  ["*=3", 3],
  ["csi_drive=3", 0],
  ["csi_driver.go=3", 0],
  ["cmd/csi_driver=3", 0],
  ["*/csi_driver=3", 0],
  ["CSI*=3", 0],
  ["csi_driver=2,csi*=5", 2],
  ["csi*=5,csi_driver=2", 5],
  ["csi_driver=0,*=5", 5],
  ["[a-d]si*=4", 4],
  ["[^a]si*=4", 4],
  ["[!a]si*=4", 0],
  ["csi[=4", 0],
  ["\\c*=4", 4],
  ["*[=4", 0],
  ["", 0],
])("%s gives csi_driver verbosity %d", (text, verbosity) => {
  expect(createFileVerbosity(parseVmodule(text))("csi_driver")).toBe(verbosity);
});
