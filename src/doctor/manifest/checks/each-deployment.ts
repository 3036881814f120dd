import { type Check, check, type Status, type Verdict } from "../../findings/finding";
import type { Deployment, ManifestFacts } from "../read-deployments";

/** A verdict on a deployment: the subject is its place. */
export type Statement = Omit<Verdict, "subject">;

type Judge = (one: Deployment, facts: ManifestFacts) => Statement | undefined | readonly Statement[];

/** A check that judges the deployments one by one; those for Windows nodes have a check of their own. */
export function eachDeployment(code: string, name: string, judge: Judge): Check<ManifestFacts> {
  return check(code, name, (facts) =>
    linuxOnly(facts).flatMap((one) =>
      [judge(one, facts) ?? []].flat().map((statement) => ({ ...statement, subject: one.place })),
    ),
  );
}

export function linuxOnly({ deployments }: ManifestFacts): readonly Deployment[] {
  return deployments.filter(({ isForWindows }) => !isForWindows);
}

const state =
  (status: Status) =>
  (text: string, fix?: string): Statement => ({ status, text, fix });

export const ok: (text: string) => Statement = state("ok");
export const unknown: (text: string, fix?: string) => Statement = state("unknown");
export const warning: (text: string, fix: string) => Statement = state("warning");
export const problem: (text: string, fix: string) => Statement = state("problem");
