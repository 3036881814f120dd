import { perform } from "../../../../src/cli/commands/demo/perform";
import { SCENARIOS } from "../../../../src/cli/commands/demo/scenarios";
import { createStoryteller } from "../../../../src/cli/commands/demo/storyteller";

const idle = [process.execPath, "-e", "setTimeout(() => {}, 60_000)", "--"];

test("a play whose registrar does nothing has missed a step, and says which", async () => {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const played = await perform(SCENARIOS, {
      ...{ cli: idle, registrar: idle, keep: false, stepMs: 50, signal: new AbortController().signal },
      teller: createStoryteller({ rewrites: false, colours: false, columns: 200 }),
    });
    expect(played).toEqual({ ending: "missed" });
    expect(write.mock.calls.map(([text]) => text).join("")).toContain(
      "waited 50 ms for the driver to listen: it did not happen",
    );
  } finally {
    write.mockRestore();
  }
});
