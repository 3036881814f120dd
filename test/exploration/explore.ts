import { isQuiet, kubeletSteps, type RegistrarSide, restartKubelet } from "./kubelet";
import { answerInfo, hearStatus, oursOf, oursSteps, take } from "./ours";
import {
  endProcess,
  initialWorld,
  keyOf,
  newSocket,
  type Official,
  put,
  type Setup,
  type Step,
  unlink,
  Violation,
  type World,
} from "./world";

export interface Exploration {
  readonly states: number;
  readonly depth: number;
  /** Of CPU. */
  readonly seconds: number;
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
  /** Gets each step between two states, by their numbers in the order in which they are found. */
  readonly onStep?: (from: number, label: string, to: number) => void;
}

/** Goes through every order of steps, the shortest ways first, until something must not happen. */
export function explore(
  setup: Setup,
  { deepest = Number.POSITIVE_INFINITY, onStep = () => {} }: ExploreOptions = {},
): Exploration {
  const startedAt = process.cpuUsage();
  const keys = [keyOf(initialWorld(setup))];
  const ids = new Map([[keys[0], 0]]);
  const parents: [from: number, label: string][] = [[-1, ""]];
  const depths = [0];
  /** The states after each by what is no fault. */
  const next: number[][] = [];
  const storyTo = (id: number, last?: string): string[] => {
    const story = last === undefined ? [] : [last];
    for (let at = id; at > 0; at = parents[at]?.[0] ?? 0) story.unshift(parents[at]?.[1] ?? "");
    return story;
  };
  const result = (what?: string, story: readonly string[] = []): Exploration => ({
    states: keys.length,
    depth: Math.max(0, depths.at(-1) ?? 0),
    seconds: process.cpuUsage(startedAt).user / 1e6,
    counterexample: what === undefined ? undefined : { what, story },
  });

  for (let id = 0; id < keys.length && (depths[id] ?? 0) < deepest; id++) {
    const key = keys[id] ?? "";
    const after: number[] = [];
    for (const { label, isFault, act } of stepsFrom(JSON.parse(key) as World, setup)) {
      const world = JSON.parse(key) as World;
      if (isFault) world.faults -= 1;
      try {
        act(world);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        return result(error.message, storyTo(id, label));
      }
      const reached = keyOf(world);
      let known = ids.get(reached);
      if (known === undefined) {
        known = keys.length;
        ids.set(reached, known);
        keys.push(reached);
        parents.push([id, label]);
        depths.push((depths[id] ?? 0) + 1);
      }
      onStep(id, label, known);
      if (!isFault && known !== id) after.push(known);
    }
    next.push(after);
  }
  const stuck = finalComponents(next).find((id) => !isWell(JSON.parse(keys[id] ?? "") as World));
  if (stuck === undefined) return result();
  return result(
    `the driver stays unregistered, or a registrar does not hear of it: ${keys[stuck]}`,
    storyTo(stuck),
  );
}

/** Whether kubelet has registered the driver, and no registrar of ours waits to hear so. */
function isWell({ driver, kubelet, registrars }: World): boolean {
  const isWaiting = registrars.some((one) => one.kind === "ours" && one.state.kind === "asked");
  return kubelet.drivers[driver.name] === "registered" && !isWaiting;
}

/** What reaches a registrar of ours; the default is the explorer's. */
export interface OursSide {
  getInfo(world: World, id: number, socket: number): string | undefined;
  notify(world: World, id: number, socket: number, error: string | undefined): void;
  stop(world: World, id: number): void;
}

export const explored = (setup: Setup): OursSide => ({
  getInfo: (world, id, socket) => answerInfo(world, id, socket, setup),
  notify: (world, id, socket, error) => hearStatus(world, id, socket, error, setup),
  stop: (world, id) =>
    take(world, id, { kind: "stop", reason: "stopped", outcome: { kind: "stopped" } }, setup),
});

export function stepsFrom(world: World, setup: Setup, ours = explored(setup)): Step[] {
  const side: RegistrarSide = {
    getInfo: (w, socket) => {
      const { owner = -1, one } = listening(w, socket);
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
  const registrars = world.registrars.flatMap((one, id) =>
    one.kind === "ours" ? oursSteps(world, id, setup) : officialSteps(world, one, id),
  );
  const driver: Step[] = world.driver.up ? [] : [{ label: "the driver is back", act: driverBack() }];
  const faults = world.faults > 0 ? faultsOf(world, ours) : [];
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
          if (w.files[name] !== undefined) return exitOfficial(w, id);
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

function faultsOf(world: World, ours: OursSide): Step[] {
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
      fault(`registrar ${id} is killed`, (w) => {
        endProcess(w, id);
        const dead = { up: false, state: { kind: "waiting" }, publication: undefined, published: undefined };
        Object.assign(oursOf(w, id), dead);
      }),
      ...(one.state.kind === "stopping"
        ? []
        : [fault(`registrar ${id} gets SIGTERM`, (w) => ours.stop(w, id))]),
    ];
  });
  return [
    ...faults,
    ...Object.keys(world.files).map((path) => fault(`${path} is removed`, (w) => unlink(w, path))),
    ...(driver.up
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

/** One state of each strongly connected part that nothing leaves, or every state of it: Tarjan's algorithm without recursion. */
function finalComponents(next: readonly (readonly number[])[]): number[] {
  const order = new Int32Array(next.length).fill(-1);
  const low = new Int32Array(next.length);
  const component = new Int32Array(next.length).fill(-1);
  const stack: number[] = [];
  const components: number[][] = [];
  let count = 0;
  for (let root = 0; root < next.length; root++) {
    if (order[root] !== -1) continue;
    const path: [id: number, edge: number][] = [[root, 0]];
    while (path.length > 0) {
      const top = path[path.length - 1] as [number, number];
      const [id, edge] = top;
      if (edge === 0) {
        order[id] = low[id] = count++;
        stack.push(id);
      }
      const to = next[id]?.[edge];
      if (to !== undefined) {
        top[1] += 1;
        if (order[to] === -1) path.push([to, 0]);
        else if (component[to] === -1) low[id] = Math.min(low[id] ?? 0, order[to] ?? 0);
        continue;
      }
      path.pop();
      const parent = path.at(-1)?.[0];
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[id] ?? 0);
      if (low[id] !== order[id]) continue;
      const members: number[] = [];
      for (let member = -1; member !== id; ) {
        member = stack.pop() ?? id;
        component[member] = components.length;
        members.push(member);
      }
      components.push(members);
    }
  }
  const isFinal = components.map((members, number) =>
    members.every((id) => (next[id] ?? []).every((to) => component[to] === number)),
  );
  return components.filter((_members, number) => isFinal[number]).flat();
}
