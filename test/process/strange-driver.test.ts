import { gzipSync } from "node:zlib";
import { FrameType } from "../../src/grpc/guard/frames";
import { DRIVER, nodeTest, onNode, registered } from "../end-to-end/support/node";
import { descriptorsOf, MUCH_MEMORY_KB, residentKilobytes } from "../end-to-end/support/resources";
import { frame, PING } from "../grpc/wire";
import { registerOnce } from "../support/dial-registration";
import { eventually } from "../support/eventually";
import { startForeignSocket } from "../support/foreign-socket";
import {
  answering,
  type Behaviour,
  data,
  flood,
  HELLO,
  head,
  headers,
  message,
  onCall,
} from "../support/hostile-driver";
import { startScriptedDriver } from "../support/scripted-driver";

const ZEROS = gzipSync(Buffer.alloc(60_000_000)).subarray(0, 60_000);

nodeTest("a manifest of just under 4 MiB is read, and the log has its beginning only", async (node) => {
  const manifest = { all: "x".repeat(2 ** 22 - 100) };
  await using _driver = await startScriptedDriver(node.csiAddress, { name: DRIVER, manifest });
  const registrar = node.registrar("-v=5", "--timeout=10s");
  await registrar.reached("listening");
  await registerOnce(node.socketPath);
  await registrar.reached("registered");
  const { fields } = await registrar.line("GRPC response");
  expect(fields.response).toMatch(/^\{"manifest":\{"all":"x+ \[cut, 41\d{5} characters in all\]/);
  expect(Math.max(...registrar.stderr.split("\n").map((line) => line.length))).toBeLessThan(40_000);
  expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
});

test.each<[string, Behaviour]>([
  ["pings", onCall((c) => flood(c, frame(PING, 0, 0, Buffer.alloc(8))))],
  ["settings", onCall((c) => flood(c, HELLO))],
  [
    "one header block",
    onCall((c, id) => {
      c.write(headers([[":status", "200"]], 0, id));
      flood(c, frame(FrameType.CONTINUATION, 0, id, Buffer.alloc(16_000, 0x40)));
    }),
  ],
  [
    "one message",
    onCall((c, id) => {
      c.write(head()(id));
      flood(c, data(message(Buffer.alloc(60_000), { length: 4_000_000 }))(id));
    }),
  ],
  ["zeros, compressed", answering(head(["grpc-encoding", "gzip"]), data(message(ZEROS, { compressed: 1 })))],
])(
  "a driver that sends %s without end is asked again, at no great cost",
  onNode(async (node, _what, behave) => {
    const hostile = await startForeignSocket(node.csiAddress, behave);
    const registrar = node.registrar("--timeout=1s");
    expect((await registrar.line("Error retreiving CSI driver name")).fields.err).toMatch(/^\d+ [A-Z_]+: /);
    const before = descriptorsOf(registrar);
    await eventually(() => expect(hostile.connections()).toBeGreaterThanOrEqual(4));
    await hostile.kill();
    await node.driver();
    await registered(await node.kubelet());
    expect(descriptorsOf(registrar)).toBeLessThan(before + 10);
    expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
  }),
);
