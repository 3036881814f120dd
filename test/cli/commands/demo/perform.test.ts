import { perform } from "../../../../src/cli/commands/demo/perform";
import { SCENARIOS } from "../../../../src/cli/commands/demo/scenarios";
import { createStoryteller } from "../../../../src/cli/commands/demo/storyteller";

const idle = [process.execPath, "-e", "setTimeout(() => {}, 60_000)", "--"];

test.each([
  [
    "comes to nothing, as its driver does nothing",
    idle,
    /waited 50 ms for the driver to listen: it did not happen/,
  ],
  ["is not there", ["/nowhere/registrar"], /the registrar ended \(spawn \/nowhere\/registrar ENOENT\)/],
])("a play whose registrar %s has missed a step, and says which", async (_what, registrar, why) => {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const played = await perform(SCENARIOS, {
      ...{ cli: idle, registrar, keep: false, stepMs: 50, signal: new AbortController().signal },
      teller: createStoryteller({ rewrites: false, colours: false, columns: 200 }),
    });
    expect(played).toEqual({ ending: "missed" });
    expect(write.mock.calls.map(([text]) => text).join("")).toMatch(why);
  } finally {
    write.mockRestore();
  }
});
