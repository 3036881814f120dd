import { mkdirSync } from "node:fs";
import { noDriver, unseenRegistrations } from "../../../../src/cli/commands/status";
import type { DirectoryFacts } from "../../../../src/doctor/node/facts";
import { healthyFacts } from "../../../doctor/node/healthy-facts";
import { createTempFolder } from "../../../support/temp-folder";

const inPlace = (directory: DirectoryFacts) => unseenRegistrations(healthyFacts({ facts: { directory } }));

test("a folder that may not be read is no folder without drivers", () => {
  const path = "/registration";
  expect(unseenRegistrations(healthyFacts())).toBeUndefined();
  expect(unseenRegistrations(healthyFacts({ folder: { unlistable: "EACCES" } }))).toBe(
    "/registration may not be read: EACCES",
  );
  expect(inPlace({ kind: "out-of-reach", path, errno: "EACCES" })).toBe(
    "/registration cannot be looked at: EACCES",
  );
  expect(inPlace({ kind: "missing", path })).toBe("/registration is not there");
});

test("no driver: where it was looked for", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("plugins_registry");
  const plugins = folder.at("plugins");
  const told = () => noDriver(healthyFacts({ folder: { path } }));
  expect(told()).toBe(`no driver in ${path}, and no ${plugins} here to look in`);
  mkdirSync(plugins);
  expect(told()).toBe(`no driver in ${path}, nor in ${plugins}`);
});
