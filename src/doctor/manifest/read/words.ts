import { list, type Tree, text } from "../../../kube-api/objects";
import { environmentOf } from "./start";

/** A container's command and arguments, with its variables filled in. */
export function wordsOf(container: Tree): readonly string[] {
  const fill = environmentOf(container);
  return [...list(container.command), ...list(container.args)].map((word) => fill(text(word)).text);
}

/** The value of a flag: `-name=value`, `--name=value` or `--name value`; the last one counts. */
export function flagIn(words: readonly string[], name: string): string | undefined {
  const at = words.findLastIndex((word) => [`-${name}`, `--${name}`].includes(word.split("=", 1)[0] ?? ""));
  const word = words[at];
  if (word === undefined) return undefined;
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1];
}
