import { nearWord } from "../base/near-word";
import { acceptedFlags } from "./flags";

/** The flag that was probably meant where the message is that there is none of this name. */
export function meantFlag(message: string): string | undefined {
  const [, unknown] = /^flag provided but not defined: -(.*)$/s.exec(message) ?? [];
  return unknown === undefined ? undefined : nearWord(unknown, acceptedFlags().keys());
}

/** What to do about an argument with which a registrar does not start. */
export function correctArgument(meant?: string): string {
  return `correct that argument${meant === undefined ? "" : `: did you mean --${meant}?`}`;
}
