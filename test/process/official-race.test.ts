import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { nodeTest, registered } from "../end-to-end/support/node";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createOwnedSocket } from "../support/owned-socket";
import { createTempFolder } from "../support/temp-folder";

/** Starts, and the next time ends, as the official registrar: it removes what is at its path, and binds (node_register.go). */
const OFFICIAL = `
const { statSync, unlinkSync, writeSync } = require("node:fs");
const { createServer } = require("node:net");
const [path] = process.argv.slice(1);
let server;
process.stdin.on("data", () => {
  const tell = () => writeSync(1, "done");
  if (server) return server.close(tell), (server = undefined);
  try { statSync(path); unlinkSync(path); } catch {}
  server = createServer().listen(path, tell);
});
writeSync(1, "ready");
`;
const ROUNDS = 60;
/** Within this time both act: it is about what a removal takes. */
const OVERLAP_MS = 0.6;
/** unlink(2) has no condition: a process that loses its CPU between its last look and that removes what came meanwhile. */
const UNLUCKY = 1;

test("a registrar that ends leaves the socket of an official one that starts at that moment", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("x.csi-reg.sock");
  const official = spawn(process.execPath, ["-e", OFFICIAL, path], { stdio: ["pipe", "pipe", "inherit"] });
  const said = () => once(official.stdout, "data");
  try {
    await said();
    let lost = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const socket = createOwnedSocket();
      await socket.publish(path);
      await eventually(() => expect(lstatSync(path).nlink).toBe(1)); // Else a dot-name keeps the inode's number.
      const starting = said();
      official.stdin.write("start");
      const until = performance.now() + (OVERLAP_MS * round) / ROUNDS;
      while (performance.now() < until) {}
      await socket.close();
      await starting;
      if (!lstatSync(path, { throwIfNoEntry: false })?.isSocket()) lost += 1;
      const ending = said();
      official.stdin.write("end");
      await ending;
    }
    expect(lost).toBeLessThanOrEqual(UNLUCKY);
  } finally {
    official.kill();
    await once(official, "close");
  }
});

/** Longer than an official registrar takes between its unlink(2) and its bind(2). */
const GAP_MS = 20;

nodeTest(
  "a registrar that stands by leaves the path to an official one that replaces another",
  async (node) => {
    const kubelet = await node.kubelet();
    await node.driver();
    const registrar = node.registrar();
    await registered(kubelet);
    await using former = await startForeignSocket(node.socketPath);
    await registrar.line("Standing by for the registrar that holds the socket");

    rmSync(node.socketPath);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, GAP_MS);
    const next = createServer().listen(node.socketPath);
    await once(next, "listening"); // Else EADDRINUSE.
    await former.kill();
    next.close();
    await registrar.reached("registered", 2);
  },
);

nodeTest(
  "beside a dead alias a new sidecar takes the place of the living one, which stands by",
  async (node) => {
    const kubelet = await node.kubelet();
    const old = await node.published();
    await registered(kubelet);
    await leaveDeadSocket(node.socketPath.replace(/-reg\.sock$/, "-_abc-reg.sock"));
    const young = node.registrar();
    await Promise.all([young.reached("registered"), old.reached("standby")]);
    expect(young.lines("Registration Server started").map(({ fields }) => fields.socketPath)).toEqual([
      node.socketPath,
    ]);
  },
);
