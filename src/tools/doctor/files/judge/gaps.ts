import { type Advice, check, unknown, type Verdict } from "../../findings/finding";
import type { Gap, Why } from "../../findings/seen";
import { CORRECT, sayWhy } from "../../findings/why";
import type { FilesAndGaps } from "../read/registrars";

const ERRNOS: Readonly<Record<string, string>> = {
  ENOENT: "there is nothing of that name: correct the path",
  EACCES: "run as a user who may read it",
};

export const sayGap = (subject: string, why: Why, advice?: Advice, how = ""): Verdict => {
  const { text, fix } = sayWhyOfFile(why);
  return unknown(subject, `cannot be judged${how}: ${text}`, why.kind === "fault" ? fix : (advice ?? fix));
};

/** The words of a gap in files, or of an object in a cluster, and what to do. */
export function sayWhyOfFile(why: Why) {
  const { text, fix = why.kind === "errno" ? ERRNOS[why.errno] : undefined } = sayWhy(why);
  return { text, fix: fix ?? CORRECT };
}

/** A field and its placeholder, which is not filled in. */
export const unfilledIn = (gap: Gap): string => [gap.subject, placeholderIn(gap)].filter(Boolean).join(" ");
export const placeholderIn = ({ why }: Gap): string => (why.kind === "flaw" ? why.at : "");
/** In a placeholder that kubelet fills in. */
export const variableIn = (gap: Gap): string | undefined => /\$\([^)]*\)/.exec(placeholderIn(gap))?.[0];

export const manifestReadable = check<Pick<FilesAndGaps, "gaps">>("CSI113", "manifest-readable", ({ gaps }) =>
  gaps.map(({ subject, why }) => sayGap(subject, why)),
);
