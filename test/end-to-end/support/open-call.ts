import { connectRaw } from "../../grpc/served-grpc";
import { frame, getInfoCall, HELLO, PING } from "../../grpc/wire";

/** What follows the head of the call: the DATA frame of an empty message. */
const REST_BYTES = 14;

/** Begins a GetInfo call and leaves it running; resolves when the server has its head, and waits for the request. */
export async function openCall(socketPath: string) {
  const client = connectRaw(socketPath);
  const call = getInfoCall(1, "localhost");
  client.socket.write(
    Buffer.concat([HELLO, call.subarray(0, -REST_BYTES), frame(PING, 0, 0, Buffer.alloc(8))]),
  );
  await client.until(() => client.frames.some(({ type }) => type === PING));
  return {
    /** Sends the request; resolves with the gRPC status of the answer. */
    finish: () => {
      client.socket.write(call.subarray(-REST_BYTES));
      return client.statusOf(1);
    },
    close: () => client.socket.destroy(),
  };
}
