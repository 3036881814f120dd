import { existsSync } from "node:fs";
import { perform } from "../../../src/tools/demo/command";
import { startPlay } from "../../../src/tools/demo/play";
import { NOT_BACK, SCENARIOS } from "../../../src/tools/demo/scenarios";
import { readText, rowsIn } from "../../docs/markdown";
import { runCommand } from "../../support/run-command";

const node = (script: string) => [process.execPath, "-e", script, "--"];

test.each<readonly [what: string, cli: readonly string[], stepMs: number, complaint: RegExp]>([
  [
    "do nothing",
    node("setTimeout(() => {}, 60_000)"),
    50,
    /^did not happen within 0\.05 s: The CSI driver listens on its socket.* the driver's last line: none$/,
  ],
  [
    "end",
    node("console.error('no memory'); process.exit(7)"),
    60_000,
    /^the (.*) ended \(exit code 7\); the \1's last line: no memory$/,
  ],
  [
    "listen and ignore SIGTERM",
    node(
      `process.on("SIGTERM", () => {}); console.log('{"kind":"listening"}'); setInterval(() => {}, 60_000)`,
    ),
    3_000,
    /^did not happen within 3 s: /,
  ],
  ["cannot start", ["/nowhere/registrar"], 60_000, / ended .*: spawn \/nowhere\/registrar ENOENT$/],
])(
  "with processes that %s the demo fails at a step, and leaves nothing",
  async (_what, cli, stepMs, complaint) => {
    const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
    const { signal } = new AbortController();
    await expect(perform(startPlay(cli, signal, stepMs), signal)).rejects.toThrow(complaint);
    const [, directory = "/"] = /sockets in\s(\S+)/.exec(String(write.mock.calls[0])) ?? [];
    expect(existsSync(directory)).toBe(false);
  },
);

test.each([
  [70, 70],
  [300, 110],
])("in a terminal of %d columns the lines of the demo have %d", async (columns, most) => {
  const terminal = { columns: process.stdout.columns };
  process.stdout.columns = columns;
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  await startPlay(node(""), new AbortController().signal, 0).clear();
  Object.assign(process.stdout, terminal);
  const lines = write.mock.calls.flatMap(([text]) => String(text).split("\n"));
  const longest = Math.max(...lines.map(({ length }) => length));
  expect([most - 20, longest, most].sort((a, b) => a - b)).toEqual([most - 20, longest, most]);
});

test.each(["the socket is removed", "two registrars of one driver, the newer one gets SIGTERM"])(
  "what the demo says of the official registrar was measured: %s",
  (failure) => {
    const row = rowsIn(readText("docs/measurements.md")).find(([what]) => what === failure);
    expect(NOT_BACK.replace("no driver in", "not in")).toContain(row?.[4]?.replaceAll("*", ""));
  },
);

test("its help names each scenario", async () => {
  const { stdout } = await runCommand("demo", "--help");
  for (const name of Object.keys(SCENARIOS)) expect(stdout).toContain(name);
});
