import type { CliProcess } from "./process";

/** One time that a registrar put its socket in place. */
interface Publication {
  readonly isFirst: boolean;
  /** What stood there before. */
  readonly found: string;
  readonly beganMs: number;
  readonly doneMs: number;
}

export function publicationsOf(registrar: CliProcess): readonly Publication[] {
  const begun = registrar.lines("Starting Registration Server");
  return registrar.lines("Registration Server started").map(({ timeMs, fields }, index) => ({
    isFirst: index === 0,
    found: fields.found ?? "",
    beganMs: begun.findLast((line) => line.timeMs <= timeMs)?.timeMs ?? timeMs,
    doneMs: timeMs,
  }));
}

/**
 * Breaches of the rule that nobody takes a living socket away, but one that starts, which gets it by right; told by
 * what each registrar says it did and saw. Nobody else may have touched the directory.
 */
export function breachesOfOwnership(registrars: readonly CliProcess[]): readonly string[] {
  return registrars.flatMap((registrar) => {
    const published = publicationsOf(registrar);
    const others = registrars.filter((other) => other !== registrar).flatMap(publicationsOf);
    const replacedLiving = published
      .filter(({ isFirst, found }) => found === "taken" && !isFirst)
      .map(() => `${registrar.pid} took a living socket without having just started`);
    const bereft = registrar
      .lines("Registration state changed")
      .filter(({ fields }) => fields.from !== "publishing")
      .filter(({ fields }) => fields.reason === "socket-gone" || fields.reason === "socket-taken")
      .filter(({ timeMs, fields }) => {
        const mine = published.findLast(({ doneMs }) => doneMs <= timeMs);
        const later = others.filter(({ doneMs }) => mine !== undefined && doneMs >= mine.beganMs);
        // Whoever came over ours may have gone again, and taken with it what was its own by then.
        return !later.some(
          ({ isFirst, beganMs }) => beganMs <= timeMs && (isFirst || fields.reason === "socket-gone"),
        );
      })
      .map(({ text }) => `${registrar.pid} lost its living socket to nobody who had just started: ${text}`);
    return [...replacedLiving, ...bereft];
  });
}
