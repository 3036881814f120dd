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
  /** What is as it was before it was mended. */
  readonly undone?: "name-by-publication" | "lost-status" | "withdrawn-refusal";
}

export interface Publication {
  readonly alias: string | undefined;
  readonly answers: unknown[];
  bound?: number | undefined;
  judged?: number | undefined;
}

/** A registrar of ours. Its number in `World.registrars` is its process. */
export interface Ours {
  readonly kind: "ours";
  up: boolean;
  frozen: boolean;
  state: RegistrationState;
  /** The publication under way: its alias, and the answers to its steps so far. */
  publication?: Publication | undefined;
  /** Its visible socket. */
  published?: { readonly path: string; readonly socket: number } | undefined;
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
  /** The process that listens on each socket; undefined for a dead one. */
  sockets: Record<number, { owner: number; live: boolean }>;
  registrars: (Ours | Official)[];
  driver: { name: string; up: boolean };
  kubelet: {
    queue: string[];
    desired: Record<string, true>;
    actual: Record<string, { name: string; stale: boolean }>;
    drivers: Record<string, "named" | "registered">;
    operations: Record<string, Operation>;
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

export function newSocket(world: World, owner: number): number {
  const socket = Math.max(0, ...Object.keys(world.sockets).map(Number)) + 1;
  world.sockets[socket] = { owner, live: true };
  return socket;
}

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
  notify(world, `-${path}`);
}

export const isLive = (world: World, socket: number | undefined): boolean =>
  socket !== undefined && world.sockets[socket]?.live === true;

export function endProcess(world: World, owner: number): void {
  for (const socket of Object.values(world.sockets)) if (socket.owner === owner) socket.live = false;
}

export function initialWorld({ ours, officials, deadFile, faults }: Setup): World {
  const starting: Official = { kind: "official", up: true, frozen: false, step: "starting" };
  const registrars = [
    ...ours.map((): Ours => ({ kind: "ours", up: true, frozen: false, state: { kind: "waiting" } })),
    ...Array.from({ length: officials }, () => ({ ...starting })),
  ];
  return {
    files: deadFile ? { a: 1 } : {},
    sockets: deadFile ? { 1: { owner: -1, live: false } } : {},
    registrars,
    driver: { name: "a", up: true },
    kubelet: {
      queue: [],
      desired: deadFile ? { a: true } : {},
      actual: {},
      drivers: {},
      operations: {},
    },
    faults,
  };
}

/** The world as a text that is equal for equal worlds: sockets get numbers by where they are first found. */
export function keyOf(world: World): string {
  const numbers = new Map<number, number>();
  const sockets: World["sockets"] = {};
  const number = (socket: number | undefined) => {
    if (socket === undefined) return undefined;
    let known = numbers.get(socket);
    if (known === undefined) {
      known = numbers.size + 1;
      numbers.set(socket, known);
      sockets[known] = world.sockets[socket] ?? { owner: -1, live: false };
    }
    return known;
  };
  const sorted = <Value>(record: Record<string, Value>, map: (value: Value) => unknown) => {
    const inOrder: Record<string, unknown> = {};
    for (const key of Object.keys(record).sort()) inOrder[key] = map(record[key] as Value);
    return inOrder;
  };
  const same = (value: unknown) => value;
  const { queue, desired, actual, drivers, operations } = world.kubelet;
  const files = sorted(world.files, number);
  const registrars = world.registrars.map((one) =>
    one.kind === "official"
      ? { ...one, socket: number(one.socket) }
      : {
          ...one,
          published: one.published && { ...one.published, socket: number(one.published.socket) },
          publication: one.publication && {
            ...one.publication,
            bound: number(one.publication.bound),
            judged: number(one.publication.judged),
          },
        },
  );
  const kubelet = {
    queue,
    desired: sorted(desired, same),
    actual: sorted(actual, same),
    drivers: sorted(drivers, same),
    operations: sorted(operations, (one) => ({ ...one, socket: number(one.socket) })),
  };
  return JSON.stringify({ files, registrars, kubelet, driver: world.driver, faults: world.faults, sockets });
}
