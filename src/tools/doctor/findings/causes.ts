import { type Key, keyIn, type Name, type Told, tell } from "./opened";

// Findings are grouped and compared by values, never by their texts.

/** An object that was read, and the container in it. */
export interface About {
  /** Of files its number in the reading, as two may share a name; in a cluster its UID. */
  readonly object: number | string;
  readonly container?: string | undefined;
}
/** The same for judges. */
export interface OfContainer {
  readonly object: About["object"];
  readonly container: string | Name;
}

/** Why findings are there. One remedy helps all with equal causes. */
export type Cause =
  /** No process listens on the driver's socket; or the driver there does not say its name. */
  | { readonly kind: "down" | "nameless"; readonly inode: string }
  /** There is no driver's socket at this path. */
  | { readonly kind: "missing"; readonly path: string }
  /** `endpoint`: kubelet gets a wrong path of the driver's socket. */
  | { readonly kind: "node-info" | "twins" | "endpoint"; readonly driver: string }
  | { readonly kind: "duplicates"; readonly endpoint: string }
  | { readonly kind: "kubelet-down" | "host-path" | "not-kubelets" | "nodes-away" }
  | { readonly kind: "manifest"; readonly object: About["object"]; readonly container: string }
  /** What a cluster's objects tell of a driver that is not registered. */
  | {
      readonly kind: "trouble";
      readonly driver: Key;
      readonly trouble: string;
      /** Of a pod: its DaemonSet, its container, and the API's word for what the container does. */
      readonly object?: About["object"] | undefined;
      readonly container?: string | undefined;
      readonly word?: string | Told<string> | undefined;
    };

/** Which of the findings with equal causes is the one to fix: a code that comes earlier; of others the least code. */
const LEADING: Readonly<Partial<Record<Cause["kind"], readonly string[]>>> = {
  down: ["CSI002", "CSI020", "CSI007", "CSI016"],
  missing: ["CSI002", "CSI007", "CSI016"],
  endpoint: ["CSI016"],
  nameless: ["CSI003"],
  "node-info": ["CSI004", "CSI006"],
  "kubelet-down": ["CSI012"],
  "host-path": ["CSI007"],
  "not-kubelets": ["CSI010"],
  trouble: ["CSI213"],
};

/** The less, the nearer to the cause. */
export function rankOf({ kind }: Cause, code: string): number {
  const leading = LEADING[kind] ?? [];
  const at = leading.indexOf(code);
  return at === -1 ? leading.length : at;
}

export const manifestCause = ({ object, container = "" }: About | OfContainer): Cause => ({
  ...{ kind: "manifest", object, container: tell<string>(container) },
});

/** The same text for equal causes. */
export const causeKey = (cause: Cause): string =>
  JSON.stringify(
    Object.entries({
      ...cause,
      ...("driver" in cause && { driver: keyIn(cause.driver) }),
      ...("word" in cause && { word: tell<string | undefined>(cause.word) }),
    }).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
