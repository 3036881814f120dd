import { EventEmitter, once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createChunkConsumer, type FrameHeader, readFrameHeader } from "../../src/grpc/guard/frames";
import { type CallContext, unaryHandler } from "../../src/grpc/handlers";
import { type PluginInfo, protos, type RegistrationStatus } from "../../src/grpc/protos";
import { createGrpcServer, createSmallServer, type GrpcServerLimits } from "../../src/grpc/server";
import { recordLog } from "../support/recorded-log";
import { createTempFolder } from "../support/temp-folder";
import { END_STREAM, HEADERS } from "./wire";

export const INFO: PluginInfo = {
  type: "CSIPlugin",
  name: "hostpath.csi.k8s.io",
  endpoint: "/var/lib/kubelet/plugins/csi-hostpath/csi.sock",
  supportedVersions: ["1.0.0"],
};

/** So long that a test which waits for it fails. */
export const LONG_MS = 600_000;

export interface ServeOptions {
  readonly limits?: Partial<GrpcServerLimits>;
  /** Answers GetInfo; says `INFO` by default. */
  readonly getInfo?: (context: CallContext) => PluginInfo | Promise<PluginInfo>;
}

/** A GetInfo that answers when the test says so. */
export function gate() {
  const door = new EventEmitter();
  const opened = once(door, "open");
  const entered = once(door, "enter").then(([context]) => context as CallContext);
  const getInfo = async (context: CallContext) => {
    door.emit("enter", context);
    await opened;
    return INFO;
  };
  return { open: () => door.emit("open"), entered, getInfo };
}

/** A gRPC server with the registration service behind a unix socket in a folder of its own. */
export async function serveGrpc({ limits, getInfo = () => INFO }: ServeOptions = {}) {
  const folder = await createTempFolder();
  const path = folder.at("s");
  const { logger, records } = recordLog();
  const notices: RegistrationStatus[] = [];
  const grpc = createGrpcServer({
    limits,
    log: logger,
    newServer: () => {
      const server = createSmallServer();
      server.addService(protos.registration, {
        GetInfo: unaryHandler((_request: object, context) => getInfo(context)),
        NotifyRegistrationStatus: unaryHandler((status: RegistrationStatus) => {
          notices.push(status);
          return {};
        }),
      });
      return server;
    },
  });
  const listener = createServer((socket) => grpc.accept(socket)).listen(path);
  await once(listener, "listening");
  return {
    path,
    server: grpc,
    listener,
    records,
    notices,
    connect(...sent: readonly Buffer[]) {
      const client = connectRaw(path);
      client.socket.write(Buffer.concat(sent));
      return client;
    },
    /** A client that has sent nothing; `accepted` is the server's end of its connection. */
    async connectNext() {
      const client = connectRaw(path);
      const [[socket]] = await Promise.all([once(listener, "connection"), once(client.socket, "connect")]);
      return { ...client, accepted: socket as Socket };
    },
    async [Symbol.asyncDispose]() {
      await grpc.close({ graceMs: 0 });
      listener.close();
      await once(listener, "close");
      await folder[Symbol.asyncDispose]();
    },
  };
}

interface ReceivedFrame extends FrameHeader {
  readonly payload: Buffer;
}

/** A client that sends what it is told to, byte for byte, and understands the answers. */
export function connectRaw(path: string) {
  const socket = connect(path);
  const frames: ReceivedFrame[] = [];
  const statuses = new Map<number, string | undefined>();
  const news = new EventEmitter();
  socket.on(
    "data",
    createChunkConsumer(function* (bytes) {
      for (;;) {
        const head = yield* readFrameHeader(bytes, 1_000_000);
        const payload = Buffer.from(yield* bytes.exactly(head.length));
        frames.push({ ...head, payload });
        if (head.type === HEADERS && head.flags & END_STREAM)
          statuses.set(head.streamId, grpcStatusIn(payload));
        news.emit("frame");
      }
    }),
  );
  socket.on("error", () => {}); // A server may cut us while we write.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo() && !socket.destroyed) await Promise.race([once(news, "frame"), closed]);
  };
  return {
    socket,
    frames,
    closed,
    /** Resolves when the frames that came make it so, or when the connection is closed. */
    until,
    /** The status with which the call on this stream ends; undefined when the connection is closed before. */
    async statusOf(streamId: number): Promise<string | undefined> {
      await until(() => statuses.has(streamId));
      return statuses.get(streamId);
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** `grpc-status` in Huffman code, and the length of its value: Node spells it out for a client without a table. */
const GRPC_STATUS = Buffer.from("889acac8b21234da8f", "hex");

function grpcStatusIn(block: Buffer): string | undefined {
  const at = block.indexOf(GRPC_STATUS) + GRPC_STATUS.length;
  return at < GRPC_STATUS.length ? undefined : block.toString("latin1", at + 1, at + 1 + (block[at] ?? 0));
}

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
