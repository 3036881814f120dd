import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A socket that leads to another one, over a line that carries what comes back in pieces of one byte. */
export async function startSlowLine(path: string, target: string) {
  let pieces = 0;
  async function* byteByByte(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      for (const byte of chunk) {
        pieces += 1;
        yield Buffer.of(byte);
        await nextTurn();
      }
    }
  }
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    const upstream = connect(target);
    pipeline(client, upstream, () => {});
    pipeline(upstream, byteByByte, client, () => {});
  });
  server.listen(path);
  await once(server, "listening");
  return {
    pieces: () => pieces,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
