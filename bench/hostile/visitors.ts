import { connect, type NetConnectOpts, type Socket } from "node:net";
import { ATTACKS, openCall, openCallInHuffman } from "../../test/grpc/attacks";
import { bytesOf, DATA, frame, HELLO } from "../../test/grpc/wire";

/** What hostile connections say to one of our two doors, one kind after the other. */
export interface Visit {
  readonly door: "registration socket" | "HTTP endpoint";
  readonly connections: number;
  /** How many of them come at the same time. */
  readonly atOnce: number;
  /** Every so many-th of them stays open when it has said all, and reads no answer. */
  readonly stayEvery: number;
  /** What they say in place of the attacks. */
  readonly words?: readonly Buffer[];
}

const HALF_A_CALL = Buffer.concat([
  HELLO,
  openCall(1),
  frame(DATA, 0, 1, Buffer.concat([bytesOf("00 0000ffff"), Buffer.alloc(16_000)])),
]);

/** The attacks of the tests, and those that say little and wait. */
const REGISTRATION_SOCKET: readonly Buffer[] = [
  ...Object.values(ATTACKS).flatMap((attacks) => attacks.map(({ bytes }) => bytes)),
  Buffer.alloc(0),
  HELLO.subarray(0, 10),
  HELLO,
  Buffer.concat([HELLO, openCall(1)]),
  HALF_A_CALL,
  Buffer.concat([HELLO, ...[1, 3, 5, 7].map(openCallInHuffman)]),
];

const PROBE = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";

const HTTP_ENDPOINT: readonly Buffer[] = [
  "",
  "GET /hea",
  "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: 1\r\n",
  "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n",
  `POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n${"b".repeat(900_000)}`,
  "POST /metrics HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\nx",
  PROBE.repeat(50),
  PROBE.repeat(10_000),
  "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100),
  "\xff\xfe\x00\x01".repeat(1_000),
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  `GET /${"a".repeat(1_000_000)} HTTP/1.1\r\n\r\n`,
  `GET /${"a".repeat(15_000)}`,
  `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(1_000_000)}\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(10_000)}\r\n`,
  `GET /healthz HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(2_000)}`,
  "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n",
  "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
  "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n",
].map((text) => Buffer.from(text, "latin1"));

/** How long a client waits for the end of its connection when it has said all. */
const PATIENCE_MS = 2_000;

/** Resolves when all have come and those that do not stay are gone; with those that stay. */
export async function sendVisitors(visit: Visit, address: NetConnectOpts): Promise<readonly Socket[]> {
  const words = visit.words ?? (visit.door === "HTTP endpoint" ? HTTP_ENDPOINT : REGISTRATION_SOCKET);
  const stayed: Socket[] = [];
  let next = 0;
  const come = async () => {
    for (let index = next++; index < visit.connections; index = next++) {
      const socket = connect(address).on("error", () => {}); // It may be cut off while it talks.
      socket.write(words[index % words.length] ?? "");
      if (index % visit.stayEvery === 0) {
        await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
        stayed.push(socket.pause());
      } else {
        const limit = setTimeout(() => socket.destroy(), PATIENCE_MS);
        await new Promise((resolve) => socket.resume().once("close", resolve).end());
        clearTimeout(limit);
      }
    }
  };
  await Promise.all(Array.from({ length: visit.atOnce }, come));
  return stayed;
}
