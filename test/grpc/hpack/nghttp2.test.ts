import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { createHpackDecoder } from "../../../src/grpc/hpack/decoder";
import type { HeaderField } from "../../../src/grpc/hpack/static-table";
import { createChunkConsumer } from "../../../src/grpc/http2/chunk-reader";
import { CLIENT_PREFACE, readFrameHeader } from "../../../src/grpc/http2/frames";
import { gatherHeaderBlock } from "../../../src/grpc/http2/header-block";
import { createTempFolder } from "../../support/temp-folder";
import { frame, HEADERS, SETTINGS } from "../wire";

/** A server that decodes header blocks and answers nothing but what the test writes. */
async function listenForHeaders() {
  const folder = await createTempFolder();
  const path = folder.at("s");
  const blocks: (readonly HeaderField[])[] = [];
  const waiting: (() => void)[] = [];
  let peer: Socket | undefined;
  const server = createServer((socket) => {
    peer = socket;
    const decode = createHpackDecoder({ maxFields: 64, maxBytes: 65_536 });
    socket.on(
      "data",
      createChunkConsumer(function* (bytes) {
        yield* bytes.exactly(CLIENT_PREFACE.length);
        for (;;) {
          const head = yield* readFrameHeader(bytes, 16_384);
          if (head.type === HEADERS) {
            blocks.push(decode((yield* gatherHeaderBlock(bytes, head, 65_536)).block));
            waiting.shift()?.();
          } else {
            yield* bytes.exactly(head.length);
          }
        }
      }),
    );
  }).listen(path);
  await once(server, "listening");
  const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
  await once(session, "connect");
  return {
    session,
    send: (bytes: Buffer) => peer?.write(bytes),
    /** The next header block that nghttp2 makes of these fields. */
    async blockOf(headers: OutgoingHttpHeaders): Promise<readonly HeaderField[]> {
      const arrived = new Promise<void>((resolve) => waiting.push(resolve));
      const request = session.request(headers).on("error", () => {});
      await arrived;
      request.close();
      return blocks.at(-1) ?? [];
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
      peer?.destroy();
      server.close();
      await once(server, "close");
      await folder[Symbol.asyncDispose]();
    },
  };
}

function settingsSeen(session: ClientHttp2Session): Promise<unknown> {
  return once(session, "remoteSettings");
}

test("every character that Node lets into a header value, in the code nghttp2 chooses for it", async () => {
  await using server = await listenForHeaders();
  const allowed = ["\t", ...Array.from({ length: 224 }, (_, i) => String.fromCharCode(32 + i))];
  for (const character of allowed.filter((one) => one !== "\x7f")) {
    // Around a rare character, forty frequent ones make the Huffman code the shorter one.
    const value = `${"a".repeat(20)}${character}${"e".repeat(20)}`;
    const fields = await server.blockOf({ ":path": "/", "x-test": value });
    expect(fields).toContainEqual(["x-test", value]);
  }
});

test("the same fields again are read from the dynamic table, and a changed table size is heard", async () => {
  await using server = await listenForHeaders();
  const headers = { ":path": "/pluginregistration.Registration/GetInfo", ":method": "POST", te: "trailers" };
  const first = await server.blockOf(headers);
  expect(first).toContainEqual(["te", "trailers"]);
  expect(await server.blockOf(headers)).toEqual(first);

  const seen = settingsSeen(server.session);
  // SETTINGS_HEADER_TABLE_SIZE 0, then 4096: the encoder has to announce both at its next block.
  server.send(Buffer.concat([frame(SETTINGS, 0, 0, Buffer.from([0, 1, 0, 0, 0, 0]))]));
  await seen;
  const seenAgain = settingsSeen(server.session);
  server.send(Buffer.concat([frame(SETTINGS, 0, 0, Buffer.from([0, 1, 0, 0, 0x10, 0]))]));
  await seenAgain;
  expect(await server.blockOf(headers)).toEqual(first);
  expect(await server.blockOf(headers)).toEqual(first);
});
