/** What this registrar's container needs at least, because it runs Node: the figures are in docs/measurements.md. */
export const LEAST = {
  memory: "64Mi",
  cpu: "50m",
  /** An exec probe starts a Node process of its own. */
  probeTimeoutSeconds: 10,
} as const;
