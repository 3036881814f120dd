import type { RegistrationState } from "../../src/registrar/model/state";

/** How the parts of a world are set up, which stays as it is. */
export interface Setup {
  /** Kubelet from 1.36 on forgets a plugin that failed, and tries it again. */
  readonly kubeletForgets: boolean;
  readonly ours: readonly ("exit" | "retry" | "node-wide")[];
  readonly officials: number;
  /** A socket of the driver that a reboot left behind. */
  readonly deadFile?: boolean;
  readonly faults: number;
  /** Kubelet never again dials a path at which it failed, as in its longest backoff. */
  readonly backoff?: boolean;
  /** The driver runs in the registrar's process: it ends and starts with it, and keeps its name. */
  readonly served?: boolean;
  /** A client that is not kubelet may call GetInfo. */
  readonly strangers?: boolean;
  /** Kubelet runs NodeGetInfo for a registrar that has ended. */
  readonly pending?: boolean;
  /** Kubelet may call while a registrar, after its publication, looks at the other sockets. */
  readonly slowLook?: boolean;
  /** What is as it was before it was mended. */
  readonly undone?:
    | "name-by-publication"
    | "lost-status"
    | "withdrawn-refusal"
    | "remove-before-close"
    | "settle"
    | "any-client"
    | "unknown-client"
    | "missed-call"
    | "move"
    | "last-look"
    | "return";
}

export interface Publication {
  readonly alias: string | undefined;
  readonly answers: unknown[];
  bound?: number | undefined;
  judged?: number | undefined;
  /** The path was free, as an official registrar leaves it that is about to bind. */
  isEager?: boolean;
}

/** A registrar of ours. Its number in `World.registrars` is its process. */
export interface Ours {
  readonly kind: "ours";
  up: boolean;
  frozen: boolean;
  state: RegistrationState;
  /** The publication under way: its alias, and the answers to its steps so far. */
  publication?: Publication | undefined;
  /** It knows kubelet by a status that it heard; not asked for where there are no strangers. */
  knowsKubelet: boolean;
  /** Another client called GetInfo as kubelet does, and stays connected. */
  hasStranger?: boolean | undefined;
  /** The path over which kubelet called GetInfo in vain, because it was frozen. */
  missed?: string | undefined;
  /** It moved from a backoff that it only supposes, and kubelet has reported no status since. */
  hasGuessed?: boolean | undefined;
  /** Its visible socket. */
  published?: Published | undefined;
  /** How many steps of taking its socket away it has done. */
  withdrawn?: number | undefined;
}

export interface Published {
  readonly path: string;
  readonly socket: number;
}

export interface Official {
  readonly kind: "official";
  up: boolean;
  frozen: boolean;
  step: "starting" | "named" | "unlinked" | "serving";
  name?: string | undefined;
  socket?: number | undefined;
}

export interface Operation {
  readonly kind: "register" | "unregister";
  step: "dialled" | "informed" | "added" | "decided";
  /** Kubelet saw a newer file at the path since. */
  stale: boolean;
  socket?: number;
  name?: string;
  ok?: boolean;
}

/** Everything there is. A path is a driver's name, or an alias of it: `a`, `a_1`. */
export interface World {
  /** Socket files by path, as the number of their socket. */
  files: Record<string, number>;
  /** The process that listens on each socket, -1 for a dead one, and the inode number. */
  sockets: Record<number, { owner: number; live: boolean; inode: number; isEager?: boolean }>;
  registrars: (Ours | Official)[];
  driver: { name: string; up: boolean };
  kubelet: {
    queue: string[];
    desired: Record<string, true>;
    actual: Record<string, { name: string; stale: boolean }>;
    drivers: Record<string, "named" | "registered">;
    operations: Record<string, Operation>;
    /** The paths from which it backs off. */
    backoff: Record<string, true>;
  };
  faults: number;
}

/** One thing that may happen next. `act` changes the world, and throws a Violation if that must not happen. */
export interface Step {
  readonly label: string;
  readonly isFault?: boolean;
  readonly act: (world: World) => void;
}

export class Violation extends Error {}

export const driverOf = (path: string): string => path.split("_", 1)[0] ?? path;

/** A socket gets the inode number of one that is gone, if somebody still knows that: the file system may always do so. */
export function newSocket(world: World, owner: number, isEager?: boolean): number {
  const socket = Math.max(0, ...Object.keys(world.sockets).map(Number)) + 1;
  const inode = Object.values(world.sockets).find((known) => !isHeld(world, known.inode))?.inode ?? socket;
  world.sockets[socket] = { owner, live: true, inode, ...(isEager && { isEager }) };
  return socket;
}

/** Whether a name, a listener or a descriptor keeps the inode from being given to another file. */
function isHeld({ files, sockets, registrars }: World, inode: number): boolean {
  const judged = registrars.map((one) => (one.kind === "ours" ? one.publication?.judged : undefined));
  const kept = [...Object.values(files), ...judged].map((socket) => sockets[socket ?? 0]);
  return [...kept, ...Object.values(sockets).filter(({ live }) => live)].some((one) => one?.inode === inode);
}

export const isSameInode = ({ sockets }: World, one: number, other: number): boolean =>
  sockets[one]?.inode === sockets[other]?.inode;

/** Whether an official registrar has removed what was there, and is about to bind. */
export const isReplacing = ({ registrars }: World, path: string): boolean =>
  registrars.some(
    (one) => one.kind === "official" && one.up && !one.frozen && one.step === "unlinked" && one.name === path,
  );

/** Kubelet's inotify watch: two equal events in a row mean the same as one. */
function notify(world: World, event: string): void {
  if (world.kubelet.queue.at(-1) !== event) world.kubelet.queue.push(event);
}

export function put(world: World, path: string, socket: number): void {
  world.files[path] = socket;
  notify(world, `+${path}`);
}

export function unlink(world: World, path: string): void {
  delete world.files[path];
  // There are 36 aliases: its backoff is over when one comes again.
  if (path.includes("_")) delete world.kubelet.backoff[path];
  notify(world, `-${path}`);
}

export const isLive = (world: World, socket: number | undefined): boolean =>
  socket !== undefined && world.sockets[socket]?.live === true;

/** Its connections are cut: a process that is started later does not get what comes over them. */
export function endProcess(world: World, owner: number): void {
  for (const socket of Object.values(world.sockets))
    if (socket.owner === owner) Object.assign(socket, { owner: -1, live: false });
}

export const knowingNothing = (): Omit<World["kubelet"], "desired"> => ({
  ...{ queue: [], actual: {}, drivers: {}, operations: {}, backoff: {} },
});

export function initialWorld({ ours, officials, deadFile, pending, faults }: Setup): World {
  const starting: Official = { kind: "official", up: true, frozen: false, step: "starting" };
  const waiting = { kind: "waiting" } as const;
  const ofOurs = (): Ours => ({ kind: "ours", up: true, frozen: false, knowsKubelet: false, state: waiting });
  const registrars = [...ours.map(ofOurs), ...Array.from({ length: officials }, () => ({ ...starting }))];
  const isKnown = deadFile || pending;
  const working: Partial<World["kubelet"]> = {
    actual: { a: { name: "a", stale: false } },
    drivers: { a: "named" },
    operations: { a: { kind: "register", step: "added", stale: false, socket: 1, name: "a" } },
  };
  return {
    files: deadFile ? { a: 1 } : {},
    sockets: isKnown ? { 1: { owner: -1, live: false, inode: 1 } } : {},
    registrars,
    driver: { name: "a", up: true },
    kubelet: { ...knowingNothing(), ...(pending && working), desired: deadFile ? { a: true } : {} },
    faults,
  };
}

/** Each registrar of ours has two aliases: the real ones are 36, so that kubelet's backoff is over when the first comes again. */
export function aliasAfter(driverName: string, alias: string | undefined, id: number): string {
  const number = alias === undefined ? 2 * id + 1 : ((Number(alias.slice(-1)) - 1) ^ 1) + 1;
  return `${driverName}_${number}`;
}

/** How a name is called where processes have this order: each takes its aliases with it. */
export function renaming(order: readonly number[]): (name: string) => string {
  if (order.every((id, place) => id === place)) return (name) => name;
  const renamed = (_: string, digit: string) => {
    const nth = Number(digit) - 1;
    return `_${2 * order.indexOf(nth >> 1) + (nth & 1) + 1}`;
  };
  return (name) => (name.includes("_") ? name.replace(/_(\d)/g, renamed) : name);
}

export function sortedKeys(record: object, rename = renaming([])): readonly string[] {
  const keys = Object.keys(record);
  return keys.length > 1 ? keys.sort((one, other) => (rename(one) < rename(other) ? -1 : 1)) : keys;
}

/** The sockets that are there for anyone, in the order in which they are found. */
export function socketsIn(
  { files, registrars, kubelet }: World,
  order: readonly number[],
  rename?: (name: string) => string,
): readonly number[] {
  const found: number[] = [];
  const find = (socket: number | undefined) => {
    if (socket !== undefined && !found.includes(socket)) found.push(socket);
  };
  for (const path of sortedKeys(files, rename)) find(files[path]);
  for (const id of order) {
    const one = registrars[id];
    if (one?.kind === "official") find(one.socket);
    else if (one)
      for (const socket of [one.published?.socket, one.publication?.bound, one.publication?.judged])
        find(socket);
  }
  for (const path of sortedKeys(kubelet.operations, rename)) find(kubelet.operations[path]?.socket);
  return found;
}

export const inOrder = ({ registrars }: World) => registrars.map((_one, id) => id);

/** A world to be changed, without the sockets that are gone. States of registrations are never changed. */
export function copyOf(world: World): World {
  const { files, sockets, registrars, driver, kubelet, faults } = world;
  const copied = <Value extends object>(record: Record<string, Value>) => {
    const copy: Record<string, Value> = {};
    for (const key of Object.keys(record)) copy[key] = { ...(record[key] as Value) };
    return copy;
  };
  const kept: World["sockets"] = {};
  for (const socket of socketsIn(world, inOrder(world))) {
    const one = sockets[socket];
    if (one) kept[socket] = { ...one };
  }
  return {
    files: { ...files },
    sockets: kept,
    registrars: registrars.map((one) =>
      one.kind === "ours" && one.publication
        ? { ...one, publication: { ...one.publication, answers: [...one.publication.answers] } }
        : { ...one },
    ),
    driver: { ...driver },
    kubelet: {
      queue: [...kubelet.queue],
      desired: { ...kubelet.desired },
      actual: copied(kubelet.actual),
      drivers: { ...kubelet.drivers },
      operations: copied(kubelet.operations),
      backoff: { ...kubelet.backoff },
    },
    faults,
  };
}
