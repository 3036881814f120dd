import type { SocketOfDriver } from "../../src/registrar/model/socket-name";
import { type PublishStep, WITHDRAW_STEPS } from "../../src/unix/publish-steps";
import type { SocketFound } from "../../src/unix/unix-socket";
import {
  driverOf,
  isLive,
  isReplacing,
  isSameInode,
  newSocket,
  type Ours,
  type Published,
  put,
  type Setup,
  unlink,
  Violation,
  type World,
} from "./world";

// What registrars of ours do to socket files, step by step as in `publish-steps.ts`.

export const oursOf = (world: World, id: number): Ours => world.registrars[id] as Ours;

export function judge(world: World, { published }: Ours, path: string): SocketFound {
  const socket = world.files[path];
  if (socket === undefined) return "gone";
  const isOurs = published?.path === path && isLive(world, published.socket);
  if (isOurs && isSameInode(world, published.socket, socket)) return "ours";
  return isLive(world, socket) ? "taken" : "dead";
}

/** Steps that no other process can see follow the one before them at once. */
const UNSEEN: readonly PublishStep[] = ["bind", "wait"];

/** Whether a step of a publication follows the one before it at once, so that nothing happens in between. */
export function isAtOnce(former: PublishStep, next: PublishStep, { published }: Ours, path: string): boolean {
  if (next === "withdrawOther") return (published?.path ?? path) === path;
  return UNSEEN.includes(next) || former === "settle";
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
      publication.isEager = !overLiving && there === undefined && isReplacing(world, path);
      return judge(world, one, path);
    case "bind":
      publication.bound = newSocket(world, id, publication.isEager);
      return undefined;
    case "withdrawOther":
      if (one.published && one.published.path !== path) withdraw(world, id);
      return undefined;
    case "link":
      if (there !== undefined) return false;
      put(world, path, socket);
      return true;
    case "renameIfSame": {
      const { judged } = publication;
      const isKnown = there !== undefined && judged !== undefined;
      const isSame = isKnown ? isSameInode(world, there, judged) : there === judged;
      if (isSame) perform("rename", world, id, path, overLiving);
      return isSame;
    }
    case "rename":
      if (isLive(world, there) && world.sockets[there ?? 0]?.owner !== id && !overLiving)
        throw new Violation(`registrar ${id} replaces another's living socket ${path}`);
      put(world, path, socket);
      return undefined;
    default:
      return undefined;
  }
}

export function replaceOwn(world: World, one: Ours, published: Published): void {
  const former = one.published && world.sockets[one.published.socket];
  if (former) former.live = false;
  one.published = published;
  const mine = Object.values(world.files).filter(
    (file) => isLive(world, file) && world.sockets[file]?.owner === world.sockets[published.socket]?.owner,
  );
  if (mine.length > 1) throw new Violation("two visible sockets of one registrar");
}

/** The visible sockets on which registrars of ours listen for a driver. */
export const livingOf = ({ files, sockets, registrars }: World, driverName: string): readonly string[] =>
  Object.keys(files).filter((path) => {
    const { live = false, owner = -1 } = sockets[files[path] ?? 0] ?? {};
    return live && registrars[owner]?.kind === "ours" && driverOf(path) === driverName;
  });

/** The driver's sockets, as a registrar finds them. */
export function socketsOf(world: World, driverName: string): readonly SocketOfDriver[] {
  return Object.entries(world.files)
    .filter(([path]) => driverOf(path) === driverName)
    .sort()
    .map(([path, socket]) => [
      path === driverName ? undefined : path,
      isLive(world, socket) ? "taken" : "dead",
    ]);
}

export const WITHDRAWING = { removeFile: "removes its socket", stopListening: "stops listening" };

type WithdrawStep = (typeof WITHDRAW_STEPS)[number];

export const withdrawSteps = ({ undone }: Setup): readonly WithdrawStep[] =>
  undone === "remove-before-close" ? [...WITHDRAW_STEPS].reverse() : WITHDRAW_STEPS;

export function withdrawBy(step: WithdrawStep, world: World, id: number, undone?: Setup["undone"]): void {
  const { published } = oursOf(world, id);
  if (!published) return;
  const { path, socket } = published;
  const file = world.files[path];
  if (step === "stopListening") Object.assign(world.sockets[socket] ?? {}, { live: false });
  else if (file !== undefined && isSameInode(world, file, socket)) {
    if (!isLive(world, socket) && undone !== "remove-before-close") return;
    if (file !== socket) throw new Violation(`registrar ${id} removes another's socket ${path}`);
    unlink(world, path);
  }
}

export function withdraw(world: World, id: number): void {
  for (const step of WITHDRAW_STEPS) withdrawBy(step, world, id);
  oursOf(world, id).published = undefined;
}
