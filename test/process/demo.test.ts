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
    "The CSI driver listens on its socket, plugins/demo.csi/csi.sock.",
    "The registrar asks the driver for its name (GetPluginInfo): demo.csi.",
    "The registrar puts its own socket where kubelet looks: plugins_registry/demo.csi-reg.sock.",
    "asks who is there (GetInfo): CSIPlugin demo.csi at plugins/demo.csi/csi.sock.",
    "Kubelet asks the driver itself (NodeGetInfo): node ID node-1, 12 volumes at most; it writes CSINode node-1.",
    "Kubelet tells the registrar (NotifyRegistrationStatus): registered.",
    "kind: CSINode",
    "name: demo.csi",
    "2. The registration socket is deleted",
    "The socket is back,",
    "Kubelet registers demo.csi again",
    "3. The driver crashes and comes back",
    "Kubelet has deregistered nothing",
    "The driver is still registered",
    "4. A second registrar comes and goes",
    "The first registrar sees that another registrar has taken its place, and stands by.",
    "Kubelet registers the driver through the first registrar",
    "5. Kubelet restarts",
    "The new kubelet finds the registration socket",
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
