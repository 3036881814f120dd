import { NODE_CHECKS } from "../../src/doctor/checks";
import { CLUSTER_CHECKS } from "../../src/doctor/cluster-checks";
import type { CheckPage } from "../../src/doctor/finding";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest-checks";

/** From here on docs/doctor.md is written by `npm run docs:doctor`. */
export const GENERATED = "<!-- What follows is written from src/doctor by: npm run docs:doctor -->\n";

/** The checks as docs/doctor.md has them: a heading for each code. */
export function checkSections(): string {
  return [
    ...["", "## Of a node", "", ...NODE_CHECKS.flatMap(sectionOf)],
    ...["## Of files before they are applied", "", ...MANIFEST_CHECKS.flatMap(sectionOf)],
    ...["## Of a cluster", "", ...CLUSTER_CHECKS.flatMap(sectionOf)],
  ].join("\n");
}

function sectionOf({ code, name, asks, matters, fix }: CheckPage): readonly string[] {
  return [`### ${code} ${name}`, "", ...wrap(`${asks} ${matters}`), "", ...wrap(`**Fix.** ${fix}`), ""];
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= 120)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
