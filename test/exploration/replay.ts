import { basename } from "node:path";
import { silentLogger } from "../../src/logging/logger";
import type { Inbox } from "../../src/registrar/model/inbox";
import { resolveOptions } from "../../src/registrar/model/library-options";
import type { LoopEvent, RegistrationState } from "../../src/registrar/model/state";
import type { Registration } from "../../src/registrar/registration/registration";
import type { RegistrationCalls } from "../../src/registrar/registration/registration-service";
import type { transition as transit } from "../../src/registrar/registration/transition";
import { type PublishEnd, publishSteps, WITHDRAW_STEPS } from "../../src/unix/publish-steps";
import type { Publication, SocketFile } from "../../src/unix/socket-file";
import { explore, explored, isKubeletAtIt, type OursSide, stepsFrom } from "./explore";
import { bounded, clientsOf, end, LATER_MS } from "./ours";
import { isAtOnce, judge, oursOf, perform, replaceOwn, withdraw, withdrawBy } from "./sockets";
import { driverOf, initialWorld, isLive, type Setup, type World } from "./world";
import { keyOf } from "./world-key";

// The real registration of one driver in a world of the explorer: its loop, states and answers, between stand-ins for kubelet,
// the driver, the socket file and time. What it waits for is held until the explorer's registrar takes that step.

type Kind = "list" | "publish" | "look" | "watch" | "pause" | "explain" | "removeFile" | "stopListening";

const LOOKS: readonly Kind[] = ["watch", "look"];
/** What each step of the explorer's registrar lets go on, in this order; of several pauses the shortest. */
const LETS_GO: Readonly<Record<string, readonly Kind[]>> = {
  publishes: ["list", "publish"],
  lists: ["list"],
  looks: LOOKS,
  moves: LOOKS,
  gives: LOOKS,
  ends: ["explain"],
  tries: ["explain", "pause"],
  finds: ["look", "watch", "look", "pause", "watch", "look"],
  removes: ["removeFile"],
  stops: ["stopListening"],
};

let world: World;
let registration: Registration;
let calls: RegistrationCalls;
let answerName: (name: string) => void;
/** What waits; with false its state is left. */
let nowMs = 0;
let played: Setup;
let holds: { kind: Kind; ms: number; letGo: (isOver: boolean) => void }[] = [];
/** The real path of each socket. */
const paths = new Map<number, string>();
const own = () => oursOf(world, 0);

function hold(kind: Kind, signal?: AbortSignal, ms = 0): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const leave = () => letGo(false);
    const letGo = (isOver: boolean) => {
      holds = holds.filter((one) => one !== held);
      signal?.removeEventListener("abort", leave);
      resolve(isOver);
    };
    const held = { kind, ms, letGo };
    holds.push(held);
    signal?.addEventListener("abort", leave);
  });
}

async function letGo(kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    const [first] = holds.filter((one) => one.kind === kind).sort((one, other) => one.ms - other.ms);
    first?.letGo(true);
    if (first) await settled();
  }
}
const settled = () => new Promise<void>(setImmediate);

/** `a_1` is the first alias of `a`, and the third, as at the explorer. */
const nameIn = (path: string) =>
  basename(path, "-reg.sock").replace(/-_00(.)$/, (_, nth) => `_${(Number.parseInt(nth, 36) % 2) + 1}`);
const fileOf = (name: string) => `${name.replace(/_(.)$/, (_, nth) => `-_00${nth - 1}`)}-reg.sock`;

function publicationOf(socket: number): Publication {
  const withdrawn = {
    get aborted() {
      return own().published?.socket !== socket || own().withdrawn !== undefined;
    },
  };
  return { path: paths.get(socket) ?? "", withdrawn: withdrawn as AbortSignal };
}

const SOCKET_FILE: Partial<SocketFile> = {
  hasDirectory: async () => true,
  look: async (path) => {
    const found = () => judge(world, own(), nameIn(path));
    const { state } = own();
    if (state.kind !== "standby" || (state.reason === "socket-taken" && found() !== "taken"))
      await hold("look");
    return found();
  },
  publish: async (path, { overLiving, signal, isPlace = async () => true }) => {
    const one = own();
    const name = nameIn(path);
    const steps = publishSteps({ overLiving });
    await hold("publish", signal);
    const alias = name.includes("_") ? name : undefined;
    const publication: NonNullable<typeof one.publication> = { alias, answers: [] };
    one.publication = publication;
    try {
      let step = steps.next();
      while (!step.done) {
        signal?.throwIfAborted();
        const answer =
          step.value === "isPlace" ? await isPlace() : perform(step.value, world, 0, name, overLiving);
        publication.answers.push(answer);
        const next = steps.next(answer);
        if (!next.done && !isAtOnce(step.value, next.value, one, name)) await hold("publish", signal);
        step = next;
      }
      const { bound } = publication;
      const end = step.value as PublishEnd;
      if (bound === undefined) return end;
      paths.set(bound, path);
      if (end.kind === "in-place") replaceOwn(world, one, { path: name, socket: bound });
      else delete world.sockets[bound];
      return end;
    } finally {
      one.publication = undefined;
    }
  },
  withdraw: async () => withdraw(world, 0),
  close: async () => {
    for (const [done, step] of WITHDRAW_STEPS.entries()) {
      await hold(step);
      own().withdrawn = done + 1;
      withdrawBy(step, world, 0);
    }
  },
  hide: async () => withdraw(world, 0),
};

const nothing = () => {};
const UNANSWERED = { everCalled: () => true, everAnswered: () => false };
const [KUBELET, STRANGER] = [{ calls: UNANSWERED }, {}] as [never, never];
const WATCH = {
  wait: (signal: AbortSignal) => hold("watch", signal),
  hint: nothing,
  [Symbol.dispose]: nothing,
};
const CONNECTION = { on: nothing, off: nothing, resume: nothing, destroy: nothing };
const fileAt = (path: string) => world.files[nameIn(path)];

type DriverModule = typeof import("../../src/registrar/driver/driver");
/** What is replaced in each module. */
const STAND_INS: Readonly<Record<string, (actual: never) => object>> = {
  "../../src/base/pause": () => ({
    pause: (ms: number, signal: AbortSignal) => hold("pause", signal, ms),
  }),
  "../../src/unix/path-watch": () => ({
    watchPath: async () => WATCH,
    createKeptWatch: () => ({ at: async () => WATCH, close: nothing }),
  }),
  "../../src/unix/files": () => ({
    listNames: async () => {
      const { state, publication } = own();
      if (state.kind === "publishing" ? !publication : state.kind === "in-place") await hold("list");
      return Object.keys(world.files).map(fileOf);
    },
  }),
  "../../src/unix/unix-socket": () => ({
    connectTo: async () => CONNECTION,
    judgeSocket: async (path: string) => judge(world, { ...own(), published: undefined }, nameIn(path)),
    tryConnect: async (path: string) => (isLive(world, fileAt(path)) ? undefined : new Error("refused")),
  }),
  "../../src/unix/socket-file": () => ({ createSocketFile: () => SOCKET_FILE }),
  "../../src/unix/private-socket": () => ({ sweepDotSockets: async () => {}, randomWord: () => "000" }),
  "../../src/grpc/server": () => ({ createGrpcServer: () => ({ close: async () => {} }) }),
  "../../src/registrar/registration/kubelet-clients": () => ({
    createKubeletClients: () => ({
      isKubelet: (client: unknown) => client === KUBELET || !own().knowsKubelet,
      isLikely: (client: unknown) => client === KUBELET,
      ...{ asked: nothing, ended: nothing },
      reported: () => Object.assign(own(), { knowsKubelet: played.strangers === true }),
      get isAsking() {
        return clientsOf(world, 0, played).isAsking;
      },
      get isKnown() {
        return own().knowsKubelet;
      },
      endedAtMs: 0,
      onEnd: () => nothing,
    }),
  }),
  "../../src/registrar/registration/registration-service": () => ({
    createRegistrationService: (_options: unknown, given: RegistrationCalls) => {
      calls = given;
    },
  }),
  "../../src/registrar/registration/self-report": () => ({
    askInfo: async (path: string) => ({ type: "CSIPlugin", name: driverOf(nameIn(path)) }),
  }),
  "../../src/registrar/registration/mute-holder": () => ({ warnWhileMute: async () => {} }),
  "../../src/registrar/registration/hints": () => ({ explainRefusal: () => hold("explain").then(nothing) }),
  "../../src/registrar/registration/transition": ({ transition }: { transition: typeof transit }) => ({
    transition: (...given: Parameters<typeof transit>) => {
      const next = transition(...given);
      // Also what waits without a signal; only after a look that found nothing the others go on.
      if (next !== given[0] && given[1].kind !== "well-placed") for (const { letGo } of holds) letGo(false);
      own().state = next;
      return next;
    },
  }),
  "../../src/registrar/driver/driver": ({ nameEvent }: DriverModule) => ({
    createDriver: ({ isNodeWide }: { isNodeWide: boolean }) => ({
      follow: async (inbox: Inbox<LoopEvent>) => {
        let before: string | undefined;
        answerName = (name) => {
          if (name !== before) inbox.put(nameEvent(before, name, isNodeWide));
          before = name;
        };
      },
    }),
  }),
};
jest.resetModules();
for (const [path, standIn] of Object.entries(STAND_INS))
  jest.doMock(path, () => {
    const actual = jest.requireActual<object>(path);
    return { ...actual, ...standIn(actual as never) };
  });
const loading = import("../../src/registrar/start-driver-registration");

async function start({ ours: [policy] }: Setup): Promise<void> {
  const { startDriverRegistration } = await loading;
  const { signal, logger, ...options } = resolveOptions({ csiAddress: "/csi.sock", endpoint: "/host.sock" });
  const onRegistrationFailure = policy === "exit" ? "exit" : "retry";
  const given = { ...options, onRegistrationFailure, isNodeWide: policy === "node-wide" } as const;
  registration = startDriverRegistration(given, { log: silentLogger });
}

/** Kubelet and signals reach the real registration in its world, the explorer's in its own. */
function reaching(setup: Setup): OursSide {
  const others = explored(setup);
  return {
    getInfo: (w, id, socket, client) => {
      if (w !== world) return others.getInfo(w, id, socket, client);
      const answer = calls.answer(publicationOf(socket));
      if ("whyNot" in answer) return undefined;
      const caller = { publication: publicationOf(socket), client: client ? STRANGER : KUBELET };
      calls.onCall({ kind: "get-info" }, caller);
      return answer.name;
    },
    notify: (w, id, socket, error) => {
      if (w !== world) return others.notify(w, id, socket, error);
      const status = { registered: error === undefined, error: error ?? "" };
      const caller = { publication: publicationOf(socket), client: KUBELET };
      calls.onCall({ kind: "registration-status", ...status }, caller);
    },
    stop: (w, id) => {
      if (w !== world) return others.stop(w, id);
      registration.close().catch(nothing); // It never rejects.
    },
  };
}

/** The key of a world without what only the real registration has: other aliases, moments, errors. */
function plainKeyOf({ registrars, ...others }: World): string {
  const plain = (key: string, value: unknown) => {
    if (key === "alias" && typeof value === "string") return nameIn(value);
    if (key === "askedAtMs") return value && 0;
    return key === "outcome" ? (value as { kind: string }).kind : value;
  };
  const stateOf = (state: RegistrationState) => JSON.parse(JSON.stringify(bounded(state), plain));
  const compared = registrars.map((one) =>
    one.kind === "ours" ? { ...one, hasGuessed: undefined, state: stateOf(one.state) } : one,
  );
  return keyOf({ ...others, registrars: compared });
}

/** Takes the steps of a story at the explorer's registrar and at the real one. Throws where they differ after the known ones. */
export async function replay(setup: Setup, { story, known }: Story): Promise<void> {
  const explorers = initialWorld(setup);
  const side = reaching(setup);
  world = initialWorld(setup);
  [holds, nowMs, played] = [[], 0, setup];
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  await start(setup);
  for (const [at, label] of story.entries()) {
    const step = stepsFrom(explorers, setup, side).find((one) => one.label === label);
    const [, verb = "", rest = ""] = /^registrar 0 (\w+)(.*)/.exec(label) ?? [];
    const lets = LETS_GO[verb];
    for (const w of [explorers, world]) {
      if (step?.isFault) w.faults -= 1;
      if (w === explorers || (!lets && verb !== "hears" && verb !== "goes")) step?.act(w);
    }
    if (label.endsWith(" 0 is killed")) holds = [];
    if (verb === "starts") await start(setup);
    if (verb === "hears") answerName(rest.split(" ").at(-1) ?? "");
    if (verb === "goes") goOn();
    await settled();
    if (verb === "moves" || verb === "gives") nowMs += LATER_MS;
    if (lets) await letGo(lets);
    if (verb === "publishes" && !setup.slowLook) await letGo(["list"]);
    if (verb === "stops" && own().state.kind === "stopped") end(world, 0, setup);
    if (at < known) continue;
    const way = () =>
      `after\n${story.slice(0, at + 1).join("\n")}\nexplorer: ${JSON.stringify(explorers)}\nreal:     ${JSON.stringify(world)}`;
    if (plainKeyOf(explorers) !== plainKeyOf(world))
      throw new Error(`the real registration differs ${way()}`);
    const { up, frozen, state } = own();
    if (!up || frozen || state.kind !== "in-place" || isKubeletAtIt(explorers)) continue;
    if (stepsFrom(explorers, setup, side).some((next) => / (?:looks: .*|binds)$/.test(next.label))) continue;
    await letGo(LOOKS);
    if (own().state !== state) throw new Error(`the real registration sees what is not there ${way()}`);
  }
}

/** What kubelet has sent while the process was frozen is read first. */
function goOn(): void {
  const { missed } = own();
  Object.assign(own(), { frozen: false, missed: undefined });
  if (missed === undefined) return;
  const path = [...paths.values()].find((one) => nameIn(one) === missed) ?? "";
  const publication = { path, withdrawn: new AbortController().signal };
  calls.onEnd({ publication, client: KUBELET });
}

interface Story {
  readonly story: readonly string[];
  /** How many steps at the beginning are those of stories before. */
  readonly known: number;
}

/** Stories that together have every step from every state within so many steps. */
export function* storiesOf(setup: Setup, deepest: number): Generator<Story> {
  const steps: { readonly label: string; readonly to: number; isTold: boolean }[][] = [];
  const before = new Map<number, readonly [from: number, label: string]>();
  const onStep = (from: number, label: string, to: number) => {
    steps[from] = [...(steps[from] ?? []), { label, to, isTold: false }];
    if (to !== 0 && !before.has(to)) before.set(to, [from, label]);
  };
  explore(setup, { deepest, onStep });
  const untold = (from: number) => steps[from]?.find(({ isTold }) => !isTold);
  for (const from of steps.keys())
    while (untold(from)) {
      const story: string[] = [];
      for (let at = before.get(from); at; at = before.get(at[0])) story.unshift(at[1]);
      const known = story.length;
      for (let next = untold(from); next; next = untold(next.to)) {
        next.isTold = true;
        story.push(next.label);
      }
      yield { story, known };
    }
}
