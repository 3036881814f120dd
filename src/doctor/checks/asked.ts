import type { Answer } from "../facts";

/** A failure to answer in time is told apart from other failures: it says nothing about what the answer would be. */
export type Asked<Value> = Answer<Value> | { readonly kind: "late" };

/** What became of a call, where there was somebody to call. */
export function asked<Value>(answer: Answer<Value> | undefined): readonly Asked<Value>[] {
  if (answer === undefined) return [];
  return answer.kind === "failed" && answer.code === "DeadlineExceeded" ? [{ kind: "late" }] : [answer];
}
