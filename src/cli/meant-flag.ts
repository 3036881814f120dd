import { nearWord } from "../base/near-word";
import { acceptedFlags } from "./flags";

/** The registrar's flag nearest to an unknown one; undefined if none is near, or none unknown. */
export function nearestFlag(unknown: string | undefined): string | undefined {
  return unknown === undefined ? undefined : nearWord(unknown, acceptedFlags().keys());
}

/** What to do about an argument with which a registrar does not start. */
export function correctArgument(meant?: string): string {
  return `correct that argument${meant === undefined ? "" : `: did you mean --${meant}?`}`;
}
