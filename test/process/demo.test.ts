import { readdirSync } from "node:fs";
import { startCommand } from "../cli/commands/support/command";
import { createTempFolder } from "../support/temp-folder";

test("the demo plays every story to its end, step by step", async () => {
  await using folder = await createTempFolder();
  using demo = startCommand(["demo"], { TMPDIR: folder.path });
  expect(await demo.exitCode()).toBe(0);
  const story = demo.lines.join(" ").replace(/\s+/g, " ");
  let from = 0;
  for (const text of [
    "1. A driver is registered",
    "(GetPluginInfo): demo.csi.",
    "plugins_registry/demo.csi-reg.sock.",
    "(GetInfo): CSIPlugin demo.csi at plugins/demo.csi/csi.sock.",
    "(NodeGetInfo): node ID node-1, 12 volumes at most; it writes CSINode node-1.",
    "(NotifyRegistrationStatus): registered.",
    "kind: CSINode",
    "2. The registration socket is deleted",
    "Kubelet registers demo.csi again",
    "3. The driver crashes and comes back",
    "The driver is still registered",
    "4. A second registrar comes and goes",
    "Kubelet registers the driver through the first registrar",
    "5. Kubelet restarts",
    "demo.csi is registered again.",
    "Everything happened as described",
  ]) {
    expect(story.slice(from)).toContain(text);
    from = story.indexOf(text, from) + text.length;
  }
  expect(demo.stderr).toBe("");
  expect(demo.lines.join("")).not.toContain("\u001b");
  expect(readdirSync(folder.path)).toEqual([]);
});
