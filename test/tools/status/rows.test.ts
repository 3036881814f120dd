import type { DriverRow } from "../../../src/tools/doctor/findings/report";
import { rowChanges, unseenRegistrations } from "../../../src/tools/status/command";
import { healthyFacts } from "../doctor/node/healthy-facts";

const NOW = "2026-01-01T00:00:00.000Z";
const FOUND = "/host/var/lib/kubelet/plugins/x/csi.sock";
const TOLD = "/var/lib/kubelet/plugins/x/csi.sock";
const OTHER = "/var/lib/kubelet/plugins/other/csi.sock";

const row = (name: string | null, state: string, csiSocket: string | null, socket?: string): DriverRow => ({
  ...{ name, state, since: null, reason: null },
  ...{ csiSocket, registrationSocket: socket ?? null },
});
const REGISTERED = row("x", "registered", TOLD, "/reg/x-reg.sock");

test.each<[string, DriverRow[], DriverRow[], string[]]>([
  ["published", [row("x", "unpublished", TOLD)], [REGISTERED], ["x registered"]],
  ["published below the host's root", [row("x", "unpublished", FOUND)], [REGISTERED], ["x registered"]],
  ["its registrar killed", [REGISTERED], [row("x", "dead", null, "/reg/x-reg.sock")], ["x dead"]],
  [
    "without its second socket",
    [REGISTERED, row("x", "unreported", TOLD, "/reg/y-reg.sock")],
    [REGISTERED],
    [],
  ],
  ["hanging", [row("x", "unpublished", TOLD)], [row(null, "unpublished", TOLD)], ["null unpublished"]],
  ["answering", [row(null, "unpublished", TOLD)], [row("x", "unpublished", TOLD)], ["x unpublished"]],
  ["gone", [REGISTERED], [], ["x gone"]],
  ["one of its name gone", [REGISTERED, row("x", "unpublished", OTHER)], [REGISTERED], ["x gone"]],
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

test.each<readonly [Parameters<typeof healthyFacts>[0], string | undefined]>([
  [{}, undefined],
  [{ facts: { directory: { kind: "out-of-reach", path: "/registration", errno: "EPERM" } } }, "EPERM"],
  [{ facts: { directory: { kind: "missing", path: "/registration" } } }, "ENOENT"],
])("a directory that may not be read is no directory without drivers: %j", async (changes, why) => {
  const unseen = await unseenRegistrations(healthyFacts(changes));
  expect(unseen).toBe(why && `cannot read /registration: ${why}`);
});
