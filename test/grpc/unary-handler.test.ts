import { EventEmitter } from "node:events";
import { Metadata, status } from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { type CallContext, unaryHandler } from "../../src/grpc/handlers";
import { protos } from "../../src/grpc/protos";
import { INFO, serveGrpc } from "./served-grpc";

test("unaryHandler answers a call whose metadata is sent twice on any server", async () => {
  const sendTwice = ({ sendMetadata }: CallContext) => {
    for (const first of ["1", "2"]) sendMetadata({ first });
    return INFO;
  };
  await using served = await serveGrpc({ getInfo: sendTwice });
  const client = createUnixClient(served.path);
  const called = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: 60_000 });
  expect(await called).toMatchObject(INFO);
  client.close();
});

test.each<[unknown, string]>([
  ["text", '"text"'],
  [new Metadata(), "an instance of Metadata"],
])("unaryHandler fails a call whose answer is no message on any server: %p", async (answer, shown) => {
  await using served = await serveGrpc({ getInfo: () => answer as never });
  const client = createUnixClient(served.path);
  const called = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: 60_000 });
  const details = expect.stringMatching(`the handler answered ${shown}.*; it takes a plain object`);
  await expect(called).rejects.toMatchObject({ code: status.INTERNAL, details });
  client.close();
});

test.each<[unknown, string]>([
  [{}, "an object; it takes a function"],
  [unaryHandler(() => ({})), "what unaryHandler returned; give that to addService as it is"],
])("unaryHandler refuses what is not a function of a request", (given, text) => {
  const message = `unaryHandler is given ${text}`;
  expect(() => unaryHandler(given as never)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message }),
  );
});

test("unaryHandler ends no process when its answer cannot be given any more", async () => {
  const answer = jest.fn(() => {
    throw new Error("the client is gone");
  });
  const call = Object.assign(new EventEmitter(), { request: {}, getDeadline: () => 0, getPeer: () => "" });
  unaryHandler(() => ({}))(call as never, answer);
  await new Promise(setImmediate); // An unhandled rejection would fail this test.
  expect(answer).toHaveBeenCalledTimes(1);
});
