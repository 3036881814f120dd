import type { Kubelet } from "./kubelet";

/** Many drivers of one node go by numbers. */
export const nameOf = (number: number) => `driver-${number}.csi.example.com`;
export const namesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => nameOf(number));

/** Resolves when kubelet has accepted all of these drivers, from the event at position `from` on. */
export async function allRegistered(kubelet: Kubelet, names: readonly string[], from = 0): Promise<void> {
  const missing = new Set(names);
  await kubelet.events.waitFor((event) => {
    if (event.event === "register" && event.error === null) missing.delete(event.plugin);
    return missing.size === 0;
  }, from);
}
