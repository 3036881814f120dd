import { connect } from "node:net";
import { type HttpClient, httpOf } from "../end-to-end/support/http";
import { nodeTest, onNode, registered } from "../end-to-end/support/node";
import { descriptorsOf, residentKilobytes } from "../end-to-end/support/resources";
import { ATTACKS, openCall, openCallInHuffman, times } from "../grpc/attacks";
import { connectRaw } from "../grpc/served-grpc";
import { bytesOf, DATA, frame, HEADERS, HELLO, headerBlock, PING } from "../grpc/wire";
import { eventually } from "../support/eventually";
import { flood } from "../support/hostile-driver";

/** As long as a registrar of these tests may live; alone, none of them takes a tenth of it. */
const LIMIT_MS = 110_000;

const BYTES_OF_ATTACKS = Object.values(ATTACKS).flatMap((attacks) => attacks.map(({ bytes }) => bytes));
/** Floods keep a registrar busy for up to a quarter of a second each: they come in one round of eight. */
const FLOOD_BYTES = 20_000;
const FLOODS_EACH = 8;
const SMALL_ATTACKS = BYTES_OF_ATTACKS.filter(({ length }) => length < FLOOD_BYTES);

/** Says these bytes on a connection of its own, and leaves. */
async function visit(path: string, bytes: Buffer): Promise<void> {
  // It may cut us off while we write.
  const client = connect(path)
    .on("error", () => {})
    .resume();
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  client.end(bytes);
  await closed;
}

/** So many rounds of the attacks, ten connections at a time. */
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

nodeTest(
  "2000 hostile connections leave nothing behind, and kubelet registers the driver",
  async (node) => {
    await node.driver();
    const registrar = node.registrar("--http-endpoint=localhost:0", "--enable-pprof");
    await registrar.reached("listening");
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
  },
  LIMIT_MS,
);

/** On more streams than there may be. */
const onStreams = (onStream: (streamId: number) => Buffer) =>
  Array.from({ length: 16 }, (_, index) => onStream(2 * index + 1));
const someBytes = Buffer.alloc(16_000);

/** What a client sends on each of its streams to make us keep as much as it can. */
test.each<[string, (streamId: number) => Buffer]>([
  ["calls of which no request comes", openCall],
  [
    "calls of which half a request comes",
    (streamId) =>
      Buffer.concat([
        openCall(streamId),
        frame(DATA, 0, streamId, bytesOf("00 0000ffff")),
        times(3, () => frame(DATA, 0, streamId, someBytes)),
      ]),
  ],
  [
    "calls with as many header fields as there may be",
    (streamId) => {
      const fields = Array.from({ length: 50 }, (_, index) => [`x${index}`, "v".repeat(250)] as const);
      return openCall(streamId, headerBlock(...fields));
    },
  ],
  ["calls with much Huffman code", openCallInHuffman],
  [
    "calls of very many messages",
    (streamId) => Buffer.concat([openCall(streamId), frame(DATA, 0, streamId, someBytes)]),
  ],
  ["header blocks without end", (streamId) => frame(HEADERS, 0, streamId, someBytes)],
])(
  "64 clients with %s: kubelet registers the driver, and 30 MB hold all of it",
  onNode(async (node, _what, onStream) => {
    await node.driver();
    const registrar = node.registrar();
    await registrar.reached("listening");
    const before = residentKilobytes(registrar);
    const greeting = Buffer.concat([HELLO, frame(PING, 0, 0, Buffer.alloc(8))]);
    const clients = Array.from({ length: 64 }, () => connectRaw(node.socketPath));
    for (const { socket } of clients) socket.write(Buffer.concat([greeting, ...onStreams(onStream)]));
    await Promise.all(
      clients.map((client) => client.until(() => client.frames.some(({ type }) => type === PING))),
    );

    await registered(await node.kubelet());
    await registrar.reached("registered");
    expect(residentKilobytes(registrar, "VmHWM") - before).toBeLessThan(30_000);
    for (const { socket } of clients) socket.destroy();
  }),
);

nodeTest(
  "10 clients that send pings without end, and read no answer, neither block kubelet nor grow us",
  async (node) => {
    await node.driver();
    const registrar = node.registrar("--http-endpoint=localhost:0");
    await registrar.reached("listening");
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
  },
);

nodeTest("1000 connections, opened and dropped, while kubelet registers the driver", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
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
