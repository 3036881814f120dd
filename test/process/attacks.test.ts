import { connect } from "node:net";
import { type HttpClient, httpOf } from "../end-to-end/support/http";
import { nodeTest, onNode, registered } from "../end-to-end/support/node";
import { descriptorsOf, residentKilobytes } from "../end-to-end/support/resources";
import { ATTACKS, openCall, openCallInHuffman, times } from "../grpc/attacks";
import { connectRaw } from "../grpc/served-grpc";
import { bytesOf, DATA, frame, HEADERS, HELLO, headerBlock, PING } from "../grpc/wire";
import { eventually } from "../support/eventually";
import { flood } from "../support/hostile-driver";

const BYTES_OF_ATTACKS = Object.values(ATTACKS).flatMap((attacks) => attacks.map(({ bytes }) => bytes));
/** Floods keep a registrar busy for up to a quarter of a second each: they come in one round of eight. */
const FLOODS_EACH = 8;
const SMALL_ATTACKS = BYTES_OF_ATTACKS.filter(({ length }) => length < 20_000);

async function visit(path: string, bytes: Buffer): Promise<void> {
  // It may cut us off while we write.
  const client = connect(path)
    .on("error", () => {})
    .resume();
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  client.end(bytes);
  await closed;
}

async function attack(path: string, rounds: number): Promise<void> {
  const all = Array.from({ length: rounds }, (_, round) =>
    round % FLOODS_EACH === 0 ? BYTES_OF_ATTACKS : SMALL_ATTACKS,
  ).flat();
  const one = async () => {
    for (let bytes = all.pop(); bytes !== undefined; bytes = all.pop()) await visit(path, bytes);
  };
  await Promise.all(Array.from({ length: 10 }, one));
}

/** What is in use after a garbage collection: each heap snapshot begins with one. */
async function heapBytes(http: HttpClient): Promise<number> {
  await http.get("/debug/pprof/heap");
  const { body } = await http.get("/metrics");
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(body)?.[1]);
}

nodeTest("2000 hostile connections leave nothing behind, and kubelet registers the driver", async (node) => {
  const registrar = await node.published("--http-endpoint=localhost:0", "--enable-pprof");
  const http = await httpOf(registrar);
  await attack(node.socketPath, 2);
  const descriptors = descriptorsOf(registrar);
  const heap = await heapBytes(http);

  await attack(node.socketPath, Math.ceil(2_000 / SMALL_ATTACKS.length));
  await eventually(() => expect(descriptorsOf(registrar)).toBeLessThanOrEqual(descriptors));
  // Half a kilobyte for each connection: what is kept of one has more.
  expect((await heapBytes(http)) - heap).toBeLessThan(1_000_000);
  await registered(await node.kubelet());
  await registrar.reached("registered");
});

const STREAMS = Array.from({ length: 16 }, (_, index) => 2 * index + 1);
const someBytes = Buffer.alloc(16_000);

const MANY_FIELDS = headerBlock(
  ...Array.from({ length: 50 }, (_, at) => [`x${at}`, "v".repeat(250)] as const),
);
const dataOn = (streamId: number, bytes: Buffer) => frame(DATA, 0, streamId, bytes);
const HALF_A_REQUEST = bytesOf("00 0000ffff");

/** What a client sends on each of its streams to make us keep as much as it can. */
test.each<[string, (streamId: number) => readonly Buffer[], megabytes?: number]>([
  ["calls of which no request comes", (id) => [openCall(id)]],
  [
    "calls of which half a request comes",
    (id) => [openCall(id), dataOn(id, HALF_A_REQUEST), times(3, () => dataOn(id, someBytes))],
  ],
  ["calls with as many header fields as there may be", (id) => [openCall(id, MANY_FIELDS)]],
  ["calls with much Huffman code", (id) => [openCallInHuffman(id)]],
  // grpc-js makes an object of each five bytes, of 4 MB at most.
  ["calls of very many messages", (id) => [openCall(id), dataOn(id, someBytes)], 60],
  ["header blocks without end", (id) => [frame(HEADERS, 0, id, someBytes)]],
])(
  "beside 64 clients with %s kubelet registers the driver, within some megabytes",
  onNode(async (node, _what, onStream, megabytes = 30) => {
    const registrar = await node.published();
    const before = residentKilobytes(registrar);
    const greeting = Buffer.concat([HELLO, frame(PING, 0, 0, Buffer.alloc(8))]);
    const clients = Array.from({ length: 64 }, () => connectRaw(node.socketPath));
    for (const { socket } of clients) socket.write(Buffer.concat([greeting, ...STREAMS.flatMap(onStream)]));
    for (const client of clients) await client.until(() => client.frames.some(({ type }) => type === PING));

    await registered(await node.kubelet());
    await registrar.reached("registered");
    // What it keeps of them: how much garbage there is before depends on the machine, which collects 10 s after a registration.
    await eventually(() => expect(residentKilobytes(registrar) - before).toBeLessThan(megabytes * 1_000));
    for (const { socket } of clients) socket.destroy();
  }),
);

nodeTest("10 clients that ping without end, and read no answer, do not keep kubelet out", async (node) => {
  const registrar = await node.published("--http-endpoint=localhost:0");
  const clients = Array.from({ length: 10 }, () => connect(node.socketPath).on("error", () => {}));
  const pings = times(1_000, () => frame(PING, 0, 0, Buffer.alloc(8)));
  for (const client of clients) {
    client.write(HELLO);
    flood(client, pings);
  }
  await registered(await node.kubelet());
  await registrar.reached("registered");
  expect(await (await httpOf(registrar)).get("/readyz")).toMatchObject({ status: 200 });
  expect(residentKilobytes(registrar)).toBeLessThan(150_000);
  for (const client of clients) client.destroy();
});

nodeTest("kubelet registers the driver beside 1000 connections, opened and dropped", async (node) => {
  const registrar = await node.published();
  const descriptors = descriptorsOf(registrar);
  const registration = node.kubelet().then((kubelet) => registered(kubelet));
  let left = 1_000;
  const come = async () => {
    for (; left > 0; left--) {
      const socket = connect(node.socketPath);
      // A full queue of the listener is an error here, and kubelet tries again.
      await new Promise((resolve) => socket.once("connect", resolve).once("error", resolve));
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: 20 }, come));
  await registration;
  await registrar.reached("registered");
  await eventually(() => expect(descriptorsOf(registrar)).toBeLessThanOrEqual(descriptors + 1));
});
