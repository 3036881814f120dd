/** A Kubernetes object as a plain value. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** One object, and comments for its readers. */
export interface Manifest {
  /** Comment lines above the object. */
  readonly about?: readonly string[];
  readonly object: KubernetesObject;
  readonly comments?: Comments;
}

/** A line, or several, for the readers of what a path leads to: `spec.volumes.0`, keys and indexes of lists. */
export type Comments = Readonly<Record<string, string | readonly string[]>>;
