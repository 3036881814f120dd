import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { judgeDriverName } from "../../../src/registrar/driver/driver-name";
import type { PluginType } from "../../../src/registrar/model/options";
import {
  aliasAfterPeer,
  aliasInUse,
  driverOfSocket,
  fileNameOf,
  nextAlias,
  registrationSocketPath,
  SOCKET_TAIL,
  socketsOf,
} from "../../../src/registrar/model/socket-name";
import { fitsSocketPath } from "../../../src/unix/socket-path";
import { eachTest } from "../../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";

const folder = eachTest(createTempFolder);

const name = "x.csi";
const find = async () => aliasInUse(await socketsOf(folder.path, name));

test("an alias is a safe file name that no valid driver's name equals", () => {
  for (let round = 0; round < 100; round++) {
    const alias = nextAlias(name);
    expect(alias).toMatch(/^x\.csi-_[0-9a-z]{3}$/);
    expect(judgeDriverName(alias).kind).toBe("unusual");
  }
});

test("an alias repeats after 36, when kubelet's backoff from its path has ended", () => {
  const aliases = ["x.csi-_aba"];
  for (let nth = 0; nth < 36; nth++) aliases.push(nextAlias(name, aliases.at(-1)));
  expect(new Set(aliases).size).toBe(36);
  expect(aliases.at(-1)).toBe(aliases[0]);
});

const domain = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,9}[a-z0-9])?(?:\.(?:dra|csi|device|com))?$/);
const resource = fc.stringMatching(/^(?:a|b-c)\.com\/[a-z](?:[a-z_.-]{0,9}[a-z])?$/);
const plugin = fc.oneof(
  fc.record({ type: fc.constant<PluginType>("CSIPlugin"), name: domain }),
  fc.record({ type: fc.constant<PluginType>("DRAPlugin"), name: domain }),
  fc.record({ type: fc.constant<PluginType>("DevicePlugin"), name: resource }),
);
const KNOWN: readonly (readonly [PluginType, string])[] = [
  ["CSIPlugin", "foo-dra"],
  ["CSIPlugin", "foo-device"],
  ["DRAPlugin", "foo"],
  ["DevicePlugin", "foo/dra"],
  ["DevicePlugin", "foo/device"],
];

test("no two plugins have one socket, whatever their types and names are, and none is another's alias", () => {
  const fileOf = (type: PluginType, name: string) => fileNameOf({ type, pluginRegistrationPath: "/r" }, name);
  const seen = new Map(KNOWN.map(([type, name]) => [fileOf(type, name), `${type} ${name}`]));
  expect(seen.size).toBe(KNOWN.length);
  fc.assert(
    fc.property(plugin, ({ type, name }) => {
      const file = fileOf(type, name);
      expect(driverOfSocket(file + SOCKET_TAIL)).toBe(file);
      expect(seen.get(file) ?? `${type} ${name}`).toBe(`${type} ${name}`);
      seen.set(file, `${type} ${name}`);
    }),
    { numRuns: 2_000 },
  );
});

const UID = "0b6f8a5e-4c8e-4d8b-9a53-6f3f2b8d7c11";
test("each instance of a DRA driver has a socket of its own, whose path fits on the host, too", () => {
  const fileOf = (name: string, instance = UID, pluginRegistrationPath = "/registration") =>
    fileNameOf({ type: "DRAPlugin", instance, pluginRegistrationPath }, name);
  expect(fileOf("gpu.example.com")).toBe(`gpu.example.com-${UID}`);
  const names = [1, 20, 28, 29, 40, 63].map((length) => "n".repeat(length));
  const uids = [UID, UID.replace("0b", "0c"), "f".repeat(32)];
  const directories = ["/registration", "/var/lib/kubelet/plugins_registry", `/${"d".repeat(50)}`];
  for (const directory of directories) {
    const files = names.flatMap((name) => uids.map((uid) => fileOf(name, uid, directory)));
    expect(new Set(files).size).toBe(names.length * uids.length);
    for (const file of files)
      for (const at of [directory, "/var/lib/kubelet/plugins_registry"])
        expect([file, fitsSocketPath(registrationSocketPath(at, file))]).toEqual([file, true]);
  }
});

test.each([
  "x.csi-reg.sock",
  "x.csi-test-reg.sock",
  "y.csi-_abc-reg.sock",
  "my.x.csi-_abc-reg.sock",
  "x.csi-_abcd-reg.sock",
  "x.csi-_abc",
  ".x.csi-_abc-reg.sock",
])("the search for an alias ignores the dead socket %s", async (file) => {
  await leaveDeadSocket(folder.at(file));
  expect(await find()).toBeUndefined();
});

test("a living registrar's alias is found before a killed one's", async () => {
  await leaveDeadSocket(folder.at("x.csi-reg.sock"));
  await leaveDeadSocket(folder.at("x.csi-_abb-reg.sock"));
  expect(await find()).toBe("x.csi-_abb");
  await using _living = await startForeignSocket(folder.at("x.csi-_abc-reg.sock"));
  expect(await find()).toBe("x.csi-_abc");
});

test("a registrar that lives under the driver's own name comes before one that was killed under an alias", async () => {
  await leaveDeadSocket(folder.at("x.csi-_abb-reg.sock"));
  await using _living = await startForeignSocket(folder.at("x.csi-reg.sock"));
  expect(await find()).toBeUndefined();
});

test("a driver that is named like an alias finds its own socket", async () => {
  await using _living = await startForeignSocket(folder.at("x.csi-_abc-reg.sock"));
  expect(await socketsOf(folder.path, "x.csi-_abc")).toEqual([[undefined, "taken"]]);
});

test("after kubelet kept a dead socket the dead one's name is next, else ours", async () => {
  const next = async () => aliasAfterPeer(await socketsOf(folder.path, name), "x.csi-_abb");
  await using _living = await startForeignSocket(folder.at("x.csi-_abc-reg.sock"));
  expect(await next()).toBe("x.csi-_abb");
  await leaveDeadSocket(folder.at("x.csi-_abd-reg.sock"));
  expect(await next()).toBe("x.csi-_abd");
  rmSync(folder.at("x.csi-_abd-reg.sock"));
  await leaveDeadSocket(folder.at("x.csi-reg.sock"));
  expect(await next()).toBeUndefined();
});

test("the search for an alias ignores links, other files and a missing directory", async () => {
  // Nothing could be published over them.
  await using _living = await startForeignSocket(folder.at("elsewhere"));
  symlinkSync("elsewhere", folder.at("x.csi-_abc-reg.sock"));
  writeFileSync(folder.at("x.csi-_abd-reg.sock"), "");
  mkdirSync(folder.at("x.csi-_abe-reg.sock"));
  expect(await find()).toBeUndefined();
  expect(await socketsOf(folder.at("no"), name)).toEqual([]);
});
