import { perform } from "../../../src/tools/demo/command";
import { SCENARIOS } from "../../../src/tools/demo/scenarios";

const idle = [process.execPath, "-e", "setTimeout(() => {}, 60_000)", "--"];

test("a demo whose registrar does nothing has missed a step, and says which", async () => {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const { signal } = new AbortController();
    expect(await perform(SCENARIOS, { cli: idle, registrar: idle }, { stepMs: 50, signal })).toBe(1);
    expect(write.mock.calls.map(([text]) => text).join("")).toContain(
      "did not happen within 50 ms: The CSI driver listens on its socket",
    );
  } finally {
    write.mockRestore();
  }
});
