import { types } from "node:util";
import { Metadata, type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from "@grpc/grpc-js";
import { attempt, invalidOption, messageOf } from "../base/errors";
import { propertyNames } from "../base/property-names";
import { isObject, show } from "../options/option-kinds";
import type { MessageType } from "./descriptors";
import { statusCodeOf } from "./status";

/** What a handler knows of its call besides the request. */
export interface CallContext {
  /** What the client sent. Several values of one key arrive as one, joined by ", "; those of a `-bin` key as one buffer each. */
  readonly metadata: Metadata;
  /** Added to the status that ends the call; an error's own `metadata`, Metadata or an object with a text a key, replaces it. */
  readonly trailingMetadata: Metadata;
  /** When the client gives up, in milliseconds since 1970; Infinity without a deadline. */
  readonly deadlineAtMs: number;
  /** The client's address in grpc-js' words, which are `unknown` on a unix socket. */
  readonly peer: string;
  /** Aborted when the client cancels the call, its deadline passes, or its connection ends, while the call runs. */
  readonly signal: AbortSignal;
  /** Sends initial metadata, at once; without it, empty metadata precedes the answer. The second time is ignored. Throws INVALID_OPTION for anything else. */
  sendMetadata(metadata: Metadata | Readonly<Record<string, string>>): void;
}

/** A unary handler of grpc-js' server: what `unaryHandler` returns. */
export interface UnaryHandler<Request, Response> {
  /** Called by grpc-js with the call and where to answer it. */
  // biome-ignore lint/style/useShorthandFunctionType: a caller's declarations would spell it out with grpc-js' names.
  (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void;
}

/** The compiler shows it to who forgot a return. An alias, so that a caller's declarations need no name of it. */
type AReturnIsMissing = { readonly aReturnIsMissing: true };

/**
 * What a function answers that returns `Response`. One that returns nothing has no field in common with a message that has some, which
 * the compiler refuses where all fields are optional, too: a return is missing.
 */
type AnswerOf<Response> = [Response] extends [never]
  ? never
  : [Exclude<Response, void>] extends [never]
    ? AReturnIsMissing
    : Response extends void
      ? Record<never, never>
      : Response;

/** The most characters of a status text: it is sent as a header, and peers silently drop headers over their limit. */
export const MAX_STATUS_TEXT_LENGTH = 1_000;

/** On what `unaryHandler` returns, the function that it was made of. */
const MADE_OF = Symbol("made by unaryHandler");

/** The function in a handler that `unaryHandler` made; undefined for any other handler. */
export const functionIn = (handler: unknown): ((...given: never[]) => unknown) | undefined =>
  Object(handler)[MADE_OF];

/** On a callback that judges its answers itself: it knows what its method answers. */
export const JUDGES = Symbol("judges answers");

/** In a status, the error that it was made of. */
const THROWN = Symbol("thrown");

/** What a handler answers that failed: the gRPC status that the error has, else `otherwise` with its text. */
export function errorStatus(error: unknown, otherwise = status.INTERNAL) {
  const code = statusCodeOf(error);
  const { metadata } = Object(error) as Partial<ServiceError>;
  const text = statusTextOf(error, otherwise);
  const headers = metadataOf(metadata);
  return {
    code: code ?? otherwise,
    // Through a buffer, because a header cannot contain half of a surrogate pair.
    details: Buffer.from(text.slice(0, MAX_STATUS_TEXT_LENGTH)).toString(),
    ...(headers && { metadata: headers }),
    [THROWN]: thrownIn(error),
  };
}

/** An error, or, if a getter of it throws, one that says so. */
export const readableError = (error: unknown): unknown =>
  attempt(() => errorStatus(error))
    ? error
    : new TypeError("the handler failed with an error that cannot be read");

/** An error's whole status text, which may be longer than what is sent. */
export function statusTextOf(error: unknown, otherwise = status.INTERNAL): string {
  const code = statusCodeOf(error);
  const { details, message } = Object(error) as Partial<ServiceError>;
  const isBare = Object(error) === error && message === undefined;
  const hasDetails = typeof details === "string" && (isBare || code !== undefined);
  return hasDetails ? details : messageOf(isBare ? status[code ?? otherwise] : error);
}

/** The error that a status was made of. */
export const thrownIn = (error: unknown): unknown =>
  Object(error) === error && THROWN in Object(error) ? Object(error)[THROWN] : error;

/** Metadata, also of a plain object with a value a key; undefined for anything else, for which grpc-js would throw too late. */
export function metadataOf(given: unknown): Metadata | undefined {
  if (typeof Object(given).toHttp2Headers === "function") return given as Metadata;
  const isUsable = isObject(given) && unsendableIn(given) === undefined;
  return isUsable ? Metadata.fromHttp2Headers({ ...given }) : undefined;
}

/** The first entry that grpc-js would not send: it drops it, and prints a line. */
const unsendableIn = (headers: object): readonly [string, unknown] | undefined =>
  Object.entries(headers).find(
    ([key, values]) => values !== undefined && ![values].flat().every((value) => isSendable(key, value)),
  );

function isSendable(key: string, value: unknown): boolean {
  if (typeof value !== "string") return false;
  const sent = key.toLowerCase().endsWith("-bin") ? Buffer.from(value, "base64") : value;
  const isAdded = () => {
    new Metadata().add(key, sent);
    return !key.startsWith(":");
  };
  return attempt(isAdded) ?? false;
}

/** Makes a function that sends initial metadata once: grpc-js ignores it the second time. Throws INVALID_OPTION. */
export function sendOnce(send: (metadata: Metadata) => void, onSecond: () => void): (given: unknown) => void {
  let isSent = false;
  return (given) => {
    const metadata = initialMetadata(given);
    if (isSent) return onSecond();
    isSent = true;
    send(metadata);
  };
}

/** Initial metadata. grpc-js would throw for anything else, and then never end the call. Throws INVALID_OPTION. */
function initialMetadata(given: unknown): Metadata {
  const metadata = given === undefined ? new Metadata() : metadataOf(given);
  if (metadata !== undefined) return metadata;
  const entry = isObject(given) ? unsendableIn(given) : undefined;
  if (entry === undefined)
    throw invalidOption(
      `sendMetadata is given ${show(given)}; it takes Metadata, or an object with a text a key`,
    );
  const [key, value] = entry;
  throw invalidOption(
    `sendMetadata is given ${show(value)} as ${show(key)}; a key takes letters, digits, "_", "-" and ".", a value is a text of printable ASCII`,
  );
}

/**
 * Makes a handler for grpc-js' server of a function that returns the answer, or its promise; undefined and null are the empty
 * answer. An error that it throws becomes the status of the call: its `code` if that is gRPC's (a number), `details` and
 * `metadata`, else INTERNAL with its text. Throws INVALID_OPTION if `handle` is not a function, or made by this.
 */
export function unaryHandler<Request, Response>(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
): UnaryHandler<Request, AnswerOf<Response>> {
  if (typeof handle !== "function")
    throw invalidOption(`unaryHandler is given ${show(handle)}; it takes a function`);
  if (functionIn(handle))
    throw invalidOption("unaryHandler is given what unaryHandler returned; give that to addService as it is");
  const handler: UnaryHandler<Request, unknown> = (call, callback) => {
    if (typeof callback !== "function" || !("request" in call))
      throw new TypeError("unaryHandler takes one request and gives one answer; this method has a stream");
    const gone = new AbortController();
    const abort = () => gone.abort();
    // grpc-js tells of the end of each call like that, an answered one too.
    call.once("cancelled", abort);
    const trailingMetadata = new Metadata();
    const run = async () =>
      handle(call.request, {
        metadata: call.metadata,
        trailingMetadata,
        deadlineAtMs: Number(call.getDeadline()),
        peer: call.getPeer(),
        signal: gone.signal,
        sendMetadata: (metadata) => call.sendMetadata(initialMetadata(metadata)),
      });
    const fail = (error: unknown) =>
      callback({ metadata: trailingMetadata, ...errorStatus(readableError(error)) });
    run()
      .finally(() => call.off("cancelled", abort))
      .then((response) => {
        if (JUDGES in callback) return callback(null, response, trailingMetadata);
        const fault = faultOf(response);
        if (fault) fail(fault);
        else callback(null, response ?? {}, trailingMetadata);
      }, fail)
      .catch(() => {}); // The client is gone.
  };
  return Object.assign(handler as UnaryHandler<Request, never>, { [MADE_OF]: handle });
}

/**
 * What is wrong with an answer, for which protobuf would send an empty message; undefined if it is a message, or `type` is null: its
 * serializer is another's. An Error that was answered becomes the status that it would have been when thrown.
 */
export function faultOf(answer: unknown, type?: MessageType | null): object | undefined {
  if (types.isNativeError(answer) || answer instanceof Error) {
    const text = `the handler answered an instance of ${Object(answer.constructor).name}; throw it instead`;
    return { ...errorStatus(answer), [THROWN]: new TypeError(text, { cause: answer }) };
  }
  // Bytes are an answer of another serializer.
  const isReadable = isMessage(answer ?? {}) && !(type && ArrayBuffer.isView(answer));
  if (type === null || isReadable || isOfAuthor(answer, type)) return undefined;
  const { name } = Object(Object(answer).constructor);
  const isClass = typeof answer === "object" && !Array.isArray(answer) && typeof name === "string";
  const fields = isObject(answer) ? fieldNames(answer).join(", ") : "";
  const what = isClass ? `an instance of ${name || "an anonymous class"}` : show(answer);
  const lacks = fields === "" ? "" : `, and its message has no ${fields}`;
  const takes = "it takes a plain object, {} for an empty answer";
  return new TypeError(`the handler answered ${what}${lacks}; ${takes}`);
}

/** Whether it is an instance of an author's class that has a field of its message, or any where that is unknown. */
export function isOfAuthor(answer: unknown, type: MessageType | undefined): boolean {
  if (!isObject(answer) || "toHttp2Headers" in answer) return false;
  return fieldNames(answer).some((name) => !type || type.fields.has(name) || type.oneofs.includes(name));
}

/** What protobuf would read of it. */
const fieldNames = (answer: object) =>
  propertyNames(
    answer,
    ({ get, enumerable = false, value }) => get !== undefined || (enumerable && typeof value !== "function"),
  );

/** Whether a serializer can read it: a plain object, bytes, or an instance of a class that protobuf's compilers write. */
export function isMessage(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return false;
  const prototype = Object.getPrototypeOf(answer);
  if (prototype === null || Object.getPrototypeOf(prototype) === null || ArrayBuffer.isView(answer))
    return true;
  const { serializeBinary, toBinary, constructor: made } = answer as Partial<Record<string, unknown>>;
  return [serializeBinary, toBinary, Object(made).encode].some((write) => typeof write === "function");
}
