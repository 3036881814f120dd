import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { resolveOptions } from "../../src/registrar/model/library-options";
import type { StateName } from "../../src/registrar/model/state";
import { startDriverRegistration } from "../../src/registrar/start-driver-registration";
import { startRegistrar } from "../../src/registrar/start-registrar";
import { connectRaw } from "../grpc/served-grpc";
import { frame, GOAWAY, getInfoCall, HELLO, PING, RAW_PATH } from "../grpc/wire";
import { dialRegistration, registerOnce } from "../support/dial-registration";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import {
  createTestNode,
  startListening,
  startTestRegistrar,
  type TestRegistrar,
} from "../support/registrar-node";
import { expectNothingLeft } from "../support/resources";
import { type Answer, startScriptedDriver } from "../support/scripted-driver";

const node = eachTest(createTestNode);

const name = "x.csi";
/** The last frame of a GetInfo call, which has an empty message. */
const DATA_HEADER_BYTES = 9;
const MESSAGE_BYTES = 5;
const socketName = `${name}-reg.sock`;
const socketPath = () => node.socketPath(name);
const files = () => readdirSync(node.pluginRegistrationPath);

/** A moment in a registrar's life at which it may be closed. */
interface Moment {
  /** What the driver answers, its name by default; none: there is no driver. */
  readonly answers?: readonly Answer[];
  readonly found?: () => Promise<void>;
  readonly arrive: (started: TestRegistrar) => Promise<unknown>;
  /** What is left in the folder, being somebody else's. */
  readonly remains?: readonly string[];
}

/** Living sockets of others at our path, which outlive the registrar. */
const peers: AsyncDisposable[] = [];
const startPeer = async () => void peers.push(await startForeignSocket(socketPath()));

const MOMENTS: Readonly<Record<string, Moment>> = {
  "waiting for the driver": { answers: [], arrive: ({ state }) => state("waiting") },
  "asking the driver": { answers: ["hang"], arrive: ({ log }) => log.when("GRPC call") },
  "asking a driver again soon": {
    answers: [{ code: status.INTERNAL }],
    arrive: ({ log }) => log.when("Error retreiving CSI driver name"),
  },
  "asking a driver again later": {
    answers: [{ code: status.PERMISSION_DENIED }],
    arrive: ({ log }) => log.when("Error retreiving CSI driver name"),
  },
  "about to publish over a dead socket": {
    found: () => leaveDeadSocket(socketPath()),
    arrive: () => eventually(() => expect(files()).toHaveLength(2)),
    remains: [socketName],
  },
  "about to publish over a living socket": {
    found: startPeer,
    arrive: () => eventually(() => expect(files()).toHaveLength(2)),
    remains: [socketName],
  },
  listening: { arrive: ({ state }) => state("listening") },
  asked: {
    arrive: async ({ state }) => {
      await state("listening");
      using kubelet = dialRegistration(socketPath());
      await kubelet.getInfo();
      await state("asked");
    },
  },
  registered: {
    arrive: async ({ state, accept }) => {
      await state("listening");
      await accept();
    },
  },
  "refused, before it tries again": {
    arrive: async ({ state, refuse }) => {
      await state("listening");
      await refuse("no");
    },
  },
  "standing by for a peer": {
    arrive: async ({ state, log }) => {
      await state("listening");
      await startPeer();
      await log.when("Standing by for the registrar that holds the socket");
    },
    remains: [socketName],
  },
};

/** Nothing of gRPC goes on then: not even a call's cancellation. */
async function closeUnderFakeTimers({ registrar }: TestRegistrar): Promise<void> {
  jest.useFakeTimers();
  await registrar.close();
  jest.useRealTimers();
}
afterEach(() => void jest.useRealTimers());

describe.each(Object.entries(MOMENTS))("closed when %s", (_when, moment) => {
  test.each<[string, (started: TestRegistrar, stop: AbortController) => unknown]>([
    ["by close()", ({ registrar }) => void registrar.close()],
    ["by its signal", (_started, stop) => stop.abort()],
    ["by the end of its scope", (started) => void started[Symbol.asyncDispose]()],
    ["under fake timers", closeUnderFakeTimers],
  ])("%s, leaves nothing of its own", (_how, end) =>
    expectNothingLeft(async () => {
      const { answers = [{ name }] } = moment;
      await using _driver = await (answers.length > 0
        ? startScriptedDriver(node.csiAddress, ...answers)
        : undefined);
      await moment.found?.();
      const stop = new AbortController();
      const started = await startTestRegistrar(node, { onRegistrationFailure: "retry" }, stop.signal);
      await moment.arrive(started);

      await end(started, stop);

      expect(await started.registrar.closed).toEqual({ kind: "stopped" });
      expect(started.registrar.close()).toBe(started.registrar.closed);
      expect(files()).toEqual(moment.remains ?? []);
      expect(started.registrar.status().state).toBe("stopped");
      for (const message of ["Failed to listen on socket", "Lost connection"])
        expect(started.log.all(message)).toEqual([]);
      for (const peer of peers.splice(0)) await peer[Symbol.asyncDispose]();
    }),
  );
});

test("a call that runs at close() is answered", async () => {
  await using started = await startListening(node);
  using kubelet = connectRaw(socketPath());
  const call = getInfoCall(1, RAW_PATH);
  const message = DATA_HEADER_BYTES + MESSAGE_BYTES;
  const ping = frame(PING, 0, 0, Buffer.alloc(8));
  kubelet.socket.write(Buffer.concat([HELLO, call.subarray(0, -message), ping]));
  await kubelet.until(() => kubelet.frames.some(({ type }) => type === PING));
  // The two seconds of grace may pass on a busy machine.
  const { setTimeout: start } = globalThis;
  jest
    .spyOn(globalThis, "setTimeout")
    .mockImplementation((end, ms) => start(end, ms === 2_000 ? 60_000 : ms));
  const closing = started.registrar.close();
  await kubelet.until(() => kubelet.frames.some(({ type }) => type === GOAWAY));
  // Who would cut it off at once has set a timer before this one.
  await delay(5);
  kubelet.socket.write(call.subarray(-message));
  // UNAVAILABLE: the socket is withdrawn, and kubelet should not register the driver by it.
  expect(await kubelet.statusOf(1)).toBe(`${status.UNAVAILABLE}`);
  expect(await closing).toEqual({ kind: "stopped" });
  jest.restoreAllMocks();
});

test.each<StateName>(["publishing", "listening", "asked", "registered", "stopping"])(
  "may be closed by a listener that hears of state %s",
  (state) =>
    expectNothingLeft(async () => {
      await using _driver = await startScriptedDriver(node.csiAddress, { name });
      const { registrar } = await startTestRegistrar(node);
      registrar.subscribe((event) => {
        if (event.kind === "published") registerOnce(socketPath()).catch(() => {});
        if (event.kind === "state-changed" && event.change.to === "registered") void registrar.close();
        if (event.kind === "state-changed" && event.change.to === state) void registrar.close();
      });
      expect(await registrar.closed).toEqual({ kind: "stopped" });
      expect(files()).toEqual([]);
      expect(registrar.status().history.at(-1)).toMatchObject({ from: "stopping", to: "stopped" });
    }),
);

test.each(["rel/csi.sock", "tcp://csi:9", `/${"a".repeat(200)}`, "/csi\0.sock"])(
  "the endpoint %j, which no kubelet finds, is refused, except from the sidecar's flags",
  async (endpoint) => {
    const options = { ...node.options, endpoint };
    await expect(startRegistrar(options)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/^startRegistrar: endpoint (is|has 201 bytes)/),
    });
    const { signal, logger: log, ...resolved } = resolveOptions(node.options);
    const sidecar = startDriverRegistration({ ...resolved, endpoint }, { signal, log });
    expect(sidecar.endpoint).toBe(endpoint);
    await sidecar.close();
  },
);
