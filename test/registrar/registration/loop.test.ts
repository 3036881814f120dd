import { basename, join } from "node:path";
import { createInbox } from "../../../src/registrar/model/inbox";
import { refusedFor } from "../../../src/registrar/model/outcome";
import { type LoopEvent, type RegistrationState, stateNameOf } from "../../../src/registrar/model/state";
import type { RegistrationContext } from "../../../src/registrar/registration/context";
import { createKubeletClients } from "../../../src/registrar/registration/kubelet-clients";
import { runLoop } from "../../../src/registrar/registration/loop";
import { startFakeRegistrar } from "../../simulator/fake-registrar";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";
import { createTempFolder } from "../../support/temp-folder";

type Socket = RegistrationContext["socket"];

/** A registration whose socket does what the test says, and the way that it goes. */
async function startLoop(socket: Partial<Socket>) {
  const folder = await createTempFolder();
  const inbox = createInbox<LoopEvent>();
  const log = recordLog();
  const way: string[] = [];
  const context = {
    options: {
      endpoint: "/host/csi.sock",
      pluginRegistrationPath: folder.path,
      onRegistrationFailure: "end",
      type: "CSIPlugin",
      timeoutMs: 1_000,
    },
    log: log.logger,
    socket: {
      path: undefined,
      look: async () => "ours",
      withdraw: async () => {},
      close: () => {},
      ...socket,
    },
    server: { connections: {}, close: async () => {} },
    kubelet: createKubeletClients(),
  } as unknown as RegistrationContext;
  const published: string[] = [];
  const onTransition = (next: RegistrationState, event: LoopEvent) => {
    way.push(`${event.kind} ${stateNameOf(next)}`);
    if (event.kind === "published") published.push(basename(event.socketPath));
  };
  const ended = runLoop(context, inbox, onTransition);
  const pathOf = (driverName: string) => join(folder.path, `${driverName}-reg.sock`);
  return {
    inbox,
    log,
    way,
    published,
    ended,
    pathOf,
    [Symbol.asyncDispose]: async () => {
      inbox.put(stop);
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}

const IN_PLACE = { kind: "in-place", found: "gone" } as const;
const named = { kind: "driver-named", driverName: "x.csi" } as const;
const stop = { kind: "stop", outcome: { kind: "stopped" } } as const;

test("the work of a state ends before the next state begins", async () => {
  const steps: string[] = [];
  await using loop = await startLoop({
    publish: (_path, { signal }) =>
      new Promise((_resolve, reject) => {
        steps.push("publishing");
        signal?.addEventListener("abort", async () => {
          await new Promise(setImmediate);
          steps.push("published no more");
          reject(signal?.reason);
        });
      }),
    close: async () => void steps.push("withdrawn"),
  });
  loop.inbox.put(named);
  await eventually(() => expect(steps).toEqual(["publishing"]));
  loop.inbox.put(stop);
  expect(await loop.ended).toEqual({ kind: "stopped" });
  expect(steps).toEqual(["publishing", "published no more", "withdrawn"]);
  expect(loop.way).toEqual(["driver-named publishing", "stop stopping", "closed stopped"]);
});

test("the result of a state that was left is ignored", async () => {
  let publications = 0;
  await using loop = await startLoop({
    publish: async () => {
      publications += 1;
      // Both are there when the publication has ended: the new name counts, the socket of the old one does not.
      if (publications === 1) loop.inbox.put({ kind: "driver-renamed", driverName: "y.csi" });
      return IN_PLACE;
    },
  });
  loop.inbox.put(named);
  await eventually(() => expect(loop.way).toContain("well-placed listening"));
  loop.inbox.put(stop);
  await loop.ended;
  expect(publications).toBe(2);
  expect(loop.published).toEqual(["y.csi-reg.sock"]);
  expect(loop.way).toEqual([
    "driver-named publishing",
    "driver-renamed publishing",
    "published listening",
    "well-placed listening",
    "stop stopping",
    "closed stopped",
  ]);
});

test("the end of the look that follows a publication disturbs nothing else that is done", async () => {
  const looks: AbortSignal[] = [];
  let isInPlace = false;
  await using loop = await startLoop({
    publish: async () => {
      isInPlace = true;
      return IN_PLACE;
    },
    look: async (_path, signal) => {
      if (signal) looks.push(signal);
      return "ours";
    },
  });
  const neighbour = "x.csi-_abc";
  await using _neighbour = await startFakeRegistrar({
    socketPath: loop.pathOf(neighbour),
    info: { name: neighbour },
    before: async () => {
      if (isInPlace) await eventually(() => expect(looks.length).toBeGreaterThan(0));
    },
  });
  loop.inbox.put(named);
  await eventually(() => expect(loop.way).toContain("well-placed listening"));
  const [watching] = looks;
  expect(watching?.aborted).toBe(false);
  loop.inbox.put({ kind: "get-info" });
  await eventually(() => expect(loop.way).toContain("get-info asked"));
  expect(watching?.aborted).toBe(true);
  loop.inbox.put(stop);
  await loop.ended;
});

test("a socket that does not belong where it was put is withdrawn before it is put elsewhere", async () => {
  const steps: string[] = [];
  let other: AsyncDisposable | undefined;
  await using loop = await startLoop({
    publish: async (path) => {
      const socketPath = loop.pathOf("x.csi-_abc");
      other ??= await startFakeRegistrar({ socketPath, info: { name: "x.csi" } });
      steps.push(basename(path));
      return IN_PLACE;
    },
    withdraw: async () => void steps.push("withdrawn"),
  });
  loop.inbox.put(named);
  await eventually(() => expect(loop.way).toContain("well-placed listening"));
  expect(steps).toEqual(["x.csi-reg.sock", "withdrawn", "x.csi-_abc-reg.sock"]);
  await other?.[Symbol.asyncDispose]();
});

test("a refusal ends the registration, also if kubelet calls again first, or our socket cannot be removed", async () => {
  const withdraw = () => Promise.reject(new Error("EROFS: read-only file system"));
  await using loop = await startLoop({ publish: async () => IN_PLACE, withdraw });
  loop.inbox.put(named);
  await eventually(() => expect(loop.way).toContain("published listening"));
  for (const kind of ["get-info", "refused", "get-info"] as const) loop.inbox.put({ kind, error: "no" });
  expect(await loop.ended).toMatchObject({ kind: "refused", kubeletError: "no" });
  const end = ["get-info asked", "refused refused", "stop stopping", "closed stopped"];
  expect(loop.way.slice(-4)).toEqual(end);
});

test("an error in a state ends the registration with that error", async () => {
  const fault = new TypeError("broken");
  await using loop = await startLoop({
    publish: async () => IN_PLACE,
    look: async () => {
      throw fault;
    },
  });
  loop.inbox.put(named);
  expect(await loop.ended).toMatchObject({ kind: "failed", error: { code: "INTERNAL", cause: fault } });
  expect(loop.log.all("Registration cannot go on")).toMatchObject([
    { error: fault, fields: { state: "listening" } },
  ]);
});

test("an error in a state counts also if kubelet's next call leads out of it in that moment", async () => {
  const look = jest.fn(async () => "ours" as const).mockRejectedValueOnce(new TypeError("broken"));
  await using loop = await startLoop({ publish: async () => IN_PLACE, look });
  jest.spyOn(loop.log.logger, "error").mockImplementation(() => loop.inbox.put({ kind: "get-info" }));
  loop.inbox.put(named);
  expect(await loop.ended).toMatchObject({ kind: "failed" });
  expect(loop.way.slice(-3)).toEqual(["get-info asked", "stop stopping", "closed stopped"]);
});

test("an error of a state that has ended is no failure", async () => {
  const looks: AbortSignal[] = [];
  const look = (_path: string, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      looks.push(signal);
      signal.addEventListener("abort", () => reject(new Error("the directory is unreadable")));
    });
  await using loop = await startLoop({ publish: async () => IN_PLACE, look });
  loop.inbox.put(named);
  await eventually(() => expect(looks).toHaveLength(1));
  loop.inbox.put(stop);
  expect(await loop.ended).toEqual({ kind: "stopped" });
  expect(loop.log.all("Registration cannot go on")).toEqual([]);
});

test("a socket that cannot be removed fails a stop, and does not hide another outcome", async () => {
  const fault = Object.assign(new Error("EPERM: not permitted"), { code: "EPERM" });
  const close = () => {
    throw fault;
  };
  await using stopped = await startLoop({ close, path: "/x-reg.sock" });
  stopped.inbox.put(stop);
  expect(await stopped.ended).toMatchObject({ kind: "failed", error: { code: "SOCKET_UNUSABLE" } });
  expect(stopped.log.all("Failed to remove socket with error")).toMatchObject([
    { severity: "error", error: fault, fields: { socket: "/x-reg.sock" } },
  ]);
  await using refused = await startLoop({ close });
  refused.inbox.put({ kind: "stop", outcome: refusedFor("no") });
  expect(await refused.ended).toMatchObject({ kind: "refused", kubeletError: "no" });
});
