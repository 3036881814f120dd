import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { judgeDriverName } from "../../../src/registrar/driver/driver-name";
import { aliasAfterPeer, aliasInUse, nextAlias, socketsOf } from "../../../src/registrar/model/socket-name";
import { eachTest } from "../../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";

const folder = eachTest(createTempFolder);

const name = "x.csi";
const find = async () => aliasInUse(await socketsOf(folder.path, name));

test("an alias is a safe file name that no driver by the specification has", () => {
  for (let round = 0; round < 100; round++) {
    const alias = nextAlias(name);
    expect(alias).toMatch(/^x\.csi-_[0-9a-z]{3}$/);
    expect(judgeDriverName(alias).kind).toBe("unusual");
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
])("is not misled by the dead socket %s", async (file) => {
  await leaveDeadSocket(folder.at(file));
  expect(await find()).toBeUndefined();
});

test("finds the alias of a registrar that was killed, before it that of one that lives", async () => {
  await leaveDeadSocket(folder.at("x.csi-reg.sock"));
  await leaveDeadSocket(folder.at("x.csi-_abb-reg.sock"));
  expect(await find()).toBe("x.csi-_abb");
  await using _living = await startForeignSocket(folder.at("x.csi-_abc-reg.sock"));
  expect(await find()).toBe("x.csi-_abc");
});

test("where kubelet has the driver by a dead socket, that of a dead one is next, else ours again", async () => {
  const next = async () => aliasAfterPeer(await socketsOf(folder.path, name), "x.csi-_abb");
  await using _living = await startForeignSocket(folder.at("x.csi-_abc-reg.sock"));
  expect(await next()).toBe("x.csi-_abb");
  await leaveDeadSocket(folder.at("x.csi-_abd-reg.sock"));
  expect(await next()).toBe("x.csi-_abd");
  rmSync(folder.at("x.csi-_abd-reg.sock"));
  await leaveDeadSocket(folder.at("x.csi-reg.sock"));
  expect(await next()).toBeUndefined();
});

test("is not misled by a link to a socket, nor by what is no socket, nor by a folder that is away", async () => {
  // Nothing could be published over them.
  await using _living = await startForeignSocket(folder.at("elsewhere"));
  symlinkSync("elsewhere", folder.at("x.csi-_abc-reg.sock"));
  writeFileSync(folder.at("x.csi-_abd-reg.sock"), "");
  mkdirSync(folder.at("x.csi-_abe-reg.sock"));
  expect(await find()).toBeUndefined();
  expect(await socketsOf(folder.at("no"), name)).toEqual([]);
});
