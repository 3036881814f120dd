import type { Socket } from "node:net";
import { eventually } from "../support/eventually";
import { connectTimes, gone } from "./support/clients";
import { httpOf } from "./support/http";
import { nodeTest, registered } from "./support/node";
import { descriptorsOf, residentKilobytes } from "./support/resources";

/** More than the connections that a registration socket allows, in whatever state they are. */
const DESCRIPTORS = 64 + 40;

const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0)]);

function frame(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(9 + length);
  bytes.writeUIntBE(length, 0, 3);
  bytes[3] = type;
  return bytes;
}

function pings(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => frame(6, 8)));
}

const GARBAGE: readonly Buffer[] = [
  Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
  Buffer.alloc(100_000, 0xff),
  PREFACE,
  Buffer.concat([PREFACE, Buffer.alloc(4_096, 0x01)]),
  Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), // a TLS greeting
  Buffer.alloc(1),
];

nodeTest("500 idle connections do not keep kubelet out, nor are they all kept", async (node) => {
  await node.driver();
  const registrar = node.registrar("--http-endpoint=localhost:0");
  await registrar.reached("listening");
  const idle = await connectTimes(500, node.socketPath);
  await registered(await node.kubelet());
  await registrar.reached("registered");
  // Twice as many may stay for a quarter of a second.
  await eventually(() => expect(descriptorsOf(registrar)).toBeLessThan(DESCRIPTORS));
  expect(await (await httpOf(registrar)).get("/readyz")).toMatchObject({ status: 200 });
  for (const socket of idle) socket.destroy();
});

nodeTest("200 connections of garbage harm nobody, and leave no descriptor behind", async (node) => {
  await node.driver();
  const registrar = node.registrar("--http-endpoint=localhost:0");
  await registrar.reached("listening");
  const before = descriptorsOf(registrar);
  const kubelet = node.kubelet();
  for (let round = 0; round < 20; round++) {
    const sockets = await connectTimes(10, node.socketPath);
    const ends = sockets.map((socket) => gone(socket.resume()));
    for (const [index, socket] of sockets.entries()) socket.end(GARBAGE[index % GARBAGE.length] ?? "");
    await Promise.all(ends);
  }
  await registered(await kubelet);
  await registrar.reached("registered");
  expect(await (await httpOf(registrar)).get("/readyz")).toMatchObject({ status: 200 });
  expect(descriptorsOf(registrar)).toBeLessThan(before + 10);
  const warnings = registrar.lines().filter(({ severity }) => severity !== "I");
  expect(warnings.length).toBeLessThan(10);
});

/** Sends the same bytes over and over, as long as the other side takes them; reads nothing. */
function flood(socket: Socket, bytes: Buffer): void {
  const pump = () => {
    while (socket.writable && socket.write(bytes)) {}
  };
  socket.on("drain", pump);
  pump();
}

nodeTest("a client that sends zeros without end is cut off", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
  for (const socket of await connectTimes(1, node.socketPath)) {
    const cut = gone(socket);
    flood(socket, Buffer.alloc(16_384));
    await cut;
  }
  await registered(await node.kubelet());
});

nodeTest(
  "clients that send pings without end and read no answer neither block kubelet nor grow us",
  async (node) => {
    await node.driver();
    const registrar = node.registrar("--http-endpoint=localhost:0");
    await registrar.reached("listening");
    const sockets = await connectTimes(10, node.socketPath);
    for (const socket of sockets) {
      socket.write(PREFACE);
      flood(socket, pings(1_000));
    }
    await registered(await node.kubelet());
    await registrar.reached("registered");
    expect(await (await httpOf(registrar)).get("/readyz")).toMatchObject({ status: 200 });
    expect(residentKilobytes(registrar)).toBeLessThan(150_000);
    for (const socket of sockets) socket.destroy();
  },
);
