import { COMMANDS, correctCommand } from "../../src/cli/commands";

test.each([undefined, "", "-dmeo", "--demo", "/csi/csi.sock", "true"])(
  "the first word %s is left to Go's grammar",
  (word) => {
    expect(correctCommand(word)).toBeUndefined();
  },
);

test("each command has a name of its own and a summary", () => {
  expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
  for (const { summary } of COMMANDS) expect(summary).not.toBe("");
});
