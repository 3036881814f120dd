import { nameEvent } from "../../src/registrar/driver/driver-events";
import { aliasAfterPeer, aliasInUse, type SocketOfDriver } from "../../src/registrar/model/socket-name";
import type { LoopEvent, RegistrationState, StateOf } from "../../src/registrar/model/state";
import {
  infoAnswer,
  isKubeletBusy,
  judgeInPlace,
  movesFromBackoff,
  peerIsGone,
  planPublication,
  publicationEvent,
  statusEvent,
} from "../../src/registrar/registration/decisions";
import { transition } from "../../src/registrar/registration/transition";
import { type PublishStep, publishSteps } from "../../src/unix/publish-steps";
import type { SocketFound } from "../../src/unix/unix-socket";
import { isQuiet } from "./kubelet";
import {
  aliasAfter,
  driverOf,
  endProcess,
  isLive,
  newSocket,
  type Ours,
  put,
  type Setup,
  type Step,
  unlink,
  Violation,
  type World,
} from "./world";

/** What each registrar of ours may do next; decided by the product's own functions. */
export function oursSteps(world: World, id: number, setup: Setup): Step[] {
  const one = oursOf(world, id);
  const { state } = one;
  const event = (label: string, event: LoopEvent): Step => ({ label, act: (w) => take(w, id, event, setup) });
  const go = (label: string, act: Step["act"]): Step => ({ label, act });
  // A container starts again after a second or more.
  if (!one.up)
    return isQuiet(world) ? [go(`registrar ${id} starts`, (w) => Object.assign(oursOf(w, id), START))] : [];
  if (one.frozen)
    return [go(`registrar ${id} goes on`, (w) => Object.assign(oursOf(w, id), { frozen: false }))];

  const steps: Step[] = [];
  const another = ({ facts }: StateOf<"listening" | "refused">) =>
    aliasAfter(facts.driverName, facts.alias, id);
  const { driver } = world;
  const isEnding = state.kind === "stopping" || state.kind === "stopped";
  const known = state.facts?.driverName;
  if (driver.up && !isEnding && known !== driver.name) {
    const heard = nameEvent(known, driver.name, setup.ours[id] === "node-wide");
    steps.push(event(`registrar ${id} hears that the driver is ${driver.name}`, heard));
  }
  switch (state.kind) {
    case "publishing":
      return [
        ...steps,
        go(`registrar ${id} publishes: ${nextOf(one, state, setup, id).label}`, (w) => publish(w, id, setup)),
      ];
    case "listening":
    case "asked":
    case "registered": {
      const hasCaller = hasCallerAt(world, id);
      const found = judge(world, one, pathOf(state));
      const isBusy = isKubeletBusy(state, 0, hasCaller);
      // Within 150 ms the official registrar binds what it has unlinked.
      const isReplacing = world.registrars.some(
        (other) => other.kind === "official" && other.up && !other.frozen && other.step === "unlinked",
      );
      const seen = judgeInPlace(state, found, { isKubeletBusy: isBusy, hasDirectory: true });
      if (seen && !(found === "gone" && isReplacing))
        steps.push(event(`registrar ${id} looks: ${seen.kind}`, seen));
      if (state.kind === "listening" && movesFromBackoff(state.facts, hasCaller) && isQuiet(world))
        steps.push(
          event(`registrar ${id} moves from the backoff`, {
            kind: "kubelet-silent",
            alias: another(state),
          }),
        );
      const isLost = state.kind === "asked" && !hasCaller && isQuiet(world);
      if (isLost && setup.undone !== "lost-status")
        steps.push(event(`registrar ${id} gives up the status`, { kind: "status-lost" }));
      return steps;
    }
    case "refused":
      if (setup.ours[id] === "exit")
        return [
          ...steps,
          event(`registrar ${id} ends by the refusal`, { kind: "stop", reason: "refused", outcome: REFUSED }),
        ];
      if (isQuiet(world))
        steps.push(event(`registrar ${id} tries again`, { kind: "retry", alias: another(state) }));
      return steps;
    case "standby": {
      const isHeld = hasPeer(world, one, state);
      const mayGoOn = !isHeld && (state.reason === "socket-taken" || isQuiet(world));
      const { driverName, alias } = state.facts;
      const isUnseen = state.reason === "already-registered";
      const next = isUnseen ? aliasAfterPeer(socketsOf(world, driverName), alias) : alias;
      if (mayGoOn)
        steps.push(event(`registrar ${id} finds its peer gone`, { kind: "peer-gone", alias: next }));
      return steps;
    }
    case "stopping":
      return [
        go(`registrar ${id} removes its socket and ends`, (w) => {
          withdraw(w, id);
          end(w, id);
        }),
      ];
    default:
      return steps;
  }
}

const REFUSED = { kind: "refused", reason: "no", hint: undefined, error: undefined } as never;
const START = {
  up: true,
  state: { kind: "waiting" } as RegistrationState,
  publication: undefined,
  published: undefined,
};

export const oursOf = (world: World, id: number): Ours => world.registrars[id] as Ours;
const pathOf = ({ facts }: { readonly facts: StateOf<"publishing">["facts"] }) =>
  facts.alias ?? facts.driverName;

/** A connection of kubelet's on which it has called. */
export function hasCallerAt({ kubelet, sockets }: World, id: number): boolean {
  return Object.values(kubelet.operations).some(
    ({ kind, step, socket = 0 }) =>
      kind === "register" && step !== "dialled" && sockets[socket]?.owner === id,
  );
}

export function judge(world: World, { published }: Ours, path: string): SocketFound {
  const socket = world.files[path];
  if (socket === undefined) return "gone";
  if (published?.path === path && published.socket === socket) return "ours";
  return isLive(world, socket) ? "taken" : "dead";
}

/** A living socket of the driver at our path, or at another. */
function hasPeer(world: World, one: Ours, { facts }: StateOf<"standby">): boolean {
  if (!peerIsGone(judge(world, one, pathOf({ facts })))) return true;
  return Object.entries(world.files).some(
    ([path, socket]) => driverOf(path) === facts.driverName && isLive(world, socket),
  );
}

/** The loop takes an event at once, as microtasks come before all else, and takes its socket away before kubelet's next round. */
export function take(world: World, id: number, event: LoopEvent, setup: Setup): void {
  const one = oursOf(world, id);
  const next = transition(one.state, event, { nowMs: 0, random: 0 });
  if (next === one.state) return;
  one.state = bounded(next);
  one.publication = undefined;
  const isHidden =
    next.kind === "refused" && setup.ours[id] !== "exit" && setup.undone !== "withdrawn-refusal";
  if (next.kind === "standby" || isHidden) withdraw(world, id);
  if (next.kind === "stopping" && next.outcome.kind === "refused" && setup.ours[id] !== "exit")
    throw new Violation("a refusal ends a registrar that is to stay");
}

/** Without what only grows, only tells when, or decides nothing any more. */
export function bounded(state: RegistrationState): RegistrationState {
  if (state.facts === undefined) return state;
  const facts = {
    ...state.facts,
    refusals: undefined,
    lostStatuses: 0,
    foundDeadSocket: movesFromBackoff(state.facts, false),
    hasMoved: false,
    everRegistered: false,
  };
  if (state.kind === "publishing")
    return { ...state, facts, reason: state.reason === "driver-renamed" ? state.reason : "socket-gone" };
  return state.kind === "refused"
    ? { ...state, facts: { ...facts, refusals: { text: "no", count: 1, repeats: 0 } }, waitMs: 0 }
    : { ...state, facts };
}

/** The steps of the publication so far, driven with their answers. */
function nextOf(one: Ours, state: StateOf<"publishing">, setup: Setup, id: number) {
  const plan = planPublication(state, setup.ours[id] === "node-wide");
  const steps = publishSteps(plan);
  let step = steps.next();
  for (const answer of one.publication?.answers ?? []) step = steps.next(answer);
  return { plan, step, label: step.done ? "done" : step.value };
}

/** Steps that no other process can see follow the one before them at once. */
const UNSEEN: readonly PublishStep[] = ["bind", "wait"];

function publish(world: World, id: number, setup: Setup): void {
  const one = oursOf(world, id);
  const state = one.state as StateOf<"publishing">;
  for (;;) {
    const { plan, step } = nextOf(one, state, setup, id);
    const alias = plan.isNewName ? aliasInUse(socketsOf(world, state.facts.driverName)) : state.facts.alias;
    const publication = one.publication ?? { alias, answers: [] };
    one.publication = publication;
    const path = publication.alias ?? state.facts.driverName;
    if (step.done) {
      const event = publicationEvent(plan, step.value, path, publication.alias);
      const { bound } = publication;
      if (event.kind === "published" && bound !== undefined) replaceOwn(world, one, path, bound);
      else if (bound !== undefined) delete world.sockets[bound];
      take(world, id, event, setup);
      return;
    }
    publication.answers.push(perform(step.value, world, id, path, plan.overLiving));
    const next = nextOf(one, state, setup, id).step;
    if (!next.done && !isAtOnce(step.value, next.value, one, path)) return;
  }
}

/** Whether a step of a publication follows the one before it at once, so that nothing happens in between. */
export function isAtOnce(former: PublishStep, next: PublishStep, { published }: Ours, path: string): boolean {
  if (next === "withdrawOther") return (published?.path ?? path) === path;
  return UNSEEN.includes(next) || (former === "isSame" && next === "rename");
}

export function perform(
  step: PublishStep,
  world: World,
  id: number,
  path: string,
  overLiving: boolean,
): unknown {
  const one = oursOf(world, id);
  const publication = one.publication ?? { alias: undefined, answers: [] };
  const socket = publication.bound ?? 0;
  const there = world.files[path];
  switch (step) {
    case "judge":
      publication.judged = there;
      return judge(world, one, path);
    case "bind":
      publication.bound = newSocket(world, id);
      return undefined;
    case "withdrawOther":
      if (one.published && one.published.path !== path) withdraw(world, id);
      return undefined;
    case "link":
      if (there !== undefined) return false;
      put(world, path, socket);
      return true;
    case "isSame":
      return there === undefined || there === publication.judged;
    case "rename":
      if (isLive(world, there) && world.sockets[there ?? 0]?.owner !== id && !overLiving)
        throw new Violation(`registrar ${id} replaces another's living socket ${path}`);
      put(world, path, socket);
      return undefined;
    default:
      return undefined;
  }
}

export function replaceOwn(world: World, one: Ours, path: string, socket: number): void {
  const former = one.published && world.sockets[one.published.socket];
  if (former) former.live = false;
  one.published = { path, socket };
  const mine = Object.values(world.files).filter(
    (file) => isLive(world, file) && world.sockets[file]?.owner === world.sockets[socket]?.owner,
  );
  if (mine.length > 1) throw new Violation("two visible sockets of one registrar");
}

/** The driver's sockets, as a registrar finds them. */
function socketsOf(world: World, driverName: string): readonly SocketOfDriver[] {
  return Object.entries(world.files)
    .filter(([path]) => driverOf(path) === driverName)
    .sort()
    .map(([path, socket]) => [
      path === driverName ? undefined : path,
      isLive(world, socket) ? "taken" : "dead",
    ]);
}

export function withdraw(world: World, id: number): void {
  const one = oursOf(world, id);
  if (!one.published) return;
  const { path, socket } = one.published;
  one.published = undefined;
  const owned = world.sockets[socket];
  if (owned) owned.live = false;
  if (world.files[path] === socket) unlink(world, path);
}

export function end(world: World, id: number): void {
  const left = Object.values(world.files).some(
    (socket) => world.sockets[socket]?.owner === id && isLive(world, socket),
  );
  if (left) throw new Violation(`registrar ${id} leaves its socket behind`);
  endProcess(world, id);
  Object.assign(oursOf(world, id), { ...START, up: false });
}

/** What kubelet's GetInfo gets from a registrar of ours. */
export function answerInfo(world: World, id: number, socket: number, setup: Setup): string | undefined {
  const { state, published } = oursOf(world, id);
  const known = state.facts;
  const isWithdrawn = published?.socket !== socket;
  const isOwn = known !== undefined && published?.path === (known.alias ?? known.driverName);
  const answer =
    setup.undone === "name-by-publication" && known && state.kind !== "refused"
      ? { name: known.driverName }
      : infoAnswer(state, { isWithdrawn, isOwn });
  if ("whyNot" in answer) return undefined;
  if (!isWithdrawn) take(world, id, { kind: "get-info" }, setup);
  return answer.name;
}

export function hearStatus(
  world: World,
  id: number,
  socket: number,
  error: string | undefined,
  setup: Setup,
): void {
  if (oursOf(world, id).published?.socket !== socket) return;
  const policy = setup.ours[id] === "exit" ? "end" : "retry";
  const event = statusEvent(policy, { registered: error === undefined, error: error ?? "" });
  take(world, id, event.kind === "refused" ? { ...event, error: "no" } : event, setup);
}
