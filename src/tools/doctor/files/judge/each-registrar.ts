import { check, flat, type Nested, type Status, type Verdict } from "../../findings/finding";
import type { Truth } from "../../findings/seen";
import type { ManifestFacts, RegistrarContainer } from "../read/registrars";

/** A verdict on a registrar's container: the subject is its place. */
export type Statement = Omit<Verdict, "subject">;

export const eachRegistrar = (
  code: string,
  name: string,
  judge: (one: RegistrarContainer, facts: ManifestFacts) => Nested<Statement>,
  // Windows has other rules for paths and volumes.
  isMeant = ({ isForWindows }: RegistrarContainer): boolean | Truth => isForWindows.not(),
) =>
  check<ManifestFacts>(code, name, (facts) => [
    ...facts.registrars
      .filter(isMeant)
      .each((one) =>
        flat(judge(one, facts)).map((statement) => ({ ...statement, subject: one.place, about: one.about })),
      ),
  ]);

/** Whether the registrar starts with its arguments, as far as they tell, and gets the paths in them. */
export const isReadable = ({ unseen, joined, settings }: RegistrarContainer): boolean =>
  [unseen, joined].every((reason) => reason === undefined) &&
  ["starts", "unclear"].includes(settings.start.kind) &&
  settings.kubeletRegistrationPath !== "";

const state =
  (status: Status) =>
  (text: string, fix?: string): Statement => ({ status, text, fix });

export const ok: (text: string) => Statement = state("ok");
export const unknown: (text: string, fix?: string) => Statement = state("unknown");
export const warning: (text: string, fix: string) => Statement = state("warning");
export const problem: (text: string, fix: string) => Statement = state("problem");
