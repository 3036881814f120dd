import { nameEvent } from "../../src/registrar/driver/driver";
import { aliasAfterPeer } from "../../src/registrar/model/socket-name";
import type { LoopEvent, RegistrationState, StateOf } from "../../src/registrar/model/state";
import {
  choosePlace,
  infoAnswer,
  judgeInPlace,
  peerIsGone,
  placementEvent,
  planPublication,
  publicationEvent,
  type SocketPlace,
  statusEvent,
} from "../../src/registrar/registration/decisions";
import { transition } from "../../src/registrar/registration/transition";
import { type PublishEnd, publishSteps } from "../../src/unix/publish-steps";
import { isQuiet, PEER } from "./kubelet";
import {
  isAtOnce,
  judge,
  livingOf,
  oursOf,
  perform,
  replaceOwn,
  socketsOf,
  WITHDRAWING,
  withdraw,
  withdrawBy,
  withdrawSteps,
} from "./sockets";
import {
  aliasAfter,
  driverOf,
  endProcess,
  isLive,
  isReplacing,
  type Ours,
  type Setup,
  type Step,
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
  if (!one.up) return isQuiet(world) ? [go(`registrar ${id} starts`, (w) => start(w, id, setup))] : [];
  if (one.frozen) return [go(`registrar ${id} goes on`, (w) => thaw(w, id, setup))];

  const steps: Step[] = [];
  const another = ({ facts }: StateOf<"in-place" | "refused">) =>
    aliasAfter(facts.driverName, facts.alias, id);
  const { driver } = world;
  const isEnding = state.kind === "stopping" || state.kind === "stopped";
  const known = state.facts?.driverName;
  if (driver.up && !isEnding && known !== driver.name) {
    const heard = nameEvent(known, driver.name, setup.ours[id] === "node-wide");
    steps.push(event(`registrar ${id} hears that the driver is ${driver.name}`, heard));
  }
  switch (state.kind) {
    case "publishing": {
      const { label } = nextOf(one, state, setup, id);
      const path = one.publication?.alias ?? state.facts.driverName;
      if (label === "settle" && !isSettled(world, path, setup)) return steps;
      return [...steps, go(`registrar ${id} publishes: ${label}`, (w) => publish(w, id, setup))];
    }
    case "in-place": {
      // What comes after seconds; kubelet takes no longer than we wait for it.
      const nowMs = isQuiet(world) && !isAskingAt(world, id) ? LATER_MS : 0;
      if (state.justPublished)
        steps.push(go(`registrar ${id} lists the sockets once more`, (w) => lookOnceMore(w, id, setup)));
      const kubelet = clientsOf(world, id, setup);
      const found = judge(world, one, pathOf(state));
      const next = judgeInPlace(state, { found, hasDirectory: true, nowMs, sinceMs: 0, random: 0, kubelet });
      if (next.kind === "wait" || (found === "gone" && !isSettled(world, pathOf(state), setup))) return steps;
      if (next.kind === "kubelet-silent" && setup.undone === "move") return steps;
      if (next.kind === "kubelet-silent")
        steps.push(
          go(`registrar ${id} moves from the backoff`, (w) => {
            oursOf(w, id).hasGuessed = true;
            take(w, id, { ...next, alias: another(state) }, setup);
          }),
        );
      else if (next.kind !== "status-lost") steps.push(event(`registrar ${id} looks: ${next.kind}`, next));
      else if (setup.undone !== "lost-status") steps.push(event(`registrar ${id} gives up the status`, next));
      return steps;
    }
    case "refused":
      if (setup.ours[id] === "exit")
        return [...steps, event(`registrar ${id} ends by the refusal`, { kind: "stop", outcome: REFUSED })];
      if (isQuiet(world))
        steps.push(event(`registrar ${id} tries again`, { kind: "retry", alias: another(state) }));
      return steps;
    case "standby": {
      const isHeld = hasPeer(world, one, state);
      const isOver = !isHeld && isSettled(world, pathOf(state), setup);
      const mayGoOn = isOver && (state.reason === "socket-taken" || isQuiet(world));
      const { driverName, alias } = state.facts;
      const isUnseen = state.reason === "already-registered";
      const next = isUnseen ? aliasAfterPeer(socketsOf(world, driverName), alias) : alias;
      if (mayGoOn)
        steps.push(event(`registrar ${id} finds its peer gone`, { kind: "peer-gone", alias: next }));
      return steps;
    }
    case "stopping": {
      const { withdrawn = 0 } = one;
      const [next, ...others] = withdrawSteps(setup).slice(withdrawn);
      if (next === undefined) return [];
      return [
        go(`registrar ${id} ${WITHDRAWING[next]}`, (w) => {
          oursOf(w, id).withdrawn = withdrawn + 1;
          withdrawBy(next, w, id, setup.undone);
          if (others.length === 0) end(w, id, setup);
        }),
      ];
    }
    default:
      return steps;
  }
}

function start(world: World, id: number, { served }: Setup): void {
  Object.assign(oursOf(world, id), START);
  if (served) world.driver.up = true;
}

/** Its process is over, and with it the driver that it serves. */
export function down(world: World, id: number, { served }: Setup): void {
  endProcess(world, id);
  Object.assign(oursOf(world, id), { ...START, up: false });
  if (served) world.driver.up = false;
}

/** What kubelet has sent meanwhile is read first. */
function thaw(world: World, id: number, setup: Setup): void {
  const one = oursOf(world, id);
  const { missed, state } = one;
  Object.assign(one, { frozen: false, missed: undefined });
  if (missed === undefined || setup.undone === "missed-call") return;
  if (state.facts && missed === pathOf({ facts: state.facts })) take(world, id, { kind: "get-info" }, setup);
}

const REFUSED = { kind: "refused", kubeletError: "no", hint: undefined, error: undefined } as never;
const START = {
  up: true,
  state: { kind: "waiting" } as RegistrationState,
  publication: undefined,
  published: undefined,
  withdrawn: undefined,
  knowsKubelet: false,
  hasStranger: undefined,
  hasGuessed: undefined,
  missed: undefined,
};

/** Whether what is gone counts as gone: not within the moment in which the official registrar binds what it has removed. */
const isSettled = (world: World, path: string, { undone }: Setup) =>
  undone === "settle" || !isReplacing(world, path);

const pathOf = ({ facts }: { readonly facts: StateOf<"publishing">["facts"] }) =>
  facts.alias ?? facts.driverName;

/** Later than anything that a registrar waits for in place. */
export const LATER_MS = 1_000_000;

/** A connection of kubelet's on which it has called, and owes its status. */
export function isAskingAt({ kubelet, sockets }: World, id: number): boolean {
  return Object.values(kubelet.operations).some(
    ({ kind, step, socket = 0 }) =>
      kind === "register" && step !== "dialled" && sockets[socket]?.owner === id,
  );
}

/** What a registrar knows of its clients: one that it cannot tell from kubelet may stay connected. */
export function clientsOf(world: World, id: number, { undone }: Setup) {
  const { knowsKubelet, hasStranger } = oursOf(world, id);
  const isStranger = hasStranger === true && !knowsKubelet;
  const isKnown = knowsKubelet || undone === "unknown-client";
  return { isAsking: isAskingAt(world, id) || isStranger, isKnown, endedAtMs: 0 };
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
  const isHidden = next.kind === "refused" && setup.undone !== "withdrawn-refusal";
  if (next.kind === "standby" || event.kind === "misplaced" || isHidden) withdraw(world, id);
  // Its place is another's now, or has another name.
  if (next.kind === "standby" || event.kind === "driver-renamed") one.hasGuessed = undefined;
  if (next.kind === "stopping" && next.outcome.kind === "refused" && setup.ours[id] !== "exit")
    throw new Violation("a refusal ends a registrar that is to stay");
}

/** Without what only grows, only tells when, or decides nothing any more. */
export function bounded(state: StateOf<"publishing">): StateOf<"publishing">;
export function bounded(state: RegistrationState): RegistrationState;
export function bounded(state: RegistrationState): RegistrationState {
  if (state.facts === undefined) return state;
  const known = { ...state, facts: { ...state.facts, refusals: undefined, lostStatuses: 0 } };
  if (known.kind === "publishing") {
    const isDecisive = known.reason === "driver-renamed" || known.reason === "retry";
    return { ...known, reason: isDecisive ? known.reason : "socket-gone" };
  }
  if (known.kind === "in-place")
    return { ...known, justPublished: known.justPublished && bounded(known.justPublished) };
  return known.kind === "refused"
    ? { ...known, facts: { ...known.facts, refusals: { text: "no", count: 1, repeats: 0 } }, waitMs: 0 }
    : known;
}

/** The steps of the publication so far, driven with their answers. */
function nextOf(one: Ours, state: StateOf<"publishing">, setup: Setup, id: number) {
  const plan = planPublication(state, setup.ours[id] === "node-wide");
  const steps = publishSteps(plan);
  let step = steps.next();
  for (const answer of one.publication?.answers ?? []) step = steps.next(answer);
  return { plan, step, label: step.done ? "done" : step.value };
}

/** Where its socket goes, as it finds that now. */
function placeOf(world: World, state: StateOf<"publishing">, setup: Setup, id: number): SocketPlace {
  const { driverName, alias } = state.facts;
  const plan = planPublication(state, setup.ours[id] === "node-wide");
  return choosePlace(plan, socketsOf(world, driverName), alias);
}

function publish(world: World, id: number, setup: Setup): void {
  const one = oursOf(world, id);
  const state = one.state as StateOf<"publishing">;
  const { plan } = nextOf(one, state, setup, id);
  const alias = plan.isNewName ? placeOf(world, state, setup, id).alias : state.facts.alias;
  const publication = one.publication ?? { alias, answers: [] };
  one.publication = publication;
  const path = publication.alias ?? state.facts.driverName;
  for (;;) {
    const { step } = nextOf(one, state, setup, id);
    if (step.done) {
      const place = placeOf(world, state, setup, id);
      const { bound } = publication;
      const end = step.value as PublishEnd;
      if (end.kind === "in-place" && bound !== undefined) replaceOwn(world, one, { path, socket: bound });
      else if (bound !== undefined) delete world.sockets[bound];
      const event = publicationEvent(end, path, publication.alias, place);
      one.publication = undefined;
      if (event) take(world, id, event, setup);
      if (!setup.slowLook) lookOnceMore(world, id, setup);
      return;
    }
    const isLast = setup.undone !== "last-look";
    publication.answers.push(
      step.value === "isPlace"
        ? !isLast || placeOf(world, state, setup, id).alias === publication.alias
        : perform(step.value, world, id, path, plan.overLiving),
    );
    const next = nextOf(one, state, setup, id).step;
    if (!next.done && !isAtOnce(step.value, next.value, one, path)) return;
  }
}

function lookOnceMore(world: World, id: number, setup: Setup): void {
  const { state } = oursOf(world, id);
  if (state.kind !== "in-place" || !state.justPublished) return;
  const plan = planPublication(state.justPublished, setup.ours[id] === "node-wide");
  const event = placementEvent(plan, socketsOf(world, state.facts.driverName), state.facts.alias);
  take(world, id, setup.undone === "last-look" ? { kind: "well-placed" } : event, setup);
}

export function end(world: World, id: number, setup: Setup): void {
  const left = Object.values(world.files).some(
    (socket) => world.sockets[socket]?.owner === id && isLive(world, socket),
  );
  if (left) throw new Violation(`registrar ${id} leaves its socket behind`);
  down(world, id, setup);
}

/** What kubelet's GetInfo gets from a registrar of ours. */
export function answerInfo(
  world: World,
  id: number,
  socket: number,
  setup: Setup,
  client = "kubelet",
): string | undefined {
  const { state, published, withdrawn, knowsKubelet } = oursOf(world, id);
  const known = state.facts;
  const isWithdrawn = published?.socket !== socket || withdrawn !== undefined;
  const isOwn = known !== undefined && published?.path === (known.alias ?? known.driverName);
  const answer =
    setup.undone === "name-by-publication" && known && state.kind !== "refused"
      ? { name: known.driverName }
      : infoAnswer(state, { isWithdrawn, isOwn });
  if ("whyNot" in answer) return undefined;
  const counts = client === "kubelet" || !knowsKubelet || setup.undone === "any-client";
  if (!isWithdrawn && counts) take(world, id, { kind: "get-info" }, setup);
  return answer.name;
}

export function hearStatus(
  world: World,
  id: number,
  socket: number,
  error: string | undefined,
  setup: Setup,
): void {
  const one = oursOf(world, id);
  const { published, withdrawn } = one;
  one.knowsKubelet = setup.strangers === true;
  if (published?.socket !== socket || withdrawn !== undefined) return;
  const policy = setup.ours[id] === "exit" ? "end" : "retry";
  const event = statusEvent(policy, { registered: error === undefined, error: error ?? "" });
  // One that tries again after a refusal leaves it to kubelet which of them has the driver.
  const isAmongExits = setup.ours.every((one) => one === "exit");
  const living = livingOf(world, driverOf(published.path));
  const { hasGuessed } = one;
  one.hasGuessed = undefined;
  const isRefusal =
    event.kind === "refused" || (event.kind === "already-registered" && setup.undone === "return");
  take(world, id, isRefusal ? { kind: "refused", error: "no" } : event, setup);
  if (isAmongExits && error === PEER && living.length > 1 && one.state.kind === "refused")
    throw new Violation("a registrar exits: it has published the driver beside another");
  if (hasGuessed && error === PEER && ["refused", "standby"].includes(one.state.kind))
    throw new Violation("a registrar ends, or stands by, because it supposed a backoff");
}
