import { correctCommand } from "../../src/cli/commands";

test.each([undefined, "", "-dmeo", "--demo", "/csi/csi.sock", "true"])(
  "the first word %s is left to Go's grammar",
  (word) => {
    expect(correctCommand(word)).toBeUndefined();
  },
);
