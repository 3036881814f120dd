import type { Finding } from "../../../../src/tools/doctor/findings/finding";

// What is said while a part is hidden must hold in each world that differs in that part alone.

type Said = Pick<Finding, "code" | "subject" | "text" | "status" | "nodes">;

/** What findings claim: that all is well in these words, or that something is wrong with a subject, and on which nodes. */
const claimsIn = (findings: readonly Said[]): readonly string[] =>
  findings.flatMap(({ status, code, subject, text, nodes = [] }) => {
    if (status === "ok") return `${subject} ${text}`;
    if (status === "unknown" || status === "skipped") return [];
    const claims = status === "problem" ? [`problem ${code}`, "wrong"] : ["wrong"];
    return claims.flatMap((claim) => ["", ...nodes].map((node) => `${claim} ${subject} ${node}`));
  });

/** What findings claim that those with all information do not. */
export function claimedTooMuch(findings: readonly Said[], whole: readonly Said[]): readonly string[] {
  const held = new Set(claimsIn(whole));
  return claimsIn(findings).filter((claim) => !held.has(claim));
}
