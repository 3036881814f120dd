import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { patience } from "./process";

/** Begins a GetInfo call and leaves it running; resolves when the server has its head, and waits for the request. */
export async function openCall(socketPath: string) {
  const session = connectHttp2("http://localhost", { createConnection: () => connect({ path: socketPath }) });
  session.on("error", () => {});
  const call = session.request({
    ":method": "POST",
    ":path": "/pluginregistration.Registration/GetInfo",
    "content-type": "application/grpc",
    te: "trailers",
  });
  call.on("error", () => {});
  await once(call, "ready", patience());
  // A ping overtakes the head of a call that waits to be sent: the second one cannot.
  for (const _ of [1, 2])
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error ? reject(error) : resolve()));
    });
  return {
    /** Sends the request; resolves with the gRPC status of the answer. */
    finish: async () => {
      let status: unknown;
      // A failed call has its status in its only headers.
      for (const event of ["response", "trailers"])
        call.once(event, (headers) => {
          status ??= headers["grpc-status"];
        });
      call.resume().end(Buffer.alloc(5)); // one gRPC frame: not compressed, no bytes
      await once(call, "close", patience());
      return String(status);
    },
    close: () => session.destroy(),
  };
}
