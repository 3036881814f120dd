import { check, flat, type Nested, type Status, type Verdict } from "../../findings/finding";
import type { Deployment, ManifestFacts } from "../read/deployments";

/** A verdict on a deployment: the subject is its place. */
export type Statement = Omit<Verdict, "subject">;

type Judge = (one: Deployment, facts: ManifestFacts) => Nested<Statement>;

/** Windows has other rules for paths and volumes. */
export const isForLinux = ({ isForWindows }: Deployment): boolean => !isForWindows;

export function eachDeployment(code: string, name: string, judge: Judge, isMeant = isForLinux) {
  return eachDeploymentBeside(code, name, (facts) => facts, judge, isMeant);
}

/** The same for a question that needs something made of all facts, once. */
export function eachDeploymentBeside<Beside>(
  code: string,
  name: string,
  prepare: (facts: ManifestFacts) => Beside,
  judge: (one: Deployment, beside: Beside) => Nested<Statement>,
  isMeant = isForLinux,
) {
  return check<ManifestFacts>(code, name, (facts) => {
    const beside = prepare(facts);
    return facts.deployments.filter(isMeant).flatMap((one) =>
      flat(judge(one, beside)).map((statement) => ({
        ...statement,
        subject: one.place,
        objects: [one.object],
      })),
    );
  });
}

/** Whether the registrar starts with its arguments, as far as they tell, and gets the paths in them. */
export const isReadable = ({ unseen, joined, settings }: Deployment): boolean =>
  [unseen, joined, settings.refusal].every((reason) => reason === undefined) &&
  settings.kubeletRegistrationPath !== "";

const state =
  (status: Status) =>
  (text: string, fix?: string): Statement => ({ status, text, fix });

export const ok: (text: string) => Statement = state("ok");
export const unknown: (text: string, fix?: string) => Statement = state("unknown");
export const warning: (text: string, fix: string) => Statement = state("warning");
export const problem: (text: string, fix: string) => Statement = state("problem");
