import { createFileVerbosity, type VmoduleRule } from "../../src/logging/vmodule";

/** `a=1,b=2` as rules. */
function rulesOf(text: string): readonly VmoduleRule[] {
  return text.split(",").map((item) => {
    const [pattern = "", verbosity] = item.split("=");
    return { pattern, verbosity: Number(verbosity) };
  });
}

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
  ["csi.driver=4", 0],
  ["csi[=4", 0],
  ["*[=4", 0],
  ["", 0],
])("%s gives csi_driver verbosity %d", (text, verbosity) => {
  expect(createFileVerbosity(rulesOf(text))("csi_driver")).toBe(verbosity);
});
