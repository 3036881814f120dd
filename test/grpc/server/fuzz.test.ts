import { once } from "node:events";
import { connect } from "node:net";
import * as fc from "fast-check";
import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { dialRegistration } from "../../support/dial-registration";
import { eventually } from "../../support/eventually";
import { propertyTest } from "../../support/fuzz";
import { realProcess } from "../../support/real-process";
import { ATTACKS } from "../attacks";
import { INFO, openDescriptors, serveGrpc } from "../served-grpc";
import { bytesOf, chunksOf, frame, GOAWAY, getInfoCall, HELLO, PADDED, RAW_PATH, SETTINGS } from "../wire";

const WINDOW_UPDATE = 8;

const bytes = (constraints: fc.IntArrayConstraints) =>
  fc.uint8Array(constraints).map((one) => Buffer.from(one));

/** What attackers send, up to 20 kB of each. */
const hostile = Object.values(ATTACKS)
  .flat()
  .map((attack) => attack.bytes.subarray(HELLO.length, HELLO.length + 20_000));

const good = [
  ...[1, 3, 5, 7, 9, 11].map((streamId) => getInfoCall(streamId, RAW_PATH)),
  frame(SETTINGS, 0, 0, bytesOf("0004 0000ffff 0005 00004000")),
  frame(0, PADDED | 1, 1, bytesOf("02 00 00000000 ffff")),
  frame(WINDOW_UPDATE, 0, 1, bytesOf("0000ffff")),
  frame(GOAWAY, 0, 0, Buffer.alloc(8)),
];

const frames = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...good) },
  { weight: 2, arbitrary: fc.constantFrom(...hostile) },
  fc
    .tuple(fc.nat(11), fc.nat(255), fc.constantFrom(0, 1, 2, 3, 5, 0x7fff_ffff), bytes({ maxLength: 40 }))
    .map(([type, flags, streamId, payload]) => frame(type, flags, streamId, payload)),
);

const share = fc.noBias(fc.nat(9_999)).map((parts) => parts / 10_000);
const damages = fc.array(fc.record({ where: share, value: fc.nat(255) }), { maxLength: 4 });
const greetings = fc.oneof(
  { weight: 20, arbitrary: fc.constant(HELLO) },
  { weight: 1, arbitrary: fc.constant(CLIENT_PREFACE) },
  { weight: 1, arbitrary: bytes({ maxLength: 24 }) },
);
const ends = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, share);

/** What a client sends on one connection: often all valid, often damaged in some bytes, cut anywhere. */
const connections = fc
  .tuple(
    greetings,
    fc.array(frames, { minLength: 1, maxLength: 16 }),
    fc.oneof(fc.constant([]), damages),
    ends,
  )
  .map(([greeting, parts, hits, end]) => {
    const rest = Buffer.concat(parts);
    for (const { where, value } of hits) rest[Math.floor(where * rest.length)] = value;
    const sent = Buffer.concat([greeting, rest]);
    return sent.subarray(0, Math.ceil(end * sent.length));
  });

type Served = Awaited<ReturnType<typeof serveGrpc>>;
const chunkLengths = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(1, 65_536));
/** How a client leaves: it hangs up and waits, it breaks off, or it leaves its answers unread and then breaks off. */
const goodbyes = fc.constantFrom<"end" | "destroy" | "never read">("end", "end", "destroy", "never read");

describe("no input of a client stops the server", () => {
  let served: Served;
  let descriptors: number;
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);

  beforeAll(async () => {
    served = await serveGrpc();
    // The first connection loads what Node loads late.
    await visit(served, [Buffer.alloc(1)], "end");
    descriptors = openDescriptors();
    realProcess.on("warning", warned);
  });
  afterAll(async () => {
    realProcess.off("warning", warned);
    await served[Symbol.asyncDispose]();
  });

  propertyTest(
    "hostile input ends its connection, and kubelet is answered",
    { runs: 100, given: fc.tuple(connections, chunkLengths, goodbyes) },
    async ([sent, chunkBytes, goodbye]) => {
      await visit(served, chunksOf(sent, chunkBytes), goodbye);
      await eventually(() => expect(served.server.connections.open).toBe(0));
      using kubelet = dialRegistration(served.path);
      expect(await kubelet.getInfo()).toEqual(INFO);
    },
  );

  test("no descriptor is left, no warning is emitted, and every log line has our form", async () => {
    await eventually(() => expect(served.server.connections.open).toBe(0));
    await eventually(() => expect(openDescriptors()).toBe(descriptors));
    expect(warnings).toEqual([]);
    expect(served.records.filter(({ severity }) => severity !== "info").length).toBeLessThan(10);
  });
});

async function visit({ path }: Served, chunks: readonly Buffer[], goodbye: "end" | "destroy" | "never read") {
  const client = connect(path);
  client.on("error", () => {}); // We may be cut off while we write.
  const closed = new Promise((resolve) => client.once("close", resolve));
  if (goodbye === "never read") client.pause();
  else client.resume();
  await once(client, "connect");
  // Small chunks would else be sent as one.
  for (const chunk of chunks.slice(0, 200)) {
    if (client.destroyed) break;
    client.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.write(Buffer.concat(chunks.slice(200)));
  if (goodbye === "end") client.end();
  else client.destroy();
  await closed;
}
