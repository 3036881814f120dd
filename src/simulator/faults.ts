import type { EventOf } from "../base/event-source";

/** Something that a simulated part does wrong on request. */
interface Fault {
  readonly kind: string;
  readonly times?: number | undefined;
}

export type FaultScript<AnyFault extends Fault> = ReturnType<typeof createFaultScript<AnyFault>>;

/** Calls `onTaken` with each fault that is used. */
export function createFaultScript<AnyFault extends Fault>(
  initial: readonly AnyFault[],
  onTaken: (fault: AnyFault) => void = () => {},
) {
  let armed: { readonly fault: AnyFault; left: number }[] = [];
  const set = (faults: readonly AnyFault[]): void => {
    armed = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  };
  set(initial);
  return {
    set,
    /** Uses the first fault of this kind that matches once, and returns it; undefined: none matches. */
    take: <Kind extends AnyFault["kind"]>(
      kind: Kind,
      fits: (fault: EventOf<AnyFault, Kind>) => boolean = () => true,
    ): EventOf<AnyFault, Kind> | undefined => {
      type Wanted = EventOf<AnyFault, Kind>;
      const entry = armed.find(({ fault, left }) => left > 0 && fault.kind === kind && fits(fault as Wanted));
      if (entry === undefined) return undefined;
      entry.left -= 1;
      onTaken(entry.fault);
      return entry.fault as Wanted;
    },
  };
}
