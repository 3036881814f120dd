import { once } from "node:events";
import { createServer } from "node:net";
import type { Readable } from "node:stream";
import { Metadata, type MethodDefinition, Server, type ServiceError } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { parse } from "protobufjs";
import { checkServices } from "../../src/grpc/added-services";
import { createUnixClient } from "../../src/grpc/client/unary";
import { guardHandlers } from "../../src/grpc/guard-handlers";
import { createGrpcServer, hardenServer } from "../../src/grpc/server";
import { recordLog } from "../support/recorded-log";
import { createTempFolder } from "../support/temp-folder";

const PROTO = `syntax = "proto3"; package x;
  message Message { int32 a = 1; string volume = 2; bool is_hidden = 3; bool no = 4; int32 other = 5; int32 metadata = 6; bool cancelled = 7; }
  service Y {
    rpc Ask(Message) returns (Message); rpc Collect(stream Message) returns (Message);
    rpc List(Message) returns (stream Message); rpc Chat(stream Message) returns (stream Message);
  }`;
const methods = fromJSON(parse(PROTO).root.toJSON())["x.Y"] as Record<string, unknown>;
const methodOf = (name: string) => methods[name] as MethodDefinition<unknown, unknown>;
export const ask = methodOf("Ask");
export const collect = methodOf("Collect");
export const list = methodOf("List");
export const chat = methodOf("Chat");

const SERVICE = { ask, collect, list, chat };

export function later<Value>() {
  const parts: { resolve?: (value: Value) => void } = {};
  const promise = new Promise<Value>((resolve) => Object.assign(parts, { resolve }));
  return { promise, resolve: (value: Value) => parts.resolve?.(value) };
}

export type Callback = (error: unknown, value?: unknown, trailer?: unknown) => void;
export type Handler = (call: unknown, callback: Callback) => unknown;

/** Serves handlers as `serveCsiDriver` does, with a client, and the log. */
export async function serveHandlers(
  handlers: Record<string, Handler>,
  options = {},
  { service = {}, ...watching }: { readonly service?: object; readonly unansweredAfterMs?: number } = {},
) {
  const log = recordLog();
  const folder = await createTempFolder();
  const grpc = hardenServer(new Server(options), { log: log.logger });
  const known = checkServices(grpc);
  guardHandlers(grpc, { log: log.logger, isCut: () => driver.isCut, ...known, ...watching });
  grpc.addService({ ...SERVICE, ...service } as never, handlers as never);
  const driver = createGrpcServer({ newServer: () => grpc, log: log.logger });
  const path = folder.at("s");
  const listener = createServer((socket) => driver.accept(socket)).listen(path);
  await once(listener, "listening");
  const client = createUnixClient(path);
  // So that a deadline counts from a call that arrives.
  await new Promise((resolve) => client.waitForReady(Number.POSITIVE_INFINITY, resolve));
  const call = (
    given: { deadline?: number; metadata?: Metadata; request?: object; codec?: Partial<typeof ask> } = {},
  ) => {
    const { requestSerialize, responseDeserialize } = { ...ask, ...given.codec };
    const seen: { initial?: Metadata; trailing?: Metadata } = {};
    const { promise, resolve } = later<[code: number, answer: unknown]>();
    const started = client.makeUnaryRequest(
      ask.path,
      requestSerialize,
      responseDeserialize,
      given.request ?? {},
      given.metadata ?? new Metadata(),
      { deadline: given.deadline ?? Number.POSITIVE_INFINITY },
      (error: ServiceError | null, answer) => resolve(error ? [error.code, error.details] : [0, answer]),
    );
    started.on("metadata", (metadata) => Object.assign(seen, { initial: metadata }));
    started.on("status", ({ metadata }) => Object.assign(seen, { trailing: metadata }));
    return { answered: promise, cancel: () => started.cancel(), seen };
  };
  const stream = (method: "list" | "chat", requests: readonly object[] = [{}], options = {}, codec = {}) => {
    const { path: name, requestSerialize, responseDeserialize } = { ...{ list, chat }[method], ...codec };
    if (method === "list")
      return outcomeOf(
        client.makeServerStreamRequest(name, requestSerialize, responseDeserialize, requests[0], options),
      );
    const both = client.makeBidiStreamRequest(name, requestSerialize, responseDeserialize, options);
    for (const request of requests) both.write(request);
    both.end();
    return outcomeOf(both);
  };
  /** A stream that its client may leave. */
  const left = (metadata: Metadata) => {
    const { path: name, requestSerialize, responseDeserialize } = list;
    const answers = client.makeServerStreamRequest(name, requestSerialize, responseDeserialize, {}, metadata);
    answers.on("error", () => {});
    return { cancel: () => answers.cancel() };
  };
  /** What the log has above info. */
  const problems = () =>
    log.records.filter(({ severity }) => severity !== "info").map(({ message }) => message);
  return {
    ...{ log, path, client, call, driver, stream, left, problems },
    [Symbol.asyncDispose]: async () => {
      client.close();
      listener.close();
      await driver.close({ graceMs: 0 });
      grpc.forceShutdown();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function outcomeOf(answers: Readable): Promise<unknown> {
  try {
    return [0, await answers.toArray()];
  } catch (error) {
    return [(error as ServiceError).code, (error as ServiceError).details];
  }
}

export const FAILED = "A handler failed";
export const BAD = "Cannot encode a handler's answer";
export const NOT_ANSWERED = "A call ended before it was answered";
export const NOTHING = "A handler answered nothing, and its message has fields: it is sent empty";
export const bug = () => new TypeError("Cannot read properties of undefined");
export const raise = (error: unknown): never => {
  throw error;
};
