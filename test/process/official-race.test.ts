import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync } from "node:fs";
import { eventually } from "../support/eventually";
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

test("a registrar that ends leaves the socket of an official one that starts at that moment", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("x.csi-reg.sock");
  const official = spawn(process.execPath, ["-e", OFFICIAL, path], { stdio: ["pipe", "pipe", "inherit"] });
  const said = () => once(official.stdout, "data");
  try {
    await said();
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
      expect(lstatSync(path, { throwIfNoEntry: false })?.isSocket()).toBe(true);
      const ending = said();
      official.stdin.write("end");
      await ending;
    }
  } finally {
    official.kill();
    await once(official, "close");
  }
});
