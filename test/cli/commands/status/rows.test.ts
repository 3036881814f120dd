import { mkdirSync } from "node:fs";
import { noDriver, rowChanges, unseenRegistrations } from "../../../../src/cli/commands/status";
import type { DriverRow } from "../../../../src/doctor/findings/report";
import type { DirectoryFacts } from "../../../../src/doctor/node/read/gather";
import { healthyFacts } from "../../../doctor/node/healthy-facts";
import { createTempFolder } from "../../../support/temp-folder";

const NOW = "2026-01-01T00:00:00.000Z";
const FOUND = "/host/var/lib/kubelet/plugins/x/csi.sock";
const TOLD = "/var/lib/kubelet/plugins/x/csi.sock";
const OTHER = "/var/lib/kubelet/plugins/other/csi.sock";

const row = (name: string | null, state: string, csiSocket: string | null, socket?: string): DriverRow => ({
  name,
  state,
  since: null,
  reason: null,
  csiSocket,
  registrationSocket: socket ?? null,
  waitingPods: null,
});
const REGISTERED = row("x", "registered", TOLD, "/reg/x-reg.sock");

test.each<[string, DriverRow[], DriverRow[], string[]]>([
  ["nothing", [REGISTERED], [REGISTERED], []],
  ["published", [row("x", "unpublished", TOLD)], [REGISTERED], ["x registered"]],
  ["published below the host's root", [row("x", "unpublished", FOUND)], [REGISTERED], ["x registered"]],
  ["published no more", [REGISTERED], [row("x", "unpublished", FOUND)], ["x unpublished"]],
  ["its registrar killed", [REGISTERED], [row("x", "dead", null, "/reg/x-reg.sock")], ["x dead"]],
  ["under an alias", [REGISTERED], [row("x", "listening", TOLD, "/reg/x-_abc-reg.sock")], ["x listening"]],
  ["without its second socket", [REGISTERED, row("x", "untold", TOLD, "/reg/y-reg.sock")], [REGISTERED], []],
  ["hanging", [row("x", "unpublished", TOLD)], [row(null, "unpublished", TOLD)], ["null unpublished"]],
  ["answering", [row(null, "unpublished", TOLD)], [row("x", "unpublished", TOLD)], ["x unpublished"]],
  ["gone", [REGISTERED], [], ["x gone"]],
  ["gone, beside one of its name", [REGISTERED, row("x", "unpublished", OTHER)], [REGISTERED], ["x gone"]],
  ["another name", [REGISTERED], [row("y", "unpublished", TOLD)], ["y unpublished", "x gone"]],
  [
    "gone, and another hanging",
    [row("x", "dead", null)],
    [row(null, "unpublished", null)],
    ["null unpublished", "x gone"],
  ],
])("a driver: %s", (_, before, rows, expected) => {
  const changes = rowChanges(rows, before, NOW);
  expect(changes.map(({ name, state }) => `${name} ${state}`)).toEqual(expected);
  expect(changes.filter(({ state }) => state === "gone").every(({ since }) => since === NOW)).toBe(true);
});

const inPlace = (directory: DirectoryFacts) => unseenRegistrations(healthyFacts({ facts: { directory } }));

test("a folder that may not be read is no folder without drivers", async () => {
  const path = "/registration";
  expect(await unseenRegistrations(healthyFacts())).toBeUndefined();
  expect(await inPlace({ kind: "out-of-reach", path, errno: "EACCES" })).toBe(
    "/registration cannot be looked at: EACCES",
  );
  expect(await inPlace({ kind: "missing", path })).toBe("/registration is not there");
});

test("no driver: where it was looked for", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("plugins_registry");
  const plugins = folder.at("plugins");
  const told = () => noDriver(healthyFacts({ folder: { path } }));
  expect(await told()).toBe(`no driver in ${path}, and no ${plugins} here to look in`);
  mkdirSync(plugins);
  expect(await told()).toBe(`no driver in ${path}, nor in ${plugins}`);
});
