import { status } from "@grpc/grpc-js";
import { encodeLiterals, NO_TABLE } from "../hpack/encoder";
import type { HeaderField } from "../hpack/static-table";
import { encodeFrame, encodeNumberFrame, FrameFlag, FrameType, Http2Error } from "../http2/frames";
import { refuse } from "../http2/protocol-violation";
import type { GrpcServerLimits } from "./limits";
import { parseCallHead, type RequestMetadata } from "./request-fields";
import { createSendWindows } from "./send-windows";
import { answerOf, type CallFailure, type ServedMethod } from "./unary-handler";
import { createUnaryRequest, type UnaryRequest, withMessagePrefix } from "./unary-request";

export interface Serving {
  readonly limits: GrpcServerLimits;
  readonly methods: ReadonlyMap<string, ServedMethod>;
  readonly unfinishedOfAll: () => number;
}

interface ServerCallsOptions extends Serving {
  readonly listenerGone: AbortSignal | undefined;
  readonly write: (frame: Buffer) => void;
  /** Called after each answer, unless the client has given the call up. */
  readonly onAnswer: () => void;
  /** Called when no call is running any more. */
  readonly onIdle: () => void;
}

/** Bytes of unfinished requests that each connection may always have: kubelet's have a few hundred. */
const SMALL_BYTES = 65_536;

/** Received bytes after which a client gets a WINDOW_UPDATE for its connection. */
const WINDOW_UPDATE_BYTES = 16_384;

interface Call {
  readonly method: ServedMethod;
  readonly metadata: RequestMetadata;
  readonly request: UnaryRequest;
  readonly peerGone: AbortController;
  requestEnded: boolean;
}

/**
 * The calls of one client's connection: takes what its frames say, and writes the answers. Each function throws `PROTOCOL`
 * for a frame that HTTP/2 forbids or a unary call cannot contain.
 */
export function createServerCalls(options: ServerCallsOptions) {
  const { limits, methods, unfinishedOfAll, listenerGone, write, onAnswer, onIdle } = options;
  const running = new Map<number, Call>();
  const windows = createSendWindows(write);
  let newestStream = 0;
  let everCalled = false;
  let isClosed = false;
  let received = 0;
  /** The first block says that we use no table: a client that lowered its table's size requires that (RFC 7541, 4.2). */
  let announcement: readonly Buffer[] = [NO_TABLE];

  function writeHeaders(streamId: number, flags: number, fields: readonly HeaderField[]): void {
    const block = Buffer.concat([...announcement, encodeLiterals(fields)]);
    announcement = [];
    write(encodeFrame(FrameType.HEADERS, flags | FrameFlag.END_HEADERS, streamId, block));
  }

  const reset = (streamId: number, code: number) =>
    write(encodeNumberFrame(FrameType.RST_STREAM, streamId, code));

  function forget(streamId: number): void {
    running.delete(streamId);
    windows.close(streamId);
    if (running.size === 0) onIdle();
  }

  function finish(streamId: number, requestEnded: boolean, trailers: readonly HeaderField[]): void {
    writeHeaders(streamId, FrameFlag.END_STREAM, trailers);
    // The client need not send the rest (RFC 9113, section 8.1).
    if (!requestEnded) reset(streamId, Http2Error.NO_ERROR);
    onAnswer();
    forget(streamId);
  }

  function fail(streamId: number, requestEnded: boolean, { code, details }: CallFailure): void {
    finish(streamId, requestEnded, [
      ...RESPONSE_HEAD,
      ["grpc-status", `${code}`],
      ["grpc-message", encodeURI(details)],
    ]);
  }

  async function run(streamId: number, call: Call, message: Buffer): Promise<void> {
    everCalled = true;
    const metadata: HeaderField[] = [];
    const answer = await answerOf(call.method, message, {
      metadata: call.metadata,
      peerGone: call.peerGone.signal,
      listenerGone,
      sendMetadata: (values) => void metadata.push(...Object.entries(values)),
    });
    if (running.get(streamId) !== call) return;
    if (!Buffer.isBuffer(answer)) {
      fail(streamId, true, answer);
      return;
    }
    writeHeaders(streamId, 0, [...RESPONSE_HEAD, ...metadata]);
    windows.send(streamId, withMessagePrefix(answer), () =>
      finish(streamId, true, [["grpc-status", `${status.OK}`]]),
    );
  }

  function endRequest(streamId: number): void {
    const call = running.get(streamId);
    if (call === undefined || call.requestEnded) return;
    call.requestEnded = true;
    const message = call.request.end();
    if (Buffer.isBuffer(message))
      run(streamId, call, message).catch(() => reset(streamId, Http2Error.REFUSED_STREAM));
    else fail(streamId, true, message);
  }

  function begin(streamId: number, fields: readonly HeaderField[], endsRequest: boolean): void {
    newestStream = streamId;
    const head = parseCallHead(fields);
    const method = head && methods.get(head.path);
    if (head === undefined) {
      reset(streamId, Http2Error.PROTOCOL_ERROR);
    } else if (isClosed || running.size >= limits.maxConcurrentStreams) {
      reset(streamId, Http2Error.REFUSED_STREAM);
    } else if (method === undefined) {
      fail(streamId, endsRequest, NOT_SERVED);
    } else {
      const request = createUnaryRequest(limits.maxMessageBytes);
      const call = { method, metadata: head.metadata, request, peerGone: new AbortController() };
      running.set(streamId, { ...call, requestEnded: false });
      windows.open(streamId);
      if (endsRequest) endRequest(streamId);
    }
  }

  const unfinishedBytes = () =>
    [...running.values()].reduce((sum, call) => sum + (call.requestEnded ? 0 : call.request.bytes()), 0);

  /** A client's frame may name a stream that has ended, but not one that never began. */
  const mustHaveBegun = (streamId: number, what: string) => {
    if (streamId === 0 || streamId > newestStream) refuse(`${what} of no call`);
  };

  return {
    /** Whether a whole request for a served method ever arrived. */
    everCalled: () => everCalled,
    running: () => running.size,
    unfinishedBytes,
    newestStream: () => newestStream,
    isRunning: (streamId: number): boolean => running.has(streamId),

    /** A whole header block: the head of a call, or trailers, also of a call that has ended. */
    headers(streamId: number, fields: readonly HeaderField[], endsRequest: boolean): void {
      if (streamId % 2 === 0) refuse(`a call on stream ${streamId}`);
      if (streamId > newestStream) {
        begin(streamId, fields, endsRequest);
        return;
      }
      if (running.get(streamId)?.requestEnded === false && !endsRequest)
        refuse("a second header block in a call");
      endRequest(streamId);
    },

    /** A DATA frame begins; `content` and `end` follow. */
    data(streamId: number, length: number): void {
      mustHaveBegun(streamId, "DATA");
      received += length;
      if (received >= WINDOW_UPDATE_BYTES) {
        write(encodeNumberFrame(FrameType.WINDOW_UPDATE, 0, received));
        received = 0;
      }
      running.get(streamId)?.request.frame(length);
    },

    content(streamId: number, piece: Buffer): void {
      const call = running.get(streamId);
      if (call === undefined || call.requestEnded) return;
      const failure = call.request.content(piece);
      if (failure !== undefined) fail(streamId, false, failure);
      else if (unfinishedBytes() > SMALL_BYTES && unfinishedOfAll() > limits.maxMessageBytes)
        fail(streamId, false, TOO_MUCH);
    },

    end: endRequest,

    reset(streamId: number): void {
      mustHaveBegun(streamId, "RST_STREAM");
      const call = running.get(streamId);
      if (call === undefined) return;
      forget(streamId);
      call.peerGone.abort();
    },

    grow(streamId: number, increment: number): void {
      if (streamId !== 0) mustHaveBegun(streamId, "WINDOW_UPDATE");
      windows.grow(streamId, increment);
    },

    resize: windows.resize,

    close(): void {
      isClosed = true;
    },

    abort(): void {
      isClosed = true;
      for (const { peerGone } of running.values()) peerGone.abort();
      running.clear();
    },
  };
}

const RESPONSE_HEAD: readonly HeaderField[] = [
  [":status", "200"],
  ["content-type", "application/grpc"],
];

const NOT_SERVED: CallFailure = {
  code: status.UNIMPLEMENTED,
  details: "there is no such method on this socket",
};

const TOO_MUCH: CallFailure = {
  code: status.RESOURCE_EXHAUSTED,
  details: "too many bytes of unfinished requests",
};
