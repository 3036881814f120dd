import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "../../src/base/errors";
import { run } from "../support/child-process";
import { eventually } from "../support/eventually";
import { registrarCommand } from "../support/registrar-command";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { startCommand } from "../tools/support/command";

jest.setTimeout(60_000);

/** Processes whose command line has this folder in it; none where there is no /proc to ask. */
const processesIn = (folder: TempFolder) =>
  (attempt(() => readdirSync("/proc")) ?? [])
    .map((name) => attempt(() => readFileSync(`/proc/${name}/cmdline`, "utf8")) ?? "")
    .filter((line) => line.includes(folder.path));

test("demo --scenario plays one story", async () => {
  await using folder = await createTempFolder();
  using demo = startCommand(["demo", "--scenario", "socket-deleted"], { TMPDIR: folder.path });
  expect(await demo.exitCode()).toBe(0);
  expect(demo.lines.join("\n")).toMatch(
    /The driver is registered\..*The socket is back\..*registered .* again,\s+after\s+\d+\.\d\s+s\b/s,
  );
  expect(demo.lines.join(" ")).not.toContain("CSINode object");
  expect(demo.lines.join("\n")).toMatch(/^Next: node \S+\/cli\.js doctor -f /m);
  expect([readdirSync(folder.path), processesIn(folder)]).toEqual([[], []]);
});

test.each<NodeJS.Signals>(["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"])(
  "%s ends it with 130, and leaves nothing",
  async (signal) => {
    await using folder = await createTempFolder();
    using demo = startCommand(["demo"], { TMPDIR: folder.path });
    await demo.line(/GetPluginInfo/);
    expect(processesIn(folder)).not.toEqual([]);
    expect(await demo.end(signal)).toBe(130);
    expect([readdirSync(folder.path), processesIn(folder)]).toEqual([[], []]);
  },
);

test("SIGKILL leaves no process: each ends with the demo", async () => {
  await using folder = await createTempFolder();
  using demo = startCommand(["demo"], { TMPDIR: folder.path });
  await demo.line(/GetPluginInfo/);
  expect(processesIn(folder)).toHaveLength(3);
  await demo.end("SIGKILL");
  await eventually(() => expect(processesIn(folder)).toEqual([]));
});

test("a reader that goes, as head does, ends it too, and leaves nothing", async () => {
  await using folder = await createTempFolder();
  const [node, cli] = registrarCommand();
  await run("sh", ["-c", `"${node}" "${cli}" demo | head -n 1`], { env: { TMPDIR: folder.path } });
  expect([readdirSync(folder.path), processesIn(folder)]).toEqual([[], []]);
});
