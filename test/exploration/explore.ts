import { finalComponents } from "./final-components";
import { isLooking, isQuiet, kubeletSteps, type RegistrarSide, restartKubelet } from "./kubelet";
import { answerInfo, down, hearStatus, oursSteps, take } from "./ours";
import { livingOf, oursOf } from "./sockets";
import {
  copyOf,
  endProcess,
  initialWorld,
  newSocket,
  type Official,
  put,
  type Setup,
  type Step,
  unlink,
  Violation,
  type World,
} from "./world";
import { keyOf } from "./world-key";

export interface Exploration {
  readonly states: number;
  readonly depth: number;
  /** Of CPU. */
  readonly seconds: number;
  /** Whether it went to the end. */
  readonly isWhole: boolean;
  /** What must not happen, and the shortest way to it. */
  readonly counterexample?: { readonly what: string; readonly story: readonly string[] } | undefined;
}

/** Kubelet's queue is never further behind, and it deregisters within a second: meanwhile only kubelet goes on. */
const MOST_BEHIND = 3;
export const isKubeletAtIt = ({ kubelet: { queue, operations } }: World) =>
  queue.length >= MOST_BEHIND || Object.values(operations).some(({ kind }) => kind === "unregister");

interface ExploreOptions {
  /** Goes no further from states that are so many steps away. @default to the end */
  readonly deepest?: number;
  /** Ends after so many seconds of CPU. @default at the end */
  readonly withinSeconds?: number;
  /** Gets each step between two states, by their numbers in the order in which they are found. */
  readonly onStep?: (from: number, label: string, to: number) => void;
}

/** Goes through every order of steps, the shortest ways first, until something must not happen. */
export function explore(
  setup: Setup,
  {
    deepest = Number.POSITIVE_INFINITY,
    withinSeconds = Number.POSITIVE_INFINITY,
    onStep = () => {},
  }: ExploreOptions = {},
): Exploration {
  const startedAt = process.cpuUsage();
  const secondsNow = () => process.cpuUsage(startedAt).user / 1e6;
  const orders = ordersOf(setup);
  const keyIn = (world: World) => keyOf(world, orders);
  const ids = new Map<string, number>();
  /** Those whose steps are not taken yet. */
  const worlds: (World | undefined)[] = [];
  const wells: boolean[] = [];
  const depths: number[] = [];
  const parents: number[] = [];
  /** Which of the parent's steps leads to each. */
  const choices: number[] = [];
  const add = (world: World, key: string, from: number, choice: number) => {
    ids.set(key, worlds.length);
    wells.push(isWell(world));
    parents.push(from);
    choices.push(choice);
    depths.push((depths[from] ?? -1) + 1);
    return worlds.push(world) - 1;
  };
  /** The labels of the steps that lead to a state, and of the last one if that is no state. */
  const storyTo = (id: number, last?: string): string[] => {
    const taken: number[] = [];
    for (let at = id; at > 0; at = parents[at] ?? 0) taken.unshift(choices[at] ?? 0);
    let world = initialWorld(setup);
    const story = taken.map((choice) => {
      const step = stepsFrom(world, setup)[choice];
      world = copyOf(world);
      if (step?.isFault) world.faults -= 1;
      step?.act(world);
      return step?.label ?? "";
    });
    return last === undefined ? story : [...story, last];
  };
  const result = (isWhole: boolean, what?: string, story: readonly string[] = []): Exploration => ({
    states: worlds.length,
    depth: Math.max(0, depths.at(-1) ?? 0),
    seconds: secondsNow(),
    isWhole,
    counterexample: what === undefined ? undefined : { what, story },
  });

  /** The states after each by what is no fault. */
  const next: number[][] = [];
  const first = initialWorld(setup);
  add(first, keyIn(first), -1, 0);
  for (let id = 0; id < worlds.length; id++) {
    if ((depths[id] ?? 0) >= deepest || (id % 1_000 === 0 && secondsNow() > withinSeconds))
      return result(false);
    const before = worlds[id] as World;
    worlds[id] = undefined;
    const after: number[] = [];
    for (const [choice, { label, isFault, act }] of stepsFrom(before, setup).entries()) {
      const world = copyOf(before);
      if (isFault) world.faults -= 1;
      try {
        act(world);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        return result(false, error.message, storyTo(id, label));
      }
      const key = keyIn(world);
      const to = ids.get(key) ?? add(world, key, id, choice);
      onStep(id, label, to);
      if (!isFault && to !== id && !after.includes(to)) after.push(to);
    }
    next.push(after);
  }
  const stuck = finalComponents(next)
    .sort((one, other) => one - other)
    .find((id) => !wells[id]);
  if (stuck === undefined) return result(true);
  return result(true, "the driver stays unregistered, or a registrar does not hear of it", storyTo(stuck));
}

/** The orders of processes that are equal to each other: nothing tells which of them has a number. */
function ordersOf({ ours, officials }: Setup): readonly (readonly number[])[] {
  const kinds = [...ours, ...Array.from({ length: officials }, () => "official")];
  const extended = (order: readonly number[]): (readonly number[])[] =>
    order.length === kinds.length
      ? [order]
      : kinds.flatMap((kind, id) =>
          kind === kinds[order.length] && !order.includes(id) ? extended([...order, id]) : [],
        );
  return extended([]);
}

/** Whether kubelet has registered the driver, no registrar of ours waits to hear so, and at most one has a socket. */
function isWell(world: World): boolean {
  const { driver, kubelet, registrars } = world;
  const isWaiting = registrars.some(
    (one) =>
      one.kind === "ours" &&
      one.state.kind === "in-place" &&
      (!one.state.registered || one.state.askedAtMs !== undefined),
  );
  return (
    kubelet.drivers[driver.name] === "registered" && !isWaiting && livingOf(world, driver.name).length < 2
  );
}

/** What reaches a registrar of ours; the default is the explorer's. */
export interface OursSide {
  getInfo(world: World, id: number, socket: number, client?: "kubelet" | "stranger"): string | undefined;
  notify(world: World, id: number, socket: number, error: string | undefined): void;
  stop(world: World, id: number): void;
}

export const explored = (setup: Setup): OursSide => ({
  getInfo: (world, id, socket, client) => answerInfo(world, id, socket, setup, client),
  notify: (world, id, socket, error) => hearStatus(world, id, socket, error, setup),
  stop: (world, id) => take(world, id, { kind: "stop", outcome: { kind: "stopped" } }, setup),
});

export function stepsFrom(world: World, setup: Setup, ours = explored(setup)): Step[] {
  const side: RegistrarSide = {
    getInfo: (w, socket, path) => {
      const { owner = -1, one } = listening(w, socket);
      if (one?.kind === "ours" && one.frozen && one.published?.path === path) one.missed = path;
      if (!one?.up || one.frozen) return undefined;
      return one.kind === "ours" ? ours.getInfo(w, owner, socket) : one.name;
    },
    notify: (w, socket, error) => {
      const { owner = -1, one } = listening(w, socket);
      if (!one?.up || one.frozen) return false;
      if (one.kind === "ours") ours.notify(w, owner, socket, error);
      // The official registrar exits in its handler: kubelet gets no answer.
      else if (error !== undefined) exitOfficial(w, owner);
      return one.up;
    },
  };
  const kubelets = kubeletSteps(world, setup, side).filter(({ isFault }) => !isFault || world.faults > 0);
  if (isKubeletAtIt(world)) return kubelets;
  // Its look takes milliseconds: whoever comes in between comes by a freeze.
  const looking = world.registrars.findIndex((one) => one.kind === "ours" && !one.frozen && isLooking(one));
  const registrars = world.registrars.flatMap((one, id) => {
    if (looking >= 0 && looking !== id) return [];
    return one.kind === "ours" ? oursSteps(world, id, setup) : officialSteps(world, one, id);
  });
  const driver: Step[] =
    world.driver.up || setup.served ? [] : [{ label: "the driver is back", act: driverBack() }];
  const faults = world.faults > 0 ? faultsOf(world, setup, ours) : [];
  if (setup.strangers && world.faults > 0) faults.push(...strangersOf(world, ours));
  return [...kubelets, ...registrars, ...driver, ...faults];
}

/** The process that listens, or listened, on a socket; a new process has not its connections. */
function listening({ sockets, registrars }: World, socket: number) {
  const owner = sockets[socket]?.owner;
  return { owner, one: registrars[owner ?? -1] };
}

const driverBack =
  (name?: string): Step["act"] =>
  (world) => {
    world.driver = { name: name ?? world.driver.name, up: true };
  };

/** The official registrar (main.go, node_register.go): removes what is at its path, and binds. */
function officialSteps(world: World, one: Official, id: number): Step[] {
  const go = (label: string, act: (own: Official, w: World) => void): Step => ({
    label: `the official registrar ${label}`,
    act: (w) => act(w.registrars[id] as Official, w),
  });
  if (!one.up) return isQuiet(world) ? [go("starts", (own) => Object.assign(own, { up: true }))] : [];
  if (one.frozen) return [go("goes on", (own) => Object.assign(own, { frozen: false }))];
  const { name = "" } = one;
  switch (one.step) {
    case "starting":
      return world.driver.up
        ? [go("asks the driver", (own, w) => Object.assign(own, { step: "named", name: w.driver.name }))]
        : [];
    case "named":
      return [
        go("removes what is at its path", (own, w) => {
          if (w.files[name] !== undefined) unlink(w, name);
          own.step = "unlinked";
        }),
      ];
    case "unlinked":
      return [
        go("binds", (own, w) => {
          const there = w.files[name];
          if (w.sockets[there ?? 0]?.isEager)
            throw new Violation("the official registrar exits: its place was taken while it starts");
          if (there !== undefined) return exitOfficial(w, id);
          own.socket = newSocket(w, id);
          own.step = "serving";
          put(w, name, own.socket);
        }),
      ];
    default:
      return [];
  }
}

function exitOfficial(world: World, id: number): void {
  endProcess(world, id);
  Object.assign(world.registrars[id] ?? {}, {
    up: false,
    step: "starting",
    name: undefined,
    socket: undefined,
  });
}

function faultsOf(world: World, setup: Setup, ours: OursSide): Step[] {
  const fault = (label: string, act: Step["act"]): Step => ({ label: `FAULT: ${label}`, isFault: true, act });
  const { driver } = world;
  const other = driver.name === "a" ? "b" : "a";
  const faults = world.registrars.flatMap((one, id) => {
    if (!one.up || one.frozen) return [];
    const freeze = fault(`registrar ${id} is frozen`, (w) =>
      Object.assign(w.registrars[id] ?? {}, { frozen: true }),
    );
    if (one.kind === "official")
      return [
        freeze,
        fault("the official registrar is killed", (w) => exitOfficial(w, id)),
        fault("the official registrar ends, and removes what is at its path", (w) => {
          const { name, step } = w.registrars[id] as Official;
          exitOfficial(w, id);
          if (name !== undefined && step === "serving" && w.files[name] !== undefined) unlink(w, name);
        }),
      ];
    return [
      freeze,
      fault(`registrar ${id} is killed`, (w) => down(w, id, setup)),
      ...(one.state.kind === "stopping"
        ? []
        : [fault(`registrar ${id} gets SIGTERM`, (w) => ours.stop(w, id))]),
    ];
  });
  return [
    ...faults,
    ...Object.keys(world.files).map((path) => fault(`${path} is removed`, (w) => unlink(w, path))),
    ...(driver.up && !setup.served
      ? [
          fault("the driver goes", (w) => {
            w.driver.up = false;
          }),
          fault(`the driver comes back as ${other}`, driverBack(other)),
        ]
      : []),
    fault("kubelet restarts", restartKubelet),
  ];
}

/** A client that is not kubelet: an official registrar's probe, or a person. */
function strangersOf({ registrars }: World, ours: OursSide): Step[] {
  return registrars.flatMap((one, id): Step[] => {
    const socket = one.kind === "ours" && one.up && !one.frozen ? one.published?.socket : undefined;
    if (socket === undefined) return [];
    return ["", " and stays"].map((stays) => ({
      label: `FAULT: a stranger calls GetInfo at registrar ${id}${stays}`,
      isFault: true,
      act: (w) => {
        const { state, knowsKubelet } = oursOf(w, id);
        const answer = ours.getInfo(w, id, socket, "stranger");
        if (knowsKubelet && oursOf(w, id).state !== state)
          throw new Violation("a stranger's GetInfo counts at a registrar that knows kubelet");
        if (answer !== undefined && stays !== "" && !knowsKubelet) oursOf(w, id).hasStranger = true;
      },
    }));
  });
}
