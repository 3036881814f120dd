import type { ApiFailure } from "../../../src/kube-api/failure";
import {
  done,
  type NodeAnswer,
  type NodeApi,
  type NodeView,
  type Taint,
} from "../../../src/node-readiness/node-api";
import { csiNodeOf, DRIVER, nodeWith } from "../support/controlled-registrations";

/** What must not happen. */
export class Violation extends Error {}

export const OURS: Taint = { key: `${DRIVER}/agent-not-ready`, effect: "NoSchedule" };
const THEIRS: readonly Taint[] = ["a", "b"].map((key) => ({ key, effect: "NoExecute" }));

const READ = "GET of the Node";

export interface Step {
  readonly label: string;
  /** Nothing is lost if it never happens: it is left out where a story comes to its end. */
  readonly isFault?: boolean;
  readonly act: () => void;
}

interface Request {
  readonly what: string;
  readonly handle: () => unknown;
  readonly resolve: (answer: never) => void;
  answer?: unknown;
}

type WatchOptions = Parameters<NodeApi["watchNode"]>[0];
interface Watch extends WatchOptions {
  at: number;
  readonly end: (failure: ApiFailure | undefined) => void;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Which of these may happen, and how often. */
export interface Freedoms {
  readonly writes?: number;
  readonly deletions?: number;
  readonly breaks?: number;
  readonly restores?: number;
  /** Kubelet writes CSINode after it has said that the driver is registered. */
  readonly listsLater?: boolean;
}

const failed = (kind: ApiFailure["kind"]) =>
  ({ kind: "failed", doing: "a test", failure: { kind, message: kind } }) as const;

/**
 * An API server whose requests, answers and watch events a test lets through one at a time, with a Node, its CSINode and
 * other clients. Throws a Violation for a PATCH that does what none must do.
 */
export function createExploredApiServer(freedoms: Freedoms) {
  const left = { writes: 0, deletions: 0, breaks: 0, restores: 0, ...freedoms };
  let revision = 10;
  let uids = 1;
  let node: NodeView | undefined;
  /** The Node at each of its versions, for the watch. */
  let changes: { readonly version: number; readonly node: NodeView | null }[] = [];
  const csiNode = { ownerUid: "1", isListed: !freedoms.listsLater };
  let requests: Request[] = [];
  let watch: Watch | undefined;

  const write = (next: Omit<NodeView, "resourceVersion"> | undefined) => {
    revision += 1;
    node = next && { ...next, resourceVersion: `${revision}` };
    changes.push({ version: revision, node: node ?? null });
  };
  write(nodeWith({ uid: "1", taints: [THEIRS[0] as Taint, OURS] }));

  const getNode = () => (node ? done(node) : failed("not-found"));
  const patchNode = (operations: readonly Operation[]): NodeAnswer<NodeView> => {
    if (node === undefined) return failed("not-found");
    const taints = [...node.taints];
    for (const { op, path, value } of operations) {
      const place = Number(path.split("/")[3]);
      const there = path === "/metadata/uid" ? node.uid : taints[place];
      if (op === "test" && JSON.stringify(there) !== JSON.stringify(value)) return failed("conflict");
      if (op !== "remove") continue;
      const [removed] = taints.splice(place, 1);
      if (removed?.key !== OURS.key) throw new Violation("another client's taint is removed");
      if (!isListed()) throw new Violation("the taint is removed although CSINode does not list the driver");
    }
    write({ ...node, taints });
    return getNode();
  };
  const isListed = () => csiNode.isListed && csiNode.ownerUid === node?.uid;
  const getCsiNode = () => done(csiNodeOf(csiNode.isListed ? [DRIVER] : [], csiNode.ownerUid));

  const ask = <Answer>(what: string, handle: () => Answer) =>
    new Promise<Answer>((resolve) => requests.push({ what, handle, resolve }));

  const api = {
    getNode: () => ask(READ, getNode),
    getCsiNode: () => ask("GET of CSINode", getCsiNode),
    patchNode: (operations: readonly object[]) =>
      ask("PATCH of the Node", () => patchNode(operations as readonly Operation[])),
    watchNode: (options: WatchOptions) =>
      new Promise<ApiFailure | undefined>((end) => {
        watch = { ...options, at: Number(options.resourceVersion), end };
        options.onOpen();
      }),
  } as unknown as NodeApi;

  const endWatch = (kind: "unreachable" | "expired") => {
    const { end } = watch ?? {};
    watch = undefined;
    end?.({ kind, message: kind });
  };

  const fault = (budget: keyof typeof left, label: string, act: () => void): Step[] => {
    const count = Number(left[budget]);
    const take = () => {
      Object.assign(left, { [budget]: count - 1 });
      act();
    };
    return count > 0 ? [{ label, isFault: true, act: take }] : [];
  };

  const makeAgain = () => {
    uids += 1;
    write(nodeWith({ uid: `${uids}`, taints: [OURS] }));
  };

  const steps = (): Step[] => {
    const next = changes.find(({ version }) => watch && version > watch.at);
    const asked = requests.flatMap((request): Step => {
      if ("answer" in request)
        return {
          label: `the answer to the ${request.what} arrives`,
          act: () => {
            requests = requests.filter((one) => one !== request);
            request.resolve(request.answer as never);
          },
        };
      const act = () => Object.assign(request, { answer: request.handle() });
      return { label: `the API server handles the ${request.what}`, act };
    });
    const told: Step[] =
      next && watch
        ? [
            {
              label: `the watch tells of version ${next.version}`,
              act: () => {
                if (watch) watch.at = next.version;
                watch?.onVersion(`${next.version}`, next.node);
              },
            },
          ]
        : [];
    const current = node;
    const kubelet: Step[] =
      current && !isListed()
        ? [
            {
              label: "kubelet writes CSINode",
              act: () => void Object.assign(csiNode, { ownerUid: current.uid, isListed: true }),
            },
          ]
        : [];
    const again: Step[] = current ? [] : [{ label: "the Node is made again", act: makeAgain }];
    const faults = [
      ...(current
        ? [
            ...fault("writes", "another client adds a taint", () =>
              write({ ...current, taints: [THEIRS[1] as Taint, ...current.taints] }),
            ),
            ...fault("writes", "another client changes our taint", () => {
              const others = current.taints.filter(({ key }) => key !== OURS.key);
              write({
                ...current,
                taints: others.length < current.taints.length ? others : [...others, OURS],
              });
            }),
            ...fault("deletions", "the Node is deleted", () => write(undefined)),
          ]
        : []),
      ...(watch
        ? [
            ...fault("breaks", "the watch breaks", () => endWatch("unreachable")),
            ...fault("breaks", "the watch is too old", () => endWatch("expired")),
          ]
        : []),
      // Versions go back, and watches end. A watch that begins with a read of before would be silent for minutes.
      ...(current && current.uid === "1"
        ? fault("restores", "etcd is restored", () => {
            revision = 5;
            changes = [];
            write({ ...current, taints: [OURS] });
            for (const one of requests)
              if (one.what === READ && "answer" in one) one.answer = failed("unreachable");
            endWatch("expired");
          })
        : []),
    ];
    return [...asked, ...told, ...kubelet, ...again, ...faults];
  };

  return {
    api,
    steps,
    isTainted: () => node?.taints.some(({ key }) => key === OURS.key) ?? false,
    key: () => ({
      ...{ revision, node, csiNode, left, watch: watch?.at },
      requests: requests.map(({ what, answer }) => [what, answer]),
    }),
  };
}
