import { parseDurationMs, parseInt64 } from "./go-values";
import { nearWord } from "./near-word";

// The kinds of flags that our own commands have, as yargs wants them declared. What `coerce` throws is told to the
// user with the flag's name in front.

/** Takes any text, an empty one too. */
export const textFlag = (describe: string) => ({ type: "string", requiresArg: true, describe }) as const;

/** Takes a text each time it is given; `parse` makes a value of each. */
export const listFlag = <Value>(describe: string, parse: (text: string) => Value) =>
  ({
    type: "string",
    array: true,
    requiresArg: true,
    describe,
    coerce: (texts: readonly string[]): readonly Value[] => texts.map(parse),
  }) as const;

/** Takes `500ms`, `1m30s`; the value is in milliseconds. */
export const durationFlag = (describe: string) =>
  ({ type: "string", requiresArg: true, describe, coerce: parseDuration }) as const;

/** Takes a whole number, 0 or more. */
export const countFlag = (describe: string) =>
  ({ type: "string", requiresArg: true, describe, coerce: parseCount }) as const;

/** Takes one of a few words. */
export const choiceFlag = <Choice extends string>(describe: string, choices: readonly Choice[]) =>
  ({
    type: "string",
    requiresArg: true,
    describe: `${describe}: ${choices.join(", ")}`,
    coerce: (text: string): Choice => parseChoice(text, choices),
  }) as const;

/** Stands alone. */
export const switchFlag = (describe: string) => ({ type: "boolean", describe }) as const;

/** Text or JSON lines: what every command that tells of events offers. */
export const outputFlag = {
  ...choiceFlag("a line each, for people or for programs", ["text", "json"]),
  default: "text",
} as const;

/** Throws unless the text is one of the choices. */
export function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  // A number is never a mistyped word: all are as near, and each may be meant.
  const near = /^\d/.test(text)
    ? undefined
    : nearWord(
        text.toLowerCase(),
        choices.map((candidate) => candidate.toLowerCase()),
      );
  const meant = choices.find((candidate) => candidate.toLowerCase() === near);
  const hint = meant === undefined ? `one of ${choices.join(", ")}` : `did you mean ${meant}?`;
  throw new Error(`"${text}" is none of its values; ${hint}`);
}

/** Throws unless the text is a duration of Go's, 0 or more; answers milliseconds. */
export function parseDuration(text: string): number {
  const parsed = parseDurationMs(text);
  if ("value" in parsed && parsed.value >= 0) return parsed.value;
  throw new Error(`"${text}" is no duration; write 500ms, 2s or 1m30s`);
}

/** Throws unless the text is a whole number, 0 or more. */
export function parseCount(text: string): number {
  const parsed = parseInt64(text);
  if ("value" in parsed && parsed.value >= 0) return parsed.value;
  throw new Error(`"${text}" is no whole number`);
}
