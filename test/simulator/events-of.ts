import type { KubeletEvent } from "../../src/simulator/kubelet/events";
import type { KubeletEventOf } from "../../src/simulator/kubelet/kubelet";

export function eventsOf<Kind extends KubeletEvent["kind"]>(
  { events }: { readonly events: { history(): readonly KubeletEvent[] } },
  kind: Kind,
): KubeletEventOf<Kind>[] {
  return events.history().filter((event): event is KubeletEventOf<Kind> => event.kind === kind);
}
