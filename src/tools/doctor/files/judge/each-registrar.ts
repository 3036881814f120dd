import * as finding from "../../findings/finding";
import { alsoEach, check, type Verdict, type Verdicts } from "../../findings/finding";
import { type Gap, type SeenList, type Text, type Truth, words } from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import type { KnownRegistrar, ManifestFacts, RegistrarContainer } from "../read/registrars";
import { unfilledIn } from "./gaps";

type IsMeant = (one: RegistrarContainer) => boolean | Truth;
// Windows has other rules for paths and volumes.
const isForLinux: IsMeant = ({ isForWindows }) => isForWindows.not();

export const judgeEach = (
  { registrars }: Pick<ManifestFacts, "registrars">,
  judge: (one: RegistrarContainer) => Verdicts,
  isMeant = isForLinux,
) => registrars.filter(isMeant).map((one) => alsoEach(judge(one), { subject: one.place, about: one.about }));

export const eachRegistrar = (
  code: string,
  name: string,
  judge: (one: RegistrarContainer, facts: ManifestFacts) => Verdicts,
  isMeant = isForLinux,
) => check<ManifestFacts>(code, name, (facts) => judgeEach(facts, (one) => judge(one, facts), isMeant));

const ofPlace =
  <More extends readonly unknown[], V extends Verdict>(
    say: (subject: string, text: Text, ...more: More) => V,
  ) =>
  (text: Text, ...more: More): V =>
    say("", text, ...more);

/** With its program, if that is known. */
export const knownIn = (one: RegistrarContainer): SeenList<KnownRegistrar> =>
  one.program.map((program) => ({ ...one, program }));

export const ok = ofPlace(finding.ok);
export const unjudged = ofPlace(finding.skipped);
export const unknown = ofPlace(finding.unknown);
export const warning = ofPlace(finding.warning);
export const problem = ofPlace(finding.problem);

/** What is said of a field with a placeholder. */
export const notFilledIn = (what: Text, gap: Gap) =>
  unknown(words`${what} not filled in: ${unfilledIn(gap)}`, RENDER_FIRST);
