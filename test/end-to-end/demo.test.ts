import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type RunningCommand, startCommand } from "../cli/commands/support/command";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

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
function processesIn(folder: TempFolder): readonly string[] {
  const commandLine = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, "utf8");
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return commandLine(pid).includes(folder.path) ? [commandLine(pid)] : [];
      } catch {
        return [];
      }
    });
}

/** The story without its layout: each text in order. */
const storyOf = (demo: RunningCommand) => demo.lines.join(" ").replace(/\s+/g, " ");

function expectInOrder(text: string, pieces: readonly string[]): void {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at < 0) throw new Error(`"${piece}" is not in what follows:\n${text.slice(from)}`);
    from = at + piece.length;
  }
}

test("plays every story to its end, step by step, and leaves nothing", () =>
  withDemo([], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(0);
    expectInOrder(storyOf(demo), [
      "1. A driver is registered",
      "The CSI driver listens on its socket, plugins/demo.csi/csi.sock.",
      "The registrar asks the driver for its name (GetPluginInfo): demo.csi.",
      "The registrar puts its own socket where kubelet looks: plugins_registry/demo.csi-reg.sock.",
      "asks who is there (GetInfo): CSIPlugin demo.csi at plugins/demo.csi/csi.sock.",
      "Kubelet asks the driver itself (NodeGetInfo): node ID node-1, 12 volumes at most; it writes CSINode node-1.",
      "Kubelet tells the registrar (NotifyRegistrationStatus): registered.",
      "kind: CSINode",
      "name: demo.csi",
      "2. Somebody deletes the registration socket",
      "The socket is back,",
      "Kubelet registers demo.csi again",
      "3. The driver crashes and comes back",
      "The registrar notices that the driver is gone",
      "The driver is still registered",
      "4. A second registrar comes and goes",
      "The first registrar sees that another registrar has taken its place, and stands by.",
      "Kubelet registers the driver through the first registrar",
      "5. Kubelet restarts",
      "The new kubelet finds the registration socket",
      "demo.csi is registered again.",
      "Everything happened as described",
    ]);
    expect(demo.stderr).toBe("");
    expect(demo.lines.join("")).not.toContain("\u001b");
    expect(readdirSync(folder.path)).toEqual([]);
    expect(processesIn(folder)).toEqual([]);
  }));

test("one story by its name; the folder is kept and has what each process said", () =>
  withDemo(["--scenario", "socket-deleted", "--keep"], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(0);
    const [kept = ""] = readdirSync(folder.path);
    expect(demo.lines).toContain(`Kept: ${folder.at(kept)}; its .log files have the output of each process.`);
    expect(readdirSync(folder.at(kept))).toEqual(
      expect.arrayContaining(["driver.log", "kubelet.log", "plugins", "plugins_registry", "registrar.log"]),
    );
    expect(readFileSync(folder.at(kept, "registrar.log"), "utf8")).toContain('"reason":"socket-gone"');
    expect(storyOf(demo)).not.toContain("CSINode object");
    expect(processesIn(folder)).toEqual([]);
  }));

test("a picture of what happened is saved", async () => {
  await using pictures = await createTempFolder();
  const svg = pictures.at("story.svg");
  await withDemo(["--scenario", "registration", "--svg", svg], async (demo) => {
    expect(await demo.exitCode()).toBe(0);
    const picture = readFileSync(svg, "utf8");
    expectInOrder(picture, ["GetPluginInfo", "GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"]);
    expect(picture).not.toContain("second registrar");
  });
});

test.each([
  ["ends at once", "false", /the registrar ended \(exit code 1\)/],
  ["is not there", "/nowhere/registrar", /the registrar ended \(spawn \/nowhere\/registrar ENOENT\)/],
])("a registrar that %s makes the demo fail, and leaves nothing", (_, registrar, why) =>
  withDemo(["--registrar", registrar], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(1);
    expect(demo.lines.at(-1)).toMatch(why);
    expect(demo.lines.join()).not.toContain("as described");
    expect(readdirSync(folder.path)).toEqual([]);
    expect(processesIn(folder)).toEqual([]);
  }),
);

test("a step that does not happen makes the demo fail", async () => {
  await using programs = await createTempFolder();
  const idle = programs.at("idle");
  writeFileSync(idle, `#!${process.execPath}\nsetTimeout(() => {}, 60_000);\n`, { mode: 0o755 });
  await withDemo(["--registrar", idle], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(1);
    expect(demo.lines.at(-1)).toMatch(
      /waited 10 s for the registrar to ask for the driver's name: it did not happen/,
    );
    expect(processesIn(folder)).toEqual([]);
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

test("a picture that cannot be saved is a mistake told at once", () =>
  withDemo(["--svg", "/nowhere/x.svg"], async (demo, folder) => {
    expect(await demo.exitCode()).toBe(1);
    expect(demo.stderr).toMatch(/^registrar demo: cannot write the picture: ENOENT/);
    expect(demo.lines).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  }));

test("--list names every scenario and plays none", () =>
  withDemo(["--list"], async (demo) => {
    expect(await demo.exitCode()).toBe(0);
    expect(demo.lines.map((line) => line.split(" ")[0])).toEqual([
      "registration",
      "socket-deleted",
      "driver-restart",
      "second-registrar",
      "kubelet-restart",
    ]);
  }));
