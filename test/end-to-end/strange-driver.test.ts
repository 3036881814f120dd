import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { registerOnce } from "../support/fake-kubelet";
import { leaveDeadSocket } from "../support/foreign-socket";
import { startScriptedDriver } from "../support/scripted-driver";
import {
  data,
  frame,
  head,
  identityBytes,
  message,
  onCall,
  PING,
  startHostileDriver,
  trailers,
} from "./support/hostile-driver";
import { DRIVER, nodeTest, onNode, registered } from "./support/node";
import { MUCH_MEMORY_KB, residentKilobytes } from "./support/resources";
import { registrarIn } from "./support/surroundings";

const MIB = 2 ** 20;
const LONGEST_LINE = 40_000;

nodeTest("a manifest of just under 4 MiB is read, and the log has its beginning only", async (node) => {
  const manifest = { all: "x".repeat(4 * MIB - 100) };
  await using _driver = await startScriptedDriver(node.csiAddress, { name: DRIVER, manifest });
  const registrar = node.registrar("-v=5", "--timeout=10s");
  await registrar.reached("listening");
  await registerOnce(node.socketPath);
  await registrar.reached("registered");
  const { fields } = await registrar.line("GRPC response");
  expect(fields.response).toMatch(/^\{"manifest":\{"all":"x+ \[cut, 41\d{5} characters in all\]$/);
  expect(Math.max(...registrar.stderr.split("\n").map((line) => line.length))).toBeLessThan(LONGEST_LINE);
  expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
});

nodeTest("a manifest of more than 4 MiB is not read, and the driver asked again", async (node) => {
  const manifest = { all: "x".repeat(4 * MIB) };
  const tooMuch = await startScriptedDriver(node.csiAddress, { name: DRIVER, manifest });
  const registrar = node.registrar("--timeout=10s");
  const { fields } = await registrar.line("Error retreiving CSI driver name");
  expect(fields.err).toMatch(/^8 RESOURCE_EXHAUSTED: Received message larger than max/);
  await tooMuch.called(2);
  await tooMuch.stop();
  await node.driver();
  await registered(await node.kubelet());
  expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
});

/** A driver that gives each caller another name, and hangs up when that has arrived; from the nth on it stays. */
function restless(n: number) {
  let calls = 0;
  const answerAndPing = (connection: Socket, stream: number) => {
    calls += 1;
    const name = `disk-${Math.min(calls, n)}.example.com`;
    const answer = [head(), data(message(identityBytes({ name }))), trailers(["grpc-status", "0"])];
    for (const part of answer) connection.write(part(stream));
    connection.write(frame(PING, 0, 0, Buffer.alloc(8)));
  };
  return onCall(answerAndPing, (connection) => calls < n && connection.end());
}

nodeTest("a driver that hangs up after each answer and has another name each time", async (node) => {
  const names = 4;
  await using _driver = await startHostileDriver(node.csiAddress, restless(names));
  const registrar = node.registrar("-v=2");
  const driver = `disk-${names}.example.com`;
  const reached = (state: string) =>
    registrar.line("Registration state changed", {
      where: ({ fields }) => fields.driver === driver && fields.to === state,
    });
  await reached("listening");
  await registerOnce(join(node.pluginDir, `${driver}-reg.sock`));
  await reached("registered");
  expect(node.files().filter((name) => !name.startsWith("."))).toEqual([`${driver}-reg.sock`]);
  expect(registrar.lines("CSI driver name")).toHaveLength(names);
  expect(registrar.lines().length).toBeLessThan(names * 20);
  await registrar.stop();
});

const IN_ITS_PLACE: readonly (readonly [what: string, make: (path: string) => void | Promise<void>])[] = [
  ["a file", (path) => writeFileSync(path, "mine")],
  ["a folder", (path) => mkdirSync(path)],
  ["a symlink that leads to itself", (path) => symlinkSync(path, path)],
  ["a symlink to nothing", (path) => symlinkSync("/nowhere", path)],
  ["a dead socket", leaveDeadSocket],
];

test.each(IN_ITS_PLACE)(
  "%s in place of the driver's socket is waited out",
  onNode(async (node, _what, make) => {
    await make(node.csiAddress);
    const registrar = node.registrar("-v=5");
    await registrar.line("Connecting");
    rmSync(node.csiAddress, { recursive: true });
    await node.driver();
    await registered(await node.kubelet());
    expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
  }),
);

nodeTest("a driver whose socket we may not open is waited for until we may", async (node) => {
  await node.driver();
  chmodSync(node.csiAddress, 0);
  const registrar = registrarIn(node, { asOrdinaryUser: true }, "-v=5");
  await registrar.line("Connecting");
  const kubelet = await node.kubelet();
  chmodSync(node.csiAddress, 0o700);
  await registered(kubelet);
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});
