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

/** One object with what people should know of it. */
export interface Manifest {
  /** Stands above the object, a line of comment for each. */
  readonly about: readonly string[];
  readonly object: KubernetesObject;
  /** Each stands above what its path leads to. */
  readonly comments: readonly Comment[];
}

export interface Comment {
  /** Keys, and places in lists. */
  readonly at: readonly (string | number)[];
  readonly lines: readonly string[];
}
