import type { OurImage } from "../../recognise/program";
import { LAST_HOOK } from "../../recognise/swap";
import type { Check, Finding, Run } from "../findings/finding";
import { itemsOf, orNull, tell } from "../findings/opened";
import { findingsOf, keyOf, reportFindings } from "../findings/report";
import { counted, flagsOf } from "../findings/words";
import { manifestArguments } from "./judge/arguments";
import { manifestProbes } from "./judge/probes";
import type { ManifestFacts } from "./read/registrars";

/**
 * Reads the same objects twice. Like the image policy, it swaps each image that has the official one's name, and it swaps
 * `image`. A container for Windows counts as swapped where it shares its image with one for Linux.
 */
export function readSwap<Facts extends ManifestFacts>(
  read: (ours: OurImage) => Facts,
  { image: replaced, ...ours }: OurImage,
  to = "",
) {
  const known = { ...ours, replaced, image: to || undefined };
  const before = read(known);
  const swapped = before.registrars.filter(({ isSwappable }) => isSwappable);
  const images = new Set(itemsOf(swapped).map(({ reference }) => tell(reference)));
  const after = read({ ...known, swapped: images });
  return { before, after, swapped };
}

/**
 * What the swap brings: its findings, and with them those of containers with an unknown program, which it may concern; how many
 * containers it swaps; and how many problems are there before the swap and after it, as a report counts them. Null: unknown.
 */
export function judgeSwap<Facts extends ManifestFacts>(
  { before, after, swapped }: ReturnType<typeof readSwap<Facts>>,
  checks: readonly Check<Facts>[],
) {
  const [had, has] = [findingsOf(checks, before), findingsOf(checks, after)];
  const [known, stay] = [new Set(had.map(keyOf)), new Set(has.map(keyOf))];
  // These are listed even if the problem exists with the present image: our image cannot run the container.
  const cannotRun = itemsOf(
    after.registrars.filter(({ program, foreign: { programs } }) =>
      program
        .is((known) => known.kind === "ours" && known.image === "swapped")
        .and(
          programs.contains((one) =>
            one.program.is((path) => path !== undefined).and(one.what !== LAST_HOOK),
          ),
        ),
    ),
  );
  const foreign = new Set(cannotRun.map(({ place }) => tell<string>(place)));
  const isOfForeign = ({ code, subject, status }: Finding) =>
    status === "problem" &&
    [manifestArguments.code, manifestProbes.code].includes(code) &&
    foreign.has(subject);
  const findings = has.filter(
    (finding) =>
      finding.status === "unknown" ||
      isOfForeign(finding) ||
      (finding.status !== "ok" && !known.has(keyOf(finding))),
  );
  const told = new Set(findings.map(keyOf));
  const isInBoth = (one: Finding) => stay.has(keyOf(one)) && !told.has(keyOf(one));
  const both = reportFindings(had).findings.filter(
    (one, at) => one.status === "problem" && one.follows === null && had[at] && isInBoth(had[at]),
  );
  const count = orNull(swapped, ({ length }) => length);
  return { findings, swapped: count, problemsWithEither: count === null ? null : both.length };
}

/** Doctor's command without the swap: it takes one image at most for ours. The words are as bash takes them. */
export function commandWithout(swap: string, image: string | undefined, words: readonly string[]) {
  if (image !== undefined && swap !== "") return undefined;
  return ["registrar doctor", ...flagsOf({ image: image ?? (swap || undefined) }), ...words].join(" ");
}

/** Without a command that prints them: in words. */
export function whatElse(count: number | null, command?: string): readonly (string | Run)[] {
  if (count === null || count === 0) return [];
  const fix = `${counted(count, "problem")} ${count === 1 ? "is" : "are"} there with either image`;
  return [command === undefined ? `${fix}: doctor without --swap prints them.` : { fix, command }];
}
