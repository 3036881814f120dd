import { nearWord } from "../base/near-word";
import { parseBool, parseDurationMs } from "./values";

// The kinds of flags that our own commands have, as yargs declares them. The user sees what `coerce` throws after the
// flag's name.

export const textFlag = (describe: string) => ({ type: "string", describe }) as const;

/** Takes a text each time it is given; `parse` makes a value of each. */
export const listFlag = <Value>(describe: string, parse: (text: string) => Value) =>
  ({
    type: "string",
    array: true,
    describe,
    coerce: (texts: readonly string[]): readonly Value[] => texts.map(parse),
  }) as const;

/** The same where `parse` makes a key and its value; the value of all is an object. Each key may be given once. */
export const pairsFlag = <Value>(
  describe: string,
  parse: (text: string) => readonly [key: string, value: Value],
) =>
  ({
    ...listFlag(describe, parse),
    coerce: (texts: readonly string[]): Readonly<Record<string, Value>> => {
      const pairs = new Map<string, Value>();
      for (const [key, value] of texts.map(parse)) {
        if (pairs.has(key)) throw new Error(`"${key}" is given twice; give it one value`);
        pairs.set(key, value);
      }
      return Object.fromEntries(pairs);
    },
  }) as const;

/** Takes `500ms`, `1m30s`; the value is in milliseconds. */
export const durationFlag = (describe: string) =>
  ({ type: "string", describe, coerce: parseDuration }) as const;

/** Limit of a call, more than 0. */
export const timeoutFlag = (describe: string) =>
  ({ ...durationFlag(describe), coerce: parseTimeout }) as const;

export const countFlag = (describe: string) => ({ type: "string", describe, coerce: parseCount }) as const;

export const choiceFlag = <Choice extends string>(describe: string, choices: readonly Choice[]) =>
  ({
    type: "string",
    describe: `${describe}: ${choices.join(", ")}`,
    coerce: (text: string): Choice => parseChoice(text, choices),
  }) as const;

/** Takes several choices: separated by commas, and each time it is given. */
export const choicesFlag = <Choice extends string>(describe: string, choices: readonly Choice[]) =>
  ({
    type: "string",
    array: true,
    describe: `${describe}, with commas: ${choices.join(", ")}`,
    coerce: (texts: readonly string[]): readonly Choice[] =>
      texts.flatMap((text) => text.split(",")).map((word) => parseChoice(word, choices)),
  }) as const;

/** Takes the sidecar's booleans, after `=` only; true without a value. */
export const switchFlag = (describe: string) => ({ type: "boolean", describe, coerce: parseSwitch }) as const;

export const outputFlag = <const Form extends string>(
  describe: string,
  forms: readonly [Form, ...(readonly Form[])],
) => ({ ...choiceFlag<Form>(describe, forms), alias: "o", default: forms[0] }) as const;

export const eventOutputFlag = outputFlag("one line for each event, for people or for programs", [
  "text",
  "json",
]);

export function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const words = new Map(choices.map((candidate) => [candidate.toLowerCase(), candidate]));
  // Numbers get no suggestion: every other number is equally near.
  const near = /^\d/.test(text) ? undefined : nearWord(text.toLowerCase(), words.keys());
  const meant = near && words.get(near);
  const hint = meant === undefined ? `one of ${choices.join(", ")}` : `did you mean ${meant}?`;
  throw new Error(`"${text}" is not one of its values; ${hint}`);
}

/** `CALL=VALUE`, or `CALL=VALUE:3` for the first three calls. Throws for any other text. */
export function parseFault<Call extends string>(text: string, calls: readonly Call[], example: string) {
  const { call, value, times } =
    /^(?<call>\w+)=(?<value>\w[\w.]*)(?::(?<times>\w+))?$/.exec(text)?.groups ?? {};
  if (call === undefined || value === undefined) throw new Error(`"${text}" must have the form ${example}`);
  return { call: parseChoice(call, calls), value, times: timesOf(times) };
}

/** How often a fault occurs; nothing given: at every call. */
export const timesOf = (text?: string) => (text === undefined ? {} : { times: parseCount(text) });

function parseSwitch(text: string): boolean {
  const parsed = parseBool(text);
  if ("value" in parsed) return parsed.value;
  throw new Error(`"${text}" is not true or false; leave the value out for true`);
}

export function parseDuration(text: string): number {
  const parsed = parseDurationMs(text);
  if ("value" in parsed && parsed.value >= 0) return parsed.value;
  throw new Error(`"${text}" is not a duration; write 500ms, 2s or 1m30s`);
}

function parseTimeout(text: string): number {
  const timeoutMs = parseDuration(text);
  if (timeoutMs === 0) throw new Error("it must be more than 0: no answer comes in no time");
  return timeoutMs;
}

export function parseCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error(`"${text}" is not a whole number`);
}
