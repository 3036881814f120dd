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
  readonly about: readonly string[];
  readonly object: KubernetesObject;
  /** Each is written above what its path leads to. */
  readonly comments: readonly Comment[];
}

export interface Comment {
  /** Keys, and indexes of lists. */
  readonly at: readonly (string | number)[];
  readonly lines: readonly string[];
}
