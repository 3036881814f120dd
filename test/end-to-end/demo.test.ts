import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "../../src/base/errors";
import { runCommand } from "../support/run-command";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { type RunningCommand, startCommand } from "../tools/support/command";

jest.setTimeout(60_000);

/** A demo whose folder is made in a folder of this test. */
async function withDemo(
  flags: readonly string[],
  use: (demo: RunningCommand, folder: TempFolder) => Promise<void>,
): Promise<void> {
  await using folder = await createTempFolder();
  using demo = startCommand(["demo", ...flags], { TMPDIR: folder.path });
  await use(demo, folder);
}

/** Processes whose command line has this folder in it; none where there is no /proc to ask. */
const processesIn = (folder: TempFolder) =>
  (attempt(() => readdirSync("/proc")) ?? [])
    .map((name) => attempt(() => readFileSync(`/proc/${name}/cmdline`, "utf8")) ?? "")
    .filter((line) => line.includes(folder.path));

test("one story by its name; its folder is kept, with what each process said, and a picture of it saved", async () => {
  await using pictures = await createTempFolder();
  const svg = pictures.at("story.svg");
  await withDemo(["--scenario", "socket-deleted", "--keep", "--svg", svg], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(0);
    const [kept = ""] = readdirSync(folder.path);
    expect(demo.lines).toContain(`Kept: ${folder.at(kept)}; its .log files have the output of each process.`);
    expect(readdirSync(folder.at(kept))).toEqual(
      expect.arrayContaining(["driver.log", "kubelet.log", "plugins", "plugins_registry", "registrar.log"]),
    );
    expect(readFileSync(folder.at(kept, "registrar.log"), "utf8")).toContain('"reason":"socket-gone"');
    expect(demo.lines.join(" ")).not.toContain("CSINode object");
    expect(processesIn(folder)).toEqual([]);
    expect(readFileSync(svg, "utf8")).toMatch(
      /publishes demo.csi-reg.sock.*GetInfo.*NodeGetInfo.*CSINode.*NotifyRegistrationStatus.*its socket is gone/s,
    );
  });
});

test.each<NodeJS.Signals>(["SIGINT", "SIGTERM"])("%s ends it with 130, and leaves nothing", (signal) =>
  withDemo([], async (demo, folder) => {
    await demo.line(/GetPluginInfo/);
    expect(processesIn(folder)).not.toEqual([]);
    expect(await demo.end(signal)).toBe(130);
    expect(readdirSync(folder.path)).toEqual([]);
    expect(processesIn(folder)).toEqual([]);
  }),
);

test.each([
  ["false", "exit code 1"],
  ["/nowhere/registrar", "spawn /nowhere/registrar ENOENT"],
])("with the registrar %s the demo fails, and leaves nothing", (registrar, how) =>
  withDemo(["--registrar", registrar], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(1);
    expect(demo.lines.at(-1)).toContain(`the registrar ended (${how})`);
    expect([readdirSync(folder.path), processesIn(folder)]).toEqual([[], []]);
  }),
);

test("a picture that cannot be saved is a mistake told at once", async () => {
  const stderr = expect.stringMatching(/^registrar demo: cannot write the picture: ENOENT/);
  expect(await runCommand("demo", "--svg", "/nowhere/x.svg")).toEqual({ status: 1, stdout: "", stderr });
});
