/** Something that a simulated part does wrong on request. */
interface Fault {
  readonly kind: string;
  /** How often. Default: until the faults are changed. */
  readonly times?: number;
}

/** The active faults, each for as often as it says. */
export interface FaultScript<AnyFault extends Fault> {
  /** Replaces all of them. */
  set(faults: readonly AnyFault[]): void;
  /** Uses the first fault of this kind that matches once, and returns it; undefined: none matches. */
  take<Kind extends AnyFault["kind"]>(
    kind: Kind,
    fits?: (fault: Extract<AnyFault, { readonly kind: Kind }>) => boolean,
  ): Extract<AnyFault, { readonly kind: Kind }> | undefined;
}

/** Makes a script of these faults. */
export function createFaultScript<AnyFault extends Fault>(
  initial: readonly AnyFault[],
): FaultScript<AnyFault> {
  let armed: { readonly fault: AnyFault; left: number }[] = [];
  const set = (faults: readonly AnyFault[]) => {
    armed = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  };
  set(initial);
  return {
    set,
    take: (kind, fits = () => true) => {
      type Wanted = Extract<AnyFault, { readonly kind: typeof kind }>;
      const entry = armed.find(({ fault, left }) => left > 0 && fault.kind === kind && fits(fault as Wanted));
      if (entry === undefined) return undefined;
      entry.left -= 1;
      return entry.fault as Wanted;
    },
  };
}
