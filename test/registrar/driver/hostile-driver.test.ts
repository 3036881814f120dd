import { gzipSync } from "node:zlib";
import { FrameFlag, FrameType } from "../../../src/grpc/guard/frames";
import { frame } from "../../grpc/wire";
import { eventually } from "../../support/eventually";
import { startForeignSocket } from "../../support/foreign-socket";
import { PATIENCE_MS } from "../../support/history";
import {
  answering,
  type Behaviour,
  data,
  HELLO,
  head,
  headers,
  identityBytes,
  message,
  onCall,
  trailers,
  trailersOnly,
} from "../../support/hostile-driver";
import { startScriptedDriver } from "../../support/scripted-driver";
import { createTempFolder } from "../../support/temp-folder";
import { watchAt } from "../../support/watched-driver";

const DRIVER = "disk.csi.example.com";
const FAILED = "Error retreiving CSI driver name";
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]);
const WE_ARE = message(identityBytes({ name: DRIVER }));
const ok = trailers(["grpc-status", "0"]);
/** Whatever grpc-js makes of it. */
const anyStatus = /^\d+ [A-Z_]+: /;

/** What the driver does, and how the log must put it. */
type Row = readonly [what: string, behave: Behaviour, err: RegExp];

const BREAKS_THE_CONNECTION: readonly Row[] = [
  ["sends garbage", (c) => c.write(Buffer.alloc(1_000, 0xff)), /UNAVAILABLE: .*Protocol error/],
  ["speaks HTTP/1", (c) => c.write("HTTP/1.1 400 Bad Request\r\n\r\n"), /UNAVAILABLE: .*Protocol error/],
  ["speaks TLS", (c) => c.write(TLS_ALERT), /UNAVAILABLE|no HTTP\/2 connection/],
  ["says nothing", () => {}, /DEADLINE_EXCEEDED: .* after \S+s; no HTTP\/2 connection by then/],
  ["closes at once", (c) => c.end(), /UNAVAILABLE: .*Failed to connect/],
  ["closes when it is called", onCall((c) => c.destroy()), /UNAVAILABLE: Connection dropped/],
  ["says goodbye", answering(() => frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8))), /UNAVAILABLE|CANCELLED/],
  [
    "says goodbye a thousand times",
    (c) =>
      c.write(Buffer.concat([HELLO, ...Array(1_000).fill(frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8)))])),
    anyStatus,
  ],
  ["resets every call", answering((id) => frame(FrameType.RST_STREAM, 0, id, Buffer.alloc(4))), anyStatus],
  ["answers a call that nobody made", answering((id) => head()(id + 2)), anyStatus],
];

const ANSWERS_WRONGLY: readonly Row[] = [
  ["no grpc-status, trailers only", answering(trailersOnly()), /^2 UNKNOWN/],
  ["no grpc-status after a message", answering(head(), data(WE_ARE), trailers(["x", "y"])), /UNKNOWN/],
  ["success without a message", answering(trailersOnly(["grpc-status", "0"])), /^12 UNIMPLEMENTED/],
  ["a grpc-status of letters", answering(trailersOnly(["grpc-status", "OK?"])), /^2 UNKNOWN: .* status NaN/],
  ["an unknown grpc-status", answering(trailersOnly(["grpc-status", "99"])), /^2 UNKNOWN: .* status 99/],
  ["HTTP status 404", answering(trailers([":status", "404"])), /^12 UNIMPLEMENTED/],
  ["HTTP status 503", answering(trailers([":status", "503"])), /^14 UNAVAILABLE/],
  ["two messages", answering(head(), data(WE_ARE), data(WE_ARE), ok), anyStatus],
  ["bytes, no protobuf", answering(head(), data(message(Buffer.alloc(64, 0xff))), ok), /^13 INTERNAL/],
  ["4 GiB, it claims", answering(head(), data(message(WE_ARE, { length: 2 ** 32 - 1 }))), /^8 RESOURCE/],
  ["an endless message", answering(head(), data(message(WE_ARE, { length: 1_000 }))), /^4 DEADLINE_EXCEEDED/],
  [
    "60 MB of zeros, compressed",
    answering(
      head(["grpc-encoding", "gzip"]),
      data(message(gzipSync(Buffer.alloc(60_000_000)).subarray(0, 60_000), { compressed: 1 })),
      ok,
    ),
    anyStatus,
  ],
  [
    "a compression unknown to us",
    answering(head(["grpc-encoding", "zstd"]), data(message(WE_ARE, { compressed: 1 })), ok),
    anyStatus,
  ],
  [
    "headers of a megabyte",
    answering((id) =>
      Buffer.concat([
        headers([["x", "y".repeat(16_000)]], 0, id),
        ...Array(64).fill(frame(FrameType.CONTINUATION, 0, id, Buffer.alloc(16_000, 0x61))),
        frame(FrameType.CONTINUATION, FrameFlag.END_HEADERS, id),
      ]),
    ),
    anyStatus,
  ],
];

const isOurs = async (_what: string, behave: Behaviour, err: RegExp): Promise<void> => {
  await using folder = await createTempFolder();
  const path = folder.at("csi.sock");
  await using hostile = await startForeignSocket(path, behave);
  // A driver that answers gets time for it; for some of the others only the deadline ends the call.
  const mayEndByDeadline = err === anyStatus || /DEADLINE|no HTTP/.test(err.source);
  await using watch = watchAt(path, { timeoutMs: mayEndByDeadline ? 500 : PATIENCE_MS });
  const said = await watch.log.when(FAILED);
  expect((said.error as Error).message).toMatch(err);
  const isAskedAgain = said.fields.next === "retry";
  await eventually(() => expect(hostile.connections()).toBeGreaterThanOrEqual(isAskedAgain ? 2 : 1));
  expect(watch.answered).toEqual([]);
  await hostile.kill();

  await using _driver = await startScriptedDriver(path, { name: DRIVER });
  await watch.untilAnswered();
  const amiss = watch.log.records.filter(({ severity }) => severity !== "info");
  expect(amiss.length).toBeLessThanOrEqual(3);
};

test.each(BREAKS_THE_CONNECTION)("a driver that %s is asked again, and named once it is fixed", isOurs);
test.each(ANSWERS_WRONGLY)(
  "a driver that answers with %s is asked again, and named once it is fixed",
  isOurs,
);
