import {
  driverOf,
  isLive,
  knowingNothing,
  type Operation,
  type Ours,
  type Setup,
  type Step,
  Violation,
  type World,
} from "./world";

/** How kubelet reaches a registrar: what the other side makes of its two calls. Undefined: no answer. */
export interface RegistrarSide {
  getInfo(world: World, socket: number, path: string): string | undefined;
  /** Whether the status was received. */
  notify(world: World, socket: number, error: string | undefined): boolean;
}

/** Whether a registrar has yet to look at the other sockets after its publication. */
export const isLooking = ({ state }: Ours) => state.kind === "in-place" && state.justPublished !== undefined;
const isPublishing = (one: Ours) => one.publication !== undefined || isLooking(one);

export const PEER = "already registered with a higher supported version";

/**
 * Whether kubelet, which looks each second, has nothing to do that it does at once, and no registrar is within a publication:
 * so it is after some seconds.
 */
export function isQuiet({ kubelet, registrars }: World): boolean {
  const { queue, desired, actual, operations } = kubelet;
  const isBusy = registrars.some(
    (one) => !one.frozen && (one.kind === "ours" ? isPublishing(one) : one.step === "unlinked"),
  );
  return (
    queue.length === 0 &&
    !isBusy &&
    // NodeGetInfo has minutes, everything else of an operation a second.
    Object.values(operations).every(({ step }) => step === "added") &&
    Object.entries(actual).every(
      ([path, { stale }]) => operations[path]?.step === "added" || (desired[path] && !stale),
    )
  );
}

/** What kubelet may do next: its plugin watcher, its reconciler, and its operations, one for each path. */
export function kubeletSteps(world: World, setup: Setup, side: RegistrarSide): Step[] {
  const { queue, desired, actual, operations } = world.kubelet;
  const steps: Step[] = [];
  const [event] = queue;
  if (event !== undefined) steps.push({ label: `kubelet sees ${event}`, act: watch });
  for (const path of Object.keys(actual))
    if (!operations[path] && (!desired[path] || actual[path]?.stale))
      steps.push({ label: `kubelet begins to deregister ${path}`, act: (w) => unregister(w, path) });
  for (const path of Object.keys(desired))
    if (!operations[path] && !actual[path] && !world.kubelet.backoff[path]) {
      const socket = world.files[path];
      if (isLive(world, socket)) steps.push({ label: `kubelet dials ${path}`, act: (w) => dial(w, path) });
      else if (setup.backoff && socket !== undefined)
        steps.push({ label: `kubelet dials ${path} in vain`, act: (w) => backOff(w, path, setup) });
    }
  for (const [path, operation] of Object.entries(operations))
    steps.push(...operationSteps(path, operation, world, setup, side));
  return steps;
}

/** plugin_watcher.go: handleCreateEvent looks at the file, which may be away; handleDeleteEvent does not. */
function watch({ kubelet, files }: World): void {
  const event = kubelet.queue.shift() ?? "";
  const path = event.slice(1);
  if (event.startsWith("-")) delete kubelet.desired[path];
  else if (files[path] !== undefined) {
    kubelet.desired[path] = true;
    for (const known of [kubelet.actual[path], kubelet.operations[path]]) if (known) known.stale = true;
  }
}

function unregister({ kubelet }: World, path: string): void {
  const { name = "" } = kubelet.actual[path] ?? {};
  delete kubelet.actual[path];
  kubelet.operations[path] = { kind: "unregister", step: "decided", stale: false, name };
}

const isFrozen = ({ sockets, registrars }: World, socket: number) =>
  registrars[sockets[socket]?.owner ?? -1]?.frozen === true;

function backOff({ kubelet }: World, path: string, { backoff }: Setup): void {
  if (backoff) kubelet.backoff[path] = true;
}

function dial(world: World, path: string): void {
  const socket = world.files[path] ?? 0;
  world.kubelet.operations[path] = { kind: "register", step: "dialled", stale: false, socket };
}

/** operation_generator.go and csi_plugin.go, step by step; a backoff is left out: kubelet may do each thing now or later. */
function operationSteps(
  path: string,
  { kind, step, name = "", socket = 0 }: Operation,
  world: World,
  setup: Setup,
  side: RegistrarSide,
): Step[] {
  const end = ({ kubelet }: World) => delete kubelet.operations[path];
  const go = (label: string, act: Step["act"], isFault = false): Step => ({ label, act, isFault });
  const change = (w: World, to: Partial<Operation>) => Object.assign(w.kubelet.operations[path] ?? {}, to);

  if (kind === "unregister")
    return [
      go(`kubelet deregisters ${name}`, (w) => {
        delete w.kubelet.drivers[name];
        end(w);
      }),
    ];
  switch (step) {
    case "dialled":
      return [
        go(`kubelet calls GetInfo over ${path}`, (w) => {
          const answer = side.getInfo(w, socket, path);
          if (answer === undefined) {
            // After one failure it tries again soon; a frozen registrar fails each time.
            if (w.files[path] === socket && isFrozen(w, socket)) backOff(w, path, setup);
            return end(w);
          }
          if (answer !== driverOf(path)) throw new Violation(`GetInfo over ${path} answers ${answer}`);
          return change(w, { step: "informed", name: answer });
        }),
      ];
    case "informed":
      if (world.kubelet.drivers[name])
        return [
          go(`kubelet refuses ${name} over ${path}, which it has`, (w) => {
            side.notify(w, socket, PEER);
            end(w);
          }),
        ];
      return [
        go(`kubelet takes ${name} of ${path}`, ({ kubelet }) => {
          const { stale = false } = kubelet.operations[path] ?? {};
          kubelet.actual[path] = { name, stale };
          kubelet.drivers[name] = "named";
          Object.assign(kubelet.operations[path] ?? {}, { step: "added" });
        }),
      ];
    case "added": {
      const fail = (w: World) => {
        delete w.kubelet.drivers[name];
        change(w, { step: "decided", ok: false });
      };
      if (!world.driver.up) return [go("NodeGetInfo finds no driver", fail)];
      const works = go("NodeGetInfo answers", (w) => {
        w.kubelet.drivers[name] = "registered";
        change(w, { step: "decided", ok: true });
      });
      return [works, go("NodeGetInfo fails", fail, true)];
    }
    case "decided":
      return [
        go(`kubelet reports its status for ${name} over ${path}`, (w) => {
          const { ok = false } = w.kubelet.operations[path] ?? {};
          // Its connection, once ended, is made anew, to what is at the path then.
          const receiver = isLive(w, socket) ? socket : (w.files[path] ?? socket);
          const isReceived = side.notify(w, receiver, ok ? undefined : "no");
          end(w);
          if (!setup.kubeletForgets || (ok && isReceived)) return;
          delete w.kubelet.actual[path];
          if (ok) delete w.kubelet.drivers[name];
        }),
      ];
    default:
      return step satisfies never;
  }
}

/** A killed kubelet comes back: it scans the directory, and knows no driver. */
export function restartKubelet(world: World): void {
  const desired = Object.fromEntries(Object.keys(world.files).map((path) => [path, true as const]));
  world.kubelet = { ...knowingNothing(), desired };
}
