import { invalidOption } from "./errors";
import { nearWord } from "./near-word";

const MAX_SHOWN_LENGTH = 60;

/** Throws INVALID_OPTION with what was given and what is taken. */
export function refuseOption(name: string, given: unknown, takes: string): never {
  const text =
    given === undefined
      ? `${name} is missing; it takes ${takes}`
      : `${name} is ${show(given)}; it takes ${takes}`;
  throw invalidOption(text);
}

export function show(given: unknown): string {
  switch (typeof given) {
    case "string": {
      const shown = given.length > MAX_SHOWN_LENGTH ? `${given.slice(0, MAX_SHOWN_LENGTH)}…` : given;
      return JSON.stringify(shown);
    }
    case "function":
      return "a function";
    case "object":
      return given === null ? "null" : withArticle(typeOf(given));
    default:
      return String(given);
  }
}

/** Whether it is an object with fields, not a Map, Date, promise or the like. */
export const isObject = (given: unknown): given is object => typeOf(given) === "Object";

const typeOf = (given: unknown) => Object.prototype.toString.call(given).slice("[object ".length, -1);

function withArticle(type: string): string {
  const noun = type === "Object" || type === "Array" ? type.toLowerCase() : type;
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

export const wordsTaken = (words: readonly string[]): string =>
  `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;

/** The word if it is one of these. Else throws INVALID_OPTION, with the word that was probably meant. */
export function readWord<Word extends string>(given: unknown, name: string, words: readonly Word[]): Word {
  const word = words.find((word) => word === given);
  if (word !== undefined) return word;
  const meant = typeof given === "string" ? nearWord(given, words) : undefined;
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return refuseOption(name, given, wordsTaken(words) + hint);
}
