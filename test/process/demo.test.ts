import { readdirSync } from "node:fs";
import { SCENARIOS } from "../../src/tools/demo/scenarios";
import { createTempFolder } from "../support/temp-folder";
import { startCommand } from "../tools/support/command";

test("the demo plays every story to its end, step by step", async () => {
  await using folder = await createTempFolder();
  using demo = startCommand(["demo"], { TMPDIR: folder.path, FORCE_COLOR: "0" });
  expect(await demo.exitCode()).toBe(0);
  const story = demo.lines.join(" ").replace(/\s+/g, " ");
  const told = [...Object.values(SCENARIOS).map(({ title }) => title), "Everything happened as described"];
  const places = told.map((text) => story.indexOf(text));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(story).toContain('CSINode node-1, spec.drivers: - name: "demo.csi" - nodeID: "node-1"');
  expect(story).toMatch(
    /dial unix \/csi\/csi\.sock.* hint: on the host.* Doctor finds CSI007: .* Fix: write /,
  );
  expect(demo.stderr).toBe("");
  expect(demo.lines.join("")).not.toContain("\u001b");
  expect(readdirSync(folder.path)).toEqual([]);
});
